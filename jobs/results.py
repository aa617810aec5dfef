"""Every response, written once: metadata in plain fields, the whole of it under zstd, in a stable order."""

from collections.abc import Iterable, Sequence

from redis.asyncio import Redis

from jobs.codec import pack, unpack
from jobs.errors import TextMissingError
from jobs.keys import KEYS, Keys
from jobs.leases import Lease
from jobs.models import Response
from jobs.scripts import Scripts


class ResultStore:
    """Writes responses to the server, and reads them back from wherever they are now."""

    def __init__(self, redis: Redis, results_uri: str | None = None, *, keys: Keys = KEYS) -> None:
        self._redis = redis
        self._keys = keys
        self._scripts = Scripts(redis, keys)
        self._results_uri = results_uri

    async def record(self, response: Response, lease: Lease | None) -> bool:
        """Keep the first response to a request; False when one was recorded before, or the job ended meanwhile.

        The same script counts it, publishes progress, acknowledges the lease's bundle with its last request, and
        completes the job with its last bundle. It does not matter whether the lease is still held.
        """
        place = (lease.bundle.id, lease.stream, lease.entry_id) if lease else ("", "", "")
        outcome = "completed" if response.ok else "failed"
        named = (response.job_id, response.request_id)
        reply = await self._scripts.run("record", *named, *place, outcome, pack(response), *_metadata(response))
        return bool(reply)

    async def recorded(self, job_id: str, request_ids: Iterable[str]) -> set[str]:
        """Return which of these requests have a response, be it an answer or a failure."""
        ids = list(request_ids)
        async with self._redis.pipeline(transaction=False) as pipeline:
            for request_id in ids:
                pipeline.exists(self._keys.response(job_id, request_id))
            found = await pipeline.execute()
        return {request_id for request_id, exists in zip(ids, found, strict=True) if exists}

    async def get(self, job_id: str, request_id: str) -> Response | None:
        """Return the response to one request, or None when there is none yet. Raises TextMissingError."""
        found = await self._load(job_id, [request_id])
        return found.get(request_id)

    async def read(self, job_id: str, after: str = "0-0", limit: int = 500) -> list[tuple[str, Response]]:
        """Return up to `limit` (cursor, response) pairs in their order of recording, after the cursor `after`.

        Raises TextMissingError.
        """
        rows = await self._redis.xrange(self._keys.results(job_id), min=f"({after}", count=limit)
        cursors = {fields[b"request"].decode(): cursor.decode() for cursor, fields in rows}
        found = await self._load(job_id, list(cursors))
        return [(cursor, found[request_id]) for request_id, cursor in cursors.items() if request_id in found]

    async def _load(self, job_id: str, request_ids: Sequence[str]) -> dict[str, Response]:
        if not request_ids:
            return {}
        texts = await self._redis.hmget(self._keys.texts(job_id), list(request_ids))
        found = {id_: unpack(Response, text) for id_, text in zip(request_ids, texts, strict=True) if text}
        missing = await self.recorded(job_id, [id_ for id_ in request_ids if id_ not in found])
        if missing:
            raise TextMissingError(f"job {job_id}: no text of request {min(missing)}")
        return found


def _metadata(response: Response) -> list[str | int]:
    fields: dict[str, str | int] = {
        "sample": response.sample_id,
        "attempt": response.attempt,
        "prompt_tokens": sum(turn.usage.prompt_tokens for turn in response.turns),
        "completion_tokens": sum(turn.usage.completion_tokens for turn in response.turns),
    }
    if response.failure:
        fields["failure"] = response.failure.type
    return [part for pair in fields.items() for part in pair]
