"""The response of a request that killed its worker."""

from datetime import UTC, datetime

from jobs.leases import Lease
from jobs.models import Failure, InferenceRequest, Response


def crashed_response(lease: Lease, request: InferenceRequest) -> Response:
    """Make the failure response, of type `WorkerCrashed`, of the request that ran on probation when its worker died."""
    failure = Failure(
        type="WorkerCrashed",
        message=f"the worker died while it ran this request alone, after {lease.attempt - 1} attempts",
    )
    return Response(
        request_id=request.id,
        job_id=lease.job_id,
        sample_id=request.sample_id,
        model=request.model,
        protocol=request.protocol,
        condition=request.condition,
        repeat=request.repeat,
        failure=failure,
        sampling=request.sampling,
        worker=lease.worker,
        attempt=lease.attempt - 1,
        queued_seconds=lease.queued_seconds,
        created_at=datetime.now(UTC),
    )
