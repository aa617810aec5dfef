"""The calls of the state store that are atomic: one method for each script of `lua/`, which says what it changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic_core import to_json
from redis.asyncio import Redis

from gigavqa.store.redis_keys import KEYS

_FOLDER = Path(__file__).parent / "lua"
_MARK = "\x00"
_ScriptArgument = str | bytes | float


class PackedBundle(NamedTuple):
    """A bundle as it enters its lane; `payload` is the bundle itself, packed, `image` '' where it shows none."""

    id: str
    num_requests: int
    model: str
    lane: str
    image: str
    payload: bytes


class RetryBundle(NamedTuple):
    """A bundle of a retry, and which requests it has."""

    bundle: PackedBundle
    request_ids: Sequence[str]


class EntryRef(NamedTuple):
    """An entry of a stream, as the worker that leases it names it."""

    worker: str
    lane: str
    entry_id: str


class ClaimRequest(NamedTuple):
    """The bounds and kind of a claim; `room` is for requests parked, `defer_ms` 0 parks nothing and takes nothing."""

    slots: int
    requests: int
    room: int
    lease_ms: int
    max_attempts: int
    defer_ms: int
    probation: bool


class QueueStream(NamedTuple):
    """A lane, the probation lane of its model, and the model where bundles may be parked, else ''."""

    name: str
    probation: str
    parked_model: str


class ClaimedEntry(NamedTuple):
    """A leased bundle as the state store tells it; `queued_ms` passed since it was enqueued, a lost `payload` is
    None.
    """

    lane: bytes
    entry_id: bytes
    deliveries: int
    queued_ms: int
    crashes: bytes | int
    job_id: bytes
    bundle_id: bytes
    payload: bytes | None
    mark: bytes


class ResponseRecord(NamedTuple):
    """A response on its way to the state store: itself, packed; what its job sums up of it; and metadata in plain
    fields.

    `bundle_id`, `lane` and `entry_id` are empty for one that belongs to no lease.
    """

    request_id: str
    bundle_id: str
    lane: str
    entry_id: str
    outcome: Literal["completed", "failed"]
    model: str
    packed: bytes
    sums: Mapping[str, int]
    rendering_seconds: float
    image: str
    rasters: Sequence[str]
    metadata: Mapping[str, str]

    @property
    def told(self) -> list[Any]:
        """All but the response itself, as `record.lua` reads it."""
        named = (self.request_id, self.bundle_id, self.lane, self.entry_id, self.outcome, self.model)
        pairs = chain.from_iterable(self.metadata.items())
        return [*named, self.sums, self.rendering_seconds, self.image, self.rasters, [*pairs]]


class SinkEntry(NamedTuple):
    """One entry of the sink's stream; `row` is that of the part which holds its response, -1 where none does."""

    entry_id: str
    request_id: str
    cursor: str
    row: int


