"""Check that every open request waits where workers look, and that the queue's counters agree."""

from collections import Counter
from collections.abc import Iterator

from redis.asyncio import Redis
from zstandard import ZstdError

from gigavqa.backup.findings import CheckFinding, RepairAction, damage, leftover
from gigavqa.backup.state_reader import KeyInventory, StateReader
from gigavqa.contract.codec import decompress
from gigavqa.contract.schema_versions import read_bundle
from gigavqa.runtime.plurals import count_noun
from gigavqa.store.queue_lanes import GROUP
from gigavqa.store.redis_keys import KEYS

_PAGE = 1000


def check_queue(reader: StateReader, inventory: KeyInventory) -> Iterator[CheckFinding]:
    """Yield what is wrong with bundles, lanes, their counts, and with the stream of the sink."""
    queued = {lane: set(_pending_entries(reader, lane)) for lane in reader.lanes()}
    entries = [dict(fields) for found in queued.values() for fields in found]
    waiting = {(fields[b"job"].decode(), fields[b"bundle"].decode()) for fields in entries}
    depth: Counter[str] = Counter()
    for job_id in sorted(inventory.jobs):
        yield from _check_bundles(reader, job_id, waiting, depth)
    for lane, found in queued.items():
        if gone := {dict(fields)[b"job"].decode() for fields in found} - inventory.jobs:
            told = f"has entries of {count_noun(len(gone), 'job')} that are deleted; workers pass them over"
            yield leftover("queue-entry", lane, told)
    yield from _check_depth(reader, depth)
    yield from _check_room(reader, inventory)
    yield from _check_unsunk(reader, inventory)


def _check_bundles(
    reader: StateReader, job_id: str, waiting: set[tuple[str, str]], depth: Counter[str]
) -> Iterator[CheckFinding]:
    redis, subject, lost, unplayable = reader.redis, f"job {job_id}", [], []
    leased = redis.smembers(KEYS.leased(job_id))
    for name, state in redis.hscan_iter(KEYS.bundles(job_id), count=_PAGE):
        remaining, _, model = state.decode().partition(" ")
        if remaining == "0":
            continue
        depth[f"{'leased' if name in leased else 'waiting'}:{model}"] += 1
        if not _is_readable(redis.hget(KEYS.payloads(job_id), name)):
            unplayable.append(name.decode())
        elif (job_id, name.decode()) not in waiting:
            lost.append(name.decode())
    if unplayable:
        told = (
            f"the requests of {count_noun(len(unplayable), 'bundle')} are gone or damaged; cancel the job and retry it"
        )
        yield damage("bundle-gone", subject, told)
    if lost:
        told = f"{count_noun(len(lost), 'bundle')} stand in no lane, so that the job would never end"
        yield damage("bundle-lost", subject, told, _repair_queue(job_id, lost))


def _is_readable(packed: bytes | None) -> bool:
    try:
        return packed is not None and bool(read_bundle(decompress(packed)))
    except (ZstdError, ValueError):
        return False


def _check_depth(reader: StateReader, depth: Counter[str]) -> Iterator[CheckFinding]:
    told = {name.decode(): int(number) for name, number in reader.redis.hgetall(KEYS.depth()).items()}
    for name in sorted(told.keys() | depth.keys()):
        if (off := depth[name] - told.get(name, 0)) != 0:
            message = f"counts {told.get(name, 0)} bundles {name.replace(':', ' for ', 1)}, and there are {depth[name]}"
            yield damage("depth-wrong", "the queue", message, _repair_count(KEYS.depth(), name, off))


