"""Groups the requests of a job or a batch that meet warm caches in one engine."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from gigavqa.contract.jobs import Job
from gigavqa.contract.requests import Bundle, InferenceRequest
from gigavqa.evaluation.chat_order import ORDER_VERSION

RequestOfImage = tuple[str, InferenceRequest]


def bundle_requests(
    job: Job, requests: Iterable[RequestOfImage], max_requests: int, generation: str = "0", salt: str = ""
) -> Iterator[Bundle]:
    """Group the consecutive requests of one (model, image), at most `max_requests` together.

    Ids follow from the job's id, the `generation`, the size and the order, so that bundles made again are the same
    bundles, and those made again with another size or by another version of the order are others. They share caches
    under `salt`.
    """
    number = 0
    for (model, image), alike in groupby(requests, key=lambda pair: (pair[1].model, pair[0])):
        for chunk in _chunks(alike, max_requests):
            yield Bundle(
                id=f"{job.id}-{generation}-{max_requests}-{ORDER_VERSION}-{number}",
                job_id=job.id,
                model=model,
                image=image,
                priority=job.spec.priority,
                cache_salt=salt,
                requests=chunk,
            )
            number += 1


def _chunks(requests: Iterable[RequestOfImage], size: int) -> Iterator[tuple[InferenceRequest, ...]]:
    remaining = iter(requests)
    while chunk := tuple(request for _, request in islice(remaining, size)):
        yield chunk