class LuaScripts:
    """Makes the calls; the state store keeps their scripts by digest, and is given them again after a restart."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts: dict[str, Any] = {}

    async def create(
        self,
        job_id: str,
        *,
        spec: str,
        summary: str,
        digest: str,
        idempotency: str,
        ttl_seconds: int,
        owner: str,
        owners_limits: tuple[int | None, int | None, int | None],
        waiting_limit: int | None,
        priority: str,
    ) -> tuple[Literal["new", "same", "conflict", "waiting", "quota"], str]:
        """Create a job; `idempotency` is the state store's key for the client's, or ''. Returns the id of the job.

        `owners_limits` are the most requests in the queue, the most waiting jobs and the most interactive requests of
        the owner's.
        """
        queued, waiting, interactive = map(_or_empty, owners_limits)
        limits = queued, _or_empty(waiting_limit), waiting, interactive
        found, known_id = await self._run(
            "create", job_id, spec, digest, idempotency, ttl_seconds, summary, owner, *limits, priority
        )
        return found.decode(), known_id.decode()

    async def fail(self, job_id: str, errors: str) -> None:
        """Fail a job that is not final, with its errors as JSON."""
        await self._run("fail", job_id, errors)

    async def cancel(self, job_id: str) -> None:
        """Let no bundle of a job be leased any more."""
        await self._run("cancel", job_id)

    async def drop(self, job_id: str, bundle_ids: Iterable[bytes]) -> None:
        """Drop those bundles of a job that is being cancelled which no worker holds."""
        await self._run("drop", job_id, *bundle_ids)

    async def delete(self, job_id: str) -> str:
        """Take a final job out of every list; returns `deleting`, `missing`, or the status of one that is not final."""
        return str((await self._run("delete", job_id)).decode())

    async def index(self, job_ids: Iterable[bytes]) -> None:
        """Put jobs among those of their status."""
        await self._run("index", *job_ids)

    async def reserve(
        self, job_id: str, *, num_requests: int, num_answered: int, limit: int, dataset_digest: str
    ) -> str:
        """Keep room for what is not answered of a whole job.

        Returns its status, `missing`, `full`, or `quota` where its owner has no more.
        """
        told = num_requests, num_answered, limit, dataset_digest
        return str((await self._run("reserve", job_id, *told)).decode())

    async def append(self, job_id: str, bundles: Iterable[PackedBundle]) -> str | None:
        """Append bundles to a job that is `validating`, each once; returns the job's status."""
        status = await self._run("append", job_id, "", *(part for bundle in bundles for part in bundle))
        return status.decode() if status else None

    async def append_retry(
        self, job_id: str, bundles: Iterable[RetryBundle], taken_back: Mapping[str, str]
    ) -> str | None:
        """As `append`, of a retry: failures of these requests go, and the answers `taken_back`, cursors by request."""
        parts: list[_ScriptArgument] = []
        for bundle, request_ids in bundles:
            parts += [*bundle, *request_ids]
        status = await self._run("append", job_id, to_json(dict(taken_back)), *parts)
        return status.decode() if status else None

    async def reopen(
        self, job_id: str, *, token: str, empty: bool, waiting_limits: tuple[int | None, int | None]
    ) -> str:
        """Make a completed or cancelled job `validating` once more; a call repeated under its `token` changes nothing.

        `waiting_limits` are the most waiting jobs of all and of the owner's. Returns `reopened`, `waiting`, `quota`,
        `missing`, or the status of a job that cannot be reopened.
        """
        limits = map(_or_empty, waiting_limits)
        return str((await self._run("reopen", job_id, token, "1" if empty else "", *limits)).decode())

    async def open(self, job_id: str, *, spec: str, kind: str, owner: str, owners_limit: int | None) -> None:
        """Make a job that stands in no list, in status `validating`; safe to repeat."""
        await self._run("open", job_id, spec, kind, owner, _or_empty(owners_limit))

    async def ask(
        self,
        bundle: PackedBundle,
        job_id: str,
        *,
        limit: int,
        spec: str,
        until: float,
        kind: str,
        channel: str,
        owner: str,
        owners_limits: tuple[int | None, int | None],
    ) -> str:
        """Queue a job of one bundle that is in no list, with its room.

        `owners_limits` are the most requests and the most interactive ones in the queue. Returns `asked`, `full`,
        `quota` or `interactive`.
        """
        queued, interactive = map(_or_empty, owners_limits)
        told = (spec, until, kind, channel, owner, queued)
        status = await self._run("ask", job_id, bundle.num_requests, limit, *told, *bundle, interactive)
        return str(status.decode())

    async def start(self, job_id: str, num_bundles: int, warnings: Sequence[str]) -> None:
        """Put a job in progress that has its room, and all of whose bundles are appended."""
        await self._run("start", job_id, num_bundles, to_json(list(warnings)))

    async def claim(
        self, worker: str, wanted: ClaimRequest, lanes: Iterable[QueueStream]
    ) -> tuple[bool, list[ClaimedEntry]]:
        """Lease bundles of these lanes, those of their probation lanes where `wanted` says so.

        Returns whether there is more to look at, and the leases.
        """
        flat = (name for lane in lanes for name in lane)
        more, rows = await self._run("claim", worker, *map(int, wanted), *flat)
        return bool(more), [ClaimedEntry(*row) for row in rows]

    async def claimable(
        self, lanes: Mapping[str, Sequence[str]], *, lease_ms: int, bound: int
    ) -> Mapping[str, tuple[int, int]]:
        """Count what a claim could lease of each model by its lanes: (bundles, interactive ones up to `bound`).

        The interactive lane comes first.
        """
        flat = (part for model, its in lanes.items() for part in (model, *its, ""))
        counts = await self._run("claimable", lease_ms, bound, *flat)
        return {model: (bundles, urgent) for model, (bundles, urgent) in zip(lanes, counts, strict=True)}

    async def ages(self, lanes: Mapping[str, Sequence[str]], *, lease_ms: int) -> Mapping[str, tuple[int, int]]:
        """Milliseconds since the oldest bundles of each model were queued, of those that wait and those that are held.

        -1 where there is none.
        """
        flat = (part for model, its in lanes.items() for part in (model, *its, ""))
        found = await self._run("ages", lease_ms, *flat)
        return {model: (waiting, held) for model, (waiting, held) in zip(lanes, found, strict=True)}

    async def renew(
        self, worker: str, *, lease_ms: int, parking: Mapping[str, str], entries: Iterable[tuple[str, str, str, int]]
    ) -> list[bool]:
        """Keep a worker's leases by (lane, entry, `MODEL:IMAGE` or '', delivery), and what is parked, by (lane, model).

        Tells of each lease whether the worker still had it.
        """
        lanes = (name for pair in parking.items() for name in pair)
        flat = (part for entry in entries for part in entry)
        return [bool(kept) for kept in await self._run("renew", worker, lease_ms, len(parking), *lanes, *flat)]

    async def release(self, worker: str, *, lane: str, model: str) -> None:
        """Let a worker own no image of a model any more, and make claimable what is parked for it on the lane."""
        await self._run("release", worker, lane, model)

    async def hand_back(
        self, held: EntryRef, *, deliveries: int, job_id: str, bundle_id: str, request_ids: Iterable[str]
    ) -> None:
        """Give up a bundle that is held, its attempt unspent."""
        await self._run("hand_back", *held, deliveries, job_id, bundle_id, *request_ids)

    async def pass_over(self, held: EntryRef, *, job_id: str, bundle_id: str) -> None:
        """Take a bundle that is held and cannot be read from its lane, and count it."""
        await self._run("pass_over", *held, job_id, bundle_id)

    async def suspect(self, held: EntryRef, *, deliveries: int, job_id: str, bundle_id: str, request_id: str) -> bool:
        """Mark the request of a bundle on probation that runs next; False where the bundle is not held any more."""
        return bool(await self._run("suspect", *held, deliveries, job_id, bundle_id, request_id))

    async def record(self, job_id: str, responses: Sequence[ResponseRecord]) -> list[bool]:
        """Keep of each response the first to its request; False for a later one, and for that of an ended job."""
        # Texts in one argument: each one by itself costs this process more than the state store to part them.
        told = to_json([response.told for response in responses])
        kept = await self._run("record", job_id, told, *(response.packed for response in responses))
        return [bool(one) for one in kept]

    async def claim_search(self, job_id: str, search: str, before: str, asker: str) -> tuple[bytes | None, str]:
        """Put `asker` in the place of who asked `before`; either may be ''. Returns the result and who asks."""
        kept, asking = await self._run("claim_search", job_id, search, before, asker)
        return kept, asking.decode()

    async def keep_search(self, job_id: str, search: str, packed: bytes) -> bytes | None:
        """Keep the first result of a search and return it; None where the job is gone."""
        kept: bytes | None = await self._run("keep_search", job_id, search, packed)
        return kept

    async def trim(self, lane: str, *, lease_ms: int) -> int:
        """Remove what is done with from a lane; returns the number of entries."""
        return int(await self._run("trim", lane, lease_ms))

    async def texts(self, job_id: str, recorded: Iterable[tuple[str, str]]) -> list[bytes | None]:
        """Read the packed responses by (request id, cursor); None for what was taken back since."""
        found: list[bytes | None] = await self._run("texts", job_id, to_json([*recorded]))
        return found

    async def extent(self, job_id: str, most: int) -> tuple[int, list[bytes], list[bytes] | None]:
        """Count a job's responses; tell its parts and seals in turn, and requests with texts, None when over `most`."""
        recorded, parts, hot = await self._run("extent", job_id, most)
        return int(recorded), parts, hot

    async def sunk(self, job_id: str, *, part: str, seal: str, entries: Iterable[SinkEntry]) -> int:
        """Replace texts that a part holds by pointers into it; returns how many point to the part now."""
        return int(await self._run("sunk", job_id, part, seal, to_json([*entries])))

    async def rate(self, key: str, limit: int) -> tuple[bool, int, int, int]:
        """Count a request of so many a minute; returns whether it may pass, how many more may, and microseconds.

        These are until one may pass, and until as many may as ever.
        """
        admitted, remaining, retry, reset = await self._run("rate", key, limit)
        return bool(admitted), remaining, retry, reset

    async def stream(self, key: str, token: str, limit: int, milliseconds: int) -> bool:
        """Count a stream as open for so long, unless `limit` are; 0 is no limit."""
        return bool(await self._run("stream", key, token, limit, milliseconds))

    async def keep_file(
        self, file_id: str, owner: str, told: str, *, num_bytes: int, limit: int | None, expires_at: int | None
    ) -> bool:
        """Show a file to its owner, and count it as kept for him; False where it would be over the limit."""
        most, expires = _or_empty(limit), _or_empty(expires_at)
        return bool(await self._run("keep_file", file_id, owner, told, num_bytes, most, expires))

    async def drop_file(self, file_id: str) -> bool:
        """Show and count a file no more; returns whether there was one."""
        return bool(await self._run("drop_file", file_id))

    async def add_batch(self, batch_id: str, owner: str, told: str, *, limit: int, owners_limit: int | None) -> str:
        """Take a batch, to be worked on; returns `added`, or that too many are: `full`, or `quota`, of the owner's."""
        return str((await self._run("add_batch", batch_id, owner, told, limit, _or_empty(owners_limit))).decode())

    async def _run(self, name: str, *arguments: _ScriptArgument) -> Any:
        if name not in self._scripts:
            self._scripts[name] = self._redis.register_script(_source(name))
        return await self._scripts[name](args=arguments)


