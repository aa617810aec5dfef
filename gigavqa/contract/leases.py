"""A bundle in the hands of one worker, for as long as the worker renews it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gigavqa.contract.requests import Bundle, InferenceRequest
from gigavqa.contract.responses import Response


@dataclass(frozen=True)
class Lease:
    """A bundle that `JobQueue.claim` leased, and the place of its entry in the queue.

    `attempt` counts from 1 over both lanes; `deliveries` counts those of the entry's own lane, as the state store does.
    On `probation` the requests of the bundle run one at a time, each after `JobQueue.begin_probation`.
    `queued_seconds` passed from enqueueing to this claim. `mark` tells which request was begun last on probation, and
    when, as `gigavqa/store/lua/suspect.lua` writes it; it is empty before the first one.
    """

    bundle: Bundle
    attempt: int
    probation: bool
    queued_seconds: float
    worker: str
    stream: str
    entry_id: str
    deliveries: int
    mark: str = ""

    @property
    def job_id(self) -> str:
        """The job of the bundle."""
        return self.bundle.job_id

    def respond(self, request: InferenceRequest, **outcome: Any) -> Response:
        """Make the response to a request of the bundle: its labels and rounds, its lease, and `outcome`, the rest.

        `outcome` may also replace a field of the lease.
        """
        fields = {
            **dict(request.labels),
            "job_id": self.job_id,
            "max_rounds": request.loop.max_rounds if request.loop else None,
            "sampling": request.sampling,
            "worker": self.worker,
            "attempt": self.attempt,
            "queued_seconds": self.queued_seconds,
            "created_at": datetime.now(UTC),
        }
        return Response(**fields | outcome)
