"""A bundle in the hands of one worker, for as long as the worker renews it."""

from dataclasses import dataclass

from jobs.models import Bundle


@dataclass(frozen=True)
class Lease:
    """What `JobQueue.claim` gives: the bundle, and where its entry stands in the queue.

    `attempt` counts from 1 over both lanes; `deliveries` counts those of the entry's own lane, as the server does.
    On `probation` the requests of the bundle run one at a time, each after `JobQueue.begin_probation`.
    `queued_seconds` passed from enqueueing to this claim.
    """

    bundle: Bundle
    attempt: int
    probation: bool
    queued_seconds: float
    worker: str
    stream: str
    entry_id: str
    deliveries: int

    @property
    def job_id(self) -> str:
        """The job of the bundle."""
        return self.bundle.job_id