def _or_empty(limit: int | None) -> _ScriptArgument:
    return "" if limit is None else limit


@cache
def _source(name: str) -> str:
    common = (_FOLDER / "common.lua").read_text()
    return "\n".join([_key_table(), common, (_FOLDER / f"{name}.lua").read_text()])


def _key_table() -> str:
    """Return every key that a script may build, as pieces between which what it is of stands."""
    rows = (f"{name} = {{{_quote(pieces)}}}" for name, pieces in _key_pieces())
    return f"local KEY = {{{', '.join(rows)}}}"


def _key_pieces() -> Iterator[tuple[str, list[str]]]:
    lists = (KEYS.jobs, KEYS.chats, KEYS.deleting, KEYS.models, KEYS.unsunk, KEYS.expiring_files)
    sums = (KEYS.recorded, KEYS.totals, KEYS.outstanding, KEYS.queued, KEYS.depth, KEYS.uploaded)
    for of_all in (*lists, *sums, KEYS.clock):
        yield of_all.__name__, [of_all()]
    of_jobs = (KEYS.job, KEYS.in_status, KEYS.jobs_of, *KEYS.parts_of_a_job)
    of_uploads = (KEYS.file, KEYS.files, KEYS.batch, KEYS.batches, KEYS.open_batches)
    for of_one in (*of_jobs, *of_uploads, KEYS.owner, KEYS.room, KEYS.parked):
        yield of_one.__name__, of_one(_MARK).split(_MARK)
    yield KEYS.response.__name__, KEYS.response(_MARK, "").split(_MARK)


def _quote(parts: Iterable[str]) -> str:
    return ", ".join(f"'{part}'" for part in parts)
