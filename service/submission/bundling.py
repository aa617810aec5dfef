"""Groups requests into bundles: what is queued, leased and acknowledged."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice

from jobs.models import Bundle, InferenceRequest, Job

ImageRequest = tuple[str, InferenceRequest]


def bundle_requests(
    job: Job, requests: Iterable[ImageRequest], max_requests: int, generation: str = "0"
) -> Iterator[Bundle]:
    """Group the consecutive requests of one (model, image), at most `max_requests` together.

    Ids follow from the job's id, the `generation`, the size and the order, so that bundles made again are the same
    bundles, and those made again with another size are others.
    """
    number = 0
    for (model, image), alike in groupby(requests, key=lambda pair: (pair[1].model, pair[0])):
        for chunk in _chunks(alike, max_requests):
            yield Bundle(
                id=f"{job.id}-{generation}-{max_requests}-{number}",
                job_id=job.id,
                model=model,
                image=image,
                priority=job.spec.priority,
                requests=chunk,
            )
            number += 1


def retry_generation(cursors: Mapping[str, str], ended: str) -> str:
    """Name the retry of exactly these failures, given by request id and the cursor of the failed response.

    `ended` is when the job ended: one that is cancelled twice may have the same failures, or none, both times.
    """
    text = "\n".join([ended, *(f"{request_id} {cursor}" for request_id, cursor in sorted(cursors.items()))])
    return "r" + hashlib.sha256(text.encode()).hexdigest()[:12]


def _chunks(requests: Iterable[ImageRequest], size: int) -> Iterator[tuple[InferenceRequest, ...]]:
    remaining = iter(requests)
    while chunk := tuple(request for _, request in islice(remaining, size)):
        yield chunk
