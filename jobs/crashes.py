"""The response of a request that killed its worker."""

from jobs.leases import Lease
from jobs.models import Failure, InferenceRequest, Response


def crashed_response(lease: Lease, request: InferenceRequest) -> Response:
    """Make the failure response, of type `WorkerCrashed`, of the request that ran on probation when its worker died."""
    failure = Failure(
        type="WorkerCrashed",
        message=f"the worker died while it ran this request alone, after {lease.attempt - 1} attempts",
    )
    return lease.respond(request, failure=failure, attempt=lease.attempt - 1)