def _check_room(reader: StateReader, inventory: KeyInventory) -> Iterator[CheckFinding]:
    redis, owned, total = reader.redis, Counter[str](), 0
    for job_id in inventory.jobs:
        reserved, owner, interactive = redis.hmget(KEYS.job(job_id), "reserved", "owner", "interactive_limit")
        total += (number := int(reserved or 0))
        if owner:
            owned[owner.decode()] += number
            owned[f"{owner.decode()}:interactive"] += number if interactive is not None else 0
    told = int(redis.get(KEYS.outstanding()) or 0)
    if told != total:
        message = f"counts {told} requests outstanding, and jobs have {total}"
        yield damage("room-wrong", "the queue", message, _repair_count(KEYS.outstanding(), None, total - told))
    of_owners = {name.decode(): int(number) for name, number in redis.hgetall(KEYS.queued()).items()}
    for owner in sorted(of_owners.keys() | owned.keys()):
        if (off := owned[owner] - of_owners.get(owner, 0)) != 0:
            message = f"counts {of_owners.get(owner, 0)} requests of {owner}, whose jobs have {owned[owner]}"
            yield damage("room-wrong", "the queue", message, _repair_count(KEYS.queued(), owner, off))


def _check_unsunk(reader: StateReader, inventory: KeyInventory) -> Iterator[CheckFinding]:
    redis = reader.redis
    due = {(fields[b"job"], fields[b"request"]) for fields in _entries_from(reader, KEYS.unsunk(), "-")}
    for job_id in sorted(inventory.jobs):
        if redis.hget(KEYS.job(job_id), "hidden") == b"chat":
            continue
        unread = (name for name in redis.hkeys(KEYS.texts(job_id)) if (job_id.encode(), name) not in due)
        stuck = [name.decode() for name in unread if redis.exists(KEYS.response(job_id, name.decode()))]
        if stuck:
            told = f"{count_noun(len(stuck), 'text')} in the state store would go into no part"
            yield damage("text-unsunk", f"job {job_id}", told, _repair_sink_stream(job_id, stuck))


def _pending_entries(reader: StateReader, lane: str) -> Iterator[tuple[tuple[bytes, bytes], ...]]:
    """Yield the fields of all entries that a worker holds, or workers will read."""
    redis = reader.redis
    if not redis.exists(lane):
        return
    found = [each for each in redis.xinfo_groups(lane) if each["name"].decode() == GROUP]
    read, after = (found[0]["last-delivered-id"].decode() if found else "0-0"), "-"
    while found and (rows := redis.xpending_range(lane, GROUP, after, "+", _PAGE)):
        held = {row["message_id"] for row in rows}
        first, last = rows[0]["message_id"].decode(), rows[-1]["message_id"].decode()
        yield from (tuple(fields.items()) for entry, fields in redis.xrange(lane, first, last) if entry in held)
        after = f"({last}"
    yield from (tuple(fields.items()) for fields in _entries_from(reader, lane, f"({read}"))


def _entries_from(reader: StateReader, stream: str, first: str) -> Iterator[dict[bytes, bytes]]:
    """Yield the fields of all entries of a stream from one on."""
    while rows := reader.redis.xrange(stream, first, "+", _PAGE):
        yield from (fields for _, fields in rows)
        first = f"({rows[-1][0].decode()}"


def _repair_queue(job_id: str, bundles: list[str]) -> RepairAction:
    async def mend(redis: Redis) -> None:
        for name in bundles:
            # An entry too many is passed over by workers.
            if packed := await redis.hget(KEYS.payloads(job_id), name):
                bundle = read_bundle(decompress(packed))
                lane = KEYS.queue(bundle.model, bundle.priority)
                await redis.xadd(lane, {"job": job_id, "bundle": name})

    return mend


def _repair_sink_stream(job_id: str, requests: list[str]) -> RepairAction:
    async def mend(redis: Redis) -> None:
        for request in requests:
            if cursor := await redis.hget(KEYS.response(job_id, request), "cursor"):
                await redis.xadd(KEYS.unsunk(), {"job": job_id, "request": request, "cursor": cursor})

    return mend


def _repair_count(key: str, field: str | None, by: int) -> RepairAction:
    async def mend(redis: Redis) -> None:
        # A difference, and not the sum: others count on meanwhile.
        await (redis.incrby(key, by) if field is None else redis.hincrby(key, field, by))

    return mend
