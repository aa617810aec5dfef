"""Brings the installation's keys from one server to another, whatever release either of them is.

Not by DUMP and RESTORE: a server refuses what a newer one, or one of the other kind, has dumped.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from redis import Redis

from gigavqa.store.redis_keys import KEYS

STAGING_PREFIX = "restoring:"
"""What the names of keys begin with until all of them are there."""

_CHUNK = 500
_TRIAL_SECONDS = 60
_SWAP = """
local function names(pattern)
  local found, cursor = {}, '0'
  repeat
    local page = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', 1000)
    cursor = page[1]
    for _, key in ipairs(page[2]) do found[key] = true end
  until cursor == '0'
  return found
end
for key in pairs(names(ARGV[2] .. ':*')) do redis.call('UNLINK', key) end
for key in pairs(names(ARGV[1] .. ARGV[2] .. ':*')) do redis.call('RENAME', key, string.sub(key, #ARGV[1] + 1)) end
"""  # not by KEYS, which users without dangerous commands may not call


def require_rights(target: Redis) -> None:
    """Do to a key of its own what `copy_state` does at last, so that who may not is told before anything is written."""
    trial = f"{KEYS.prefix}:rights-trial"
    try:
        target.set(f"{STAGING_PREFIX}{trial}:key", "", ex=_TRIAL_SECONDS)
        target.eval(_SWAP, 0, STAGING_PREFIX, trial)
    finally:
        target.unlink(f"{trial}:key", f"{STAGING_PREFIX}{trial}:key")


def copy_state(source: Redis, target: Redis) -> None:
    """Let `target` hold the installation's keys as `source` does, in one step, in place of those that it has.

    What a call that was cut off has left is removed first. Nobody may use the keys of `target` meanwhile.
    """
    for names in _chunks(target.scan_iter(f"{STAGING_PREFIX}{KEYS.prefix}:*", count=_CHUNK)):
        target.unlink(*names)
    for name in source.scan_iter(f"{KEYS.prefix}:*", count=_CHUNK):
        _copy(source, target, name)
    target.eval(_SWAP, 0, STAGING_PREFIX, KEYS.prefix)


def _copy(source: Redis, target: Redis, name: bytes) -> None:
    kind = source.type(name).decode()
    if kind == "none":  # it expired
        return
    aside = STAGING_PREFIX.encode() + name
    _COPIES[kind](source, target, name, aside)
    if (at := source.pexpiretime(name)) > 0:
        target.pexpireat(aside, at)


def _copy_string(source: Redis, target: Redis, name: bytes, aside: bytes) -> None:
    if (value := source.get(name)) is not None:
        target.set(aside, value)


def _copy_hash(source: Redis, target: Redis, name: bytes, aside: bytes) -> None:
    for fields in _chunks(source.hscan_iter(name, count=_CHUNK)):
        target.hset(aside, mapping=dict(fields))


def _copy_set(source: Redis, target: Redis, name: bytes, aside: bytes) -> None:
    for members in _chunks(source.sscan_iter(name, count=_CHUNK)):
        target.sadd(aside, *members)


def _copy_sorted_set(source: Redis, target: Redis, name: bytes, aside: bytes) -> None:
    for members in _chunks(source.zscan_iter(name, count=_CHUNK)):
        target.zadd(aside, dict(members))


def _copy_stream(source: Redis, target: Redis, name: bytes, aside: bytes) -> None:
    """Entries with their ids, and what each group has read and not acknowledged."""
    told = source.xinfo_stream(name)
    for entries in _chunks(_entries(source, name)):
        with target.pipeline(transaction=False) as pipeline:
            for entry_id, fields in entries:
                pipeline.xadd(aside, fields, id=entry_id)
            pipeline.execute()
    if not told["length"]:  # only an entry makes a stream without a group
        target.xadd(aside, {"none": ""}, id="0-1")
        target.xtrim(aside, maxlen=0, approximate=False)
    counted = ("ENTRIESADDED", told["entries-added"], "MAXDELETEDID", told["max-deleted-entry-id"])
    target.execute_command("XSETID", aside, told["last-generated-id"], *counted)
    for group in source.xinfo_groups(name):
        _copy_group(source, target, (name, aside), group)


def _copy_group(source: Redis, target: Redis, names: tuple[bytes, bytes], group: dict[str, Any]) -> None:
    (name, aside), called = names, group["name"]
    read = group.get("entries-read")
    target.xgroup_create(aside, called, id=group["last-delivered-id"], entries_read=read)
    for consumer in source.xinfo_consumers(name, called):
        target.execute_command("XGROUP", "CREATECONSUMER", aside, called, consumer["name"])
    for pending in _chunks(_pending(source, name, called)):
        with target.pipeline(transaction=False) as pipeline:
            for each in pending:
                named = (each["consumer"], 0, [each["message_id"]])
                idle, times = each["time_since_delivered"], each["times_delivered"]
                pipeline.xclaim(aside, called, *named, idle=idle, retrycount=times, force=True, justid=True)
            pipeline.execute()


def _entries(source: Redis, name: bytes) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    after = "-"
    while rows := source.xrange(name, min=after, count=_CHUNK):
        yield from rows
        after = f"({rows[-1][0].decode()}"


def _pending(source: Redis, name: bytes, group: bytes) -> Iterator[dict[str, Any]]:
    after = "-"
    while rows := source.xpending_range(name, group, after, "+", _CHUNK):
        yield from rows
        after = f"({rows[-1]['message_id'].decode()}"


def _chunks(found: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(found)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk


_COPIES: dict[str, Callable[[Redis, Redis, bytes, bytes], None]] = {
    "string": _copy_string,
    "hash": _copy_hash,
    "set": _copy_set,
    "zset": _copy_sorted_set,
    "stream": _copy_stream,
}
