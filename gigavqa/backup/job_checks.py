"""Check that each job agrees with its responses, and stands in the indexes of jobs."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from redis.asyncio import Redis

from gigavqa.backup.findings import CheckFinding, RemovalAction, RepairAction, damage, leftover
from gigavqa.backup.state_reader import KeyInventory, ResultEntry, StateReader
from gigavqa.contract.codec import decompress
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.schema_versions import read_spec, unpack_response
from gigavqa.runtime.plurals import count_noun, list_some
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS

_UNLIST = "if redis.call('HGET', KEYS[1], 'status') ~= ARGV[2] then redis.call('ZREM', KEYS[2], ARGV[1]) end"


OnResponse = Callable[[str, str | bytes], None]
"""Is told a job and the text of each of its responses that can be read."""


def check_job(
    reader: StateReader, inventory: KeyInventory, job_id: str, recordings: list[ResultEntry], hear: OnResponse
) -> Iterator[CheckFinding]:
    """Yield what is wrong with one job, given what was recorded of it; `hear` hears of the texts on the state store."""
    subject, row = f"job {job_id}", reader.redis.hgetall(KEYS.job(job_id))
    try:
        JobStatus(row[b"status"].decode())
        read_spec(row[b"spec"])
    except (KeyError, ValueError) as error:
        yield damage("job-unreadable", subject, f"cannot be read: {str(error).splitlines()[0]}")
        return
    yield from _check_counts(subject, job_id, row, recordings)
    yield from _check_responses(reader, inventory, job_id, recordings)
    yield from _check_texts(reader, job_id, hear)
    if b"hidden" not in row:
        yield from _check_listing(reader, subject, job_id, row[b"status"].decode())


def check_lists(reader: StateReader, inventory: KeyInventory) -> Iterator[CheckFinding]:
    """Yield what stands where jobs are looked for and is none, and what is left of jobs that are not there."""
    redis = reader.redis
    for status in JobStatus:
        for found in redis.zrange(KEYS.in_status(status), 0, -1):
            job_id = found.decode()
            now = redis.hget(KEYS.job(job_id), "status")
            if now is None or now.decode() != status:
                is_now = "not there" if now is None else now.decode()
                told = f"stands among those in status {status}, and is {is_now}"
                yield damage("job-mislisted", f"job {job_id}", told, _repair_unlisting(job_id, status))
    listed = {found.decode() for found in redis.zrange(KEYS.jobs(), 0, -1)}
    for job_id in sorted(listed - inventory.jobs):
        yield damage("job-gone", f"job {job_id}", "stands in the list of jobs, and is not there")
    deleting = {found.decode() for found in redis.smembers(KEYS.deleting())}
    for job_id in sorted((inventory.responses.keys() | inventory.rest.keys()) - inventory.jobs - deleting):
        number, rest = inventory.responses[job_id], ", ".join(sorted(inventory.rest[job_id])) or "no more"
        told = f"is not there; left of it are {count_noun(number, 'response')} and {rest}"
        # Of a job that should be there they may be all that is left.
        yield leftover("job-remains", f"job {job_id}", told, None if job_id in listed else _remove_rest(job_id))


def _check_counts(
    subject: str, job_id: str, row: dict[bytes, bytes], recordings: list[ResultEntry]
) -> Iterator[CheckFinding]:
    outcomes = Counter(each.outcome for each in recordings)
    for outcome in ("completed", "failed"):
        told, there = int(row.get(outcome.encode(), 0)), outcomes[outcome]
        if told != there:
            yield damage(
                "counts-wrong",
                subject,
                f"counts {told} {outcome}, and has {count_noun(there, 'such response')}",
                partial(_add, key=KEYS.job(job_id), field=outcome, by=there - told),
            )


def _check_responses(
    reader: StateReader, inventory: KeyInventory, job_id: str, recordings: list[ResultEntry]
) -> Iterator[CheckFinding]:
    subject = f"job {job_id}"
    gone = [each.request for each in recordings if each.cursor != each.entry]
    if gone:
        yield damage(
            "response-gone", subject, f"{name_requests(gone)} stand in the order of results, and are not there"
        )
    if (more := inventory.responses[job_id] - len(recordings) + len(gone)) > 0:
        yield damage("response-unordered", subject, f"{count_noun(more, 'response')} stand in no order of results")
    textless = [each.request for each in recordings if each.cursor and not each.hot and not each.part]
    if textless:
        yield damage(
            "text-gone", subject, f"the texts of {name_requests(textless)} are neither in the state store nor in a part"
        )


def _check_texts(reader: StateReader, job_id: str, hear: OnResponse) -> Iterator[CheckFinding]:
    broken = []
    for request, packed in reader.redis.hscan_iter(KEYS.texts(job_id), count=100):
        try:
            unpack_response(packed)
        except ValueError:
            broken.append(request.decode())
        else:
            hear(job_id, decompress(packed))
    if broken:
        yield damage("text-damaged", f"job {job_id}", f"the texts of {name_requests(broken)} cannot be read")


def _check_listing(reader: StateReader, subject: str, job_id: str, status: str) -> Iterator[CheckFinding]:
    redis = reader.redis
    is_listed = redis.zscore(KEYS.jobs(), job_id) is not None
    if is_listed and not redis.exists(*map(KEYS.in_status, JobStatus)):
        return  # an older release had no such lists; the gateway makes them when it starts
    if not is_listed or redis.zscore(KEYS.in_status(status), job_id) is None:
        yield damage("job-unlisted", subject, "is there, and stands in no list of jobs", _repair_listing(job_id))


def _repair_listing(job_id: str) -> RepairAction:
    async def mend(redis: Redis) -> None:
        if created := await redis.hget(KEYS.job(job_id), "created_at"):
            await redis.zadd(KEYS.jobs(), {job_id: int(created)})
            await LuaScripts(redis).index([job_id.encode()])

    return mend


def _remove_rest(job_id: str) -> RemovalAction:
    async def remove(redis: Redis) -> None:
        if not await redis.exists(KEYS.job(job_id)):
            await redis.sadd(KEYS.deleting(), job_id)  # as if its deletion had been cut off

    return remove


def _repair_unlisting(job_id: str, status: str) -> RepairAction:
    async def mend(redis: Redis) -> None:
        await redis.eval(_UNLIST, 2, KEYS.job(job_id), KEYS.in_status(status), job_id, status)

    return mend


async def _add(redis: Redis, *, key: str, field: str, by: int) -> None:
    # A difference, and not the sum: others count on meanwhile.
    await redis.hincrby(key, field, by)


def name_requests(requests: list[str]) -> str:
    """Name the first three of these requests, and count the rest."""
    return list_some(requests, 3)
