"""Find the request of which workers die when a bundle is on probation, and make the response that says so."""

from dataclasses import dataclass

from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import Failure, Response

MAX_SOLO_CRASHES = 4  # random kills hit one request so often hardly ever: decision 0003
"""Deaths in a row beside one request that runs alone, after which it is blamed.

Where workers are killed at random, innocents are blamed that are hit so often: with one death about 20 of 2,000 under a
kill a second, with two about 2. Nobody is played beside the request, so further deaths cost restarts alone.
"""


@dataclass(frozen=True)
class CrashHistory:
    """The history of a bundle on probation when it is claimed: the request that was begun last, and what came of it.

    `deaths` happened since it was begun first; `idle_deaths` since then, before any request was begun again. A worker
    that lost its lease and was heard of again did not die.
    """

    request_id: str
    deaths: int
    idle_deaths: int

    @classmethod
    def of(cls, lease: Lease) -> "CrashHistory":
        """Read the lease's mark."""
        if not lease.mark:
            return cls("", 0, lease.deliveries - 1)
        last, begun, request_id = lease.mark.split(" ", 2)
        # A delivery that was handed back is made again under its number: it is no death.
        deaths = sum(int(delivery) < lease.deliveries for delivery in begun.split(",") if delivery)
        return cls(request_id, deaths, max(0, lease.deliveries - 1 - int(last)))

    def blamed(self, lease: Lease) -> list[InferenceRequest]:
        """Return the requests to give up: the one that kills, or all when workers die before any of them runs."""
        if self.idle_deaths >= MAX_SOLO_CRASHES:
            return list(lease.bundle.requests)
        if self.deaths < MAX_SOLO_CRASHES:
            return []
        return [request for request in lease.bundle.requests if request.id == self.request_id]

    def response(self, lease: Lease, request: InferenceRequest) -> Response:
        """Make the failure response, of type `WorkerCrashed`, of a request that is given up.

        Asking again may help: it may have been the machine that died.
        """
        deaths, when = max((self.deaths, "ran this request alone"), (self.idle_deaths, "was about to run this request"))
        failure = Failure(
            type="WorkerCrashed",
            message=f"the worker died {deaths} times in a row while it {when}, {lease.attempt - 1} times in all",
            retryable=True,
        )
        return lease.respond(request, failure=failure, attempt=lease.attempt - 1)
