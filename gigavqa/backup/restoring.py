"""Brings a backup back: files first, then the state store's state in one step, so that a crash leaves no half."""

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from gigavqa.backup.archives import STATE, Archive, digest_of
from gigavqa.backup.copying import copy_state, require_rights
from gigavqa.backup.snapshots import (
    StateSnapshot,
    has_state,
    install_snapshot,
    open_client,
    serve_snapshot,
    take_snapshot,
)
from gigavqa.backup.state_reader import StateReader
from gigavqa.runtime.embedded_store import stopped_store
from gigavqa.runtime.errors import RestoreRefusedError
from gigavqa.runtime.home import Home
from gigavqa.store.connection import connect
from gigavqa.store.files import FileRegistry
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.previews import PreviewStore
from gigavqa.store.queue_lanes import GROUP
from gigavqa.store.redis_keys import KEYS

_AT_ONCE_MS = 1_000_000_000  # a lease that was idle for so long is anybody's
_PAGE = 1000


def restore(archive: Archive, home: Home, *, overwrite: bool = False) -> Path | None:
    """Let an installation that does not run be what a backup shows, jobs in progress ready to be claimed.

    With `overwrite` in place of what it is. Nothing is changed before the whole backup was read and found well.
    Returns the folder that the state of before was moved to, if there was one on an embedded server.

    Raises BackupInvalidError, RestoreRefusedError, StateStoreUnavailableError, OSError.
    """
    archive.verify()
    with tempfile.TemporaryDirectory(prefix="gigavqa-") as work, _require_stopped(home):
        _require_empty(archive, home, overwrite)
        if home.redis_url:
            require_rights(open_client(home.redis_url))
        snapshot = StateSnapshot(archive.path(STATE), archive.manifest.database)
        with serve_snapshot(snapshot, Path(work) / "server") as held:
            redis = open_client(held)
            _reset_processes(redis)
            asyncio.run(_forget_files(held, archive.manifest.gone))
            _restore_files(archive, home)
            if home.redis_url:
                target = open_client(home.redis_url)
                copy_state(redis, target)
                return None
            return install_snapshot(take_snapshot(held, Path(work) / "state.rdb").file, home.server)


@contextmanager
def _require_stopped(home: Home) -> Iterator[None]:
    """Refuse an installation that runs, and let the embedded server not be started meanwhile."""
    if not home.redis_url:
        with stopped_store(home.server):
            yield
        return
    redis = open_client(home.redis_url)
    if redis.exists(KEYS.sink_lock()) or redis.exists(*_announced_workers(redis)):
        raise RestoreRefusedError("gateways or workers use the state store at REDIS_URL, or did a minute ago; end them")
    yield


def _announced_workers(redis: Redis) -> list[str]:
    return [KEYS.workers() + ":none", *(KEYS.worker(name.decode()) for name in redis.smembers(KEYS.workers()))]


def _require_empty(archive: Archive, home: Home, overwrite: bool) -> None:
    if overwrite:
        return
    remedy = "restore elsewhere, or say --overwrite"
    if home.redis_url:
        if next(open_client(home.redis_url).scan_iter(f"{KEYS.prefix}:*", count=_PAGE), None):
            raise RestoreRefusedError(f"the state store at REDIS_URL holds an installation already; {remedy}")
    elif has_state(home.server):
        raise RestoreRefusedError(f"{home.server} holds an installation already; {remedy}")
    for kind, folder in _folders(home):
        for name, digest in archive.under(kind):
            if (path := folder / name).exists() and digest_of(path) != digest:
                raise RestoreRefusedError(f"{path} is there already, and is another file; {remedy}")


def _reset_processes(redis: Redis) -> None:
    """Forget what tells of processes that ran, and give back what they held."""
    for pattern in KEYS.of_what_runs:
        for key in list(redis.scan_iter(pattern, count=_PAGE)):
            redis.unlink(key)
    for lane in StateReader(redis).lanes():
        if redis.exists(lane):
            _hand_back(redis, lane)


def _hand_back(redis: Redis, lane: str) -> None:
    """Let every lease of a lane be claimable at once, its attempt unspent: its worker did not die of it."""
    after = "-"
    while rows := redis.xpending_range(lane, GROUP, after, "+", _PAGE):
        for each in rows:
            named, spent = (each["consumer"], 0, [each["message_id"]]), max(0, each["times_delivered"] - 1)
            redis.xclaim(lane, GROUP, *named, idle=_AT_ONCE_MS, retrycount=spent, justid=True)
        after = f"({rows[-1]['message_id'].decode()}"


async def _forget_files(url: str, file_ids: Sequence[str]) -> None:
    """Forget the files whose owners deleted them while the backup was made."""
    redis = connect(url)
    try:
        for file_id in file_ids:
            await FileRegistry(redis).remove(file_id)
    finally:
        await redis.aclose()


def _restore_files(archive: Archive, home: Home) -> None:
    parts, previews = PartStore(home.results_uri), PreviewStore(home.results_uri)
    for name, _ in archive.under("results"):
        job_id, _, part = name.removesuffix(".parquet").partition("/")
        parts.put(job_id, part, archive.path(f"results/{name}").read_bytes())
    for name, _ in archive.under("previews"):
        previews.write(name.removesuffix(".jpg"), archive.path(f"previews/{name}").read_bytes())
    for kind, folder in _folders(home):
        for name, digest in archive.under(kind):
            _restore_file(archive.path(f"{kind}/{name}"), folder / name, digest)


def _folders(home: Home) -> tuple[tuple[str, Path], ...]:
    return (("uploads", home.uploads), ("catalogue", home.catalogue))


def _restore_file(source: Path, target: Path, digest: str) -> None:
    if target.exists() and digest_of(target) == digest:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
    shutil.copyfile(source, unfinished)
    shutil.copystat(source, unfinished)  # when a picture was used last decides how long it is kept
    with unfinished.open("rb") as written:
        os.fsync(written.fileno())
    unfinished.replace(target)
