"""All that a server holds at one moment, as a file; and servers of one's own that hold what such a file says.

The file is what the state store sends a new replica: the state between two commands, while it goes on serving. So it
has of each script everything or nothing.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from gigavqa.backup.errors import SnapshotRefusedError
from gigavqa.runtime.durable_files import sync
from gigavqa.runtime.embedded_store import start_store
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.runtime.private_files import private_folder

_PIECE = 1 << 20
_SILENCE_SECONDS = 120.0  # the server sends empty lines while it prepares the file
_LARGEST_HEAD = 256
_AOF_NAME = re.compile(r"appendonly\.aof\.(\d+)\.")
_AOF_MANIFEST = "appendonly.aof.manifest"


class StateSnapshot(NamedTuple):
    """A file that holds a server's state, and which of its databases the installation uses."""

    file: Path
    database: int


def open_client(url: str) -> Redis:
    """Connect to a server for calls that wait. Replies are bytes."""
    return Redis.from_url(url, protocol=2, socket_timeout=_SILENCE_SECONDS, socket_connect_timeout=10)


def take_snapshot(url: str, file: Path) -> StateSnapshot:
    """Write down all that the state store holds at one moment.

    Raises SnapshotRefusedError, StateStoreUnavailableError, OSError.
    """
    client = open_client(url)
    connection = None
    try:
        connection = client.connection_pool.get_connection()
        connection.send_command("REPLCONF", "rdb-only", "1")
        connection.read_response()
        connection.send_command("SYNC")
        with file.open("xb") as out:
            _receive(connection._sock, out)  # what follows is no reply, and nothing of redis-py reads it
            out.flush()
            os.fsync(out.fileno())
    except (RedisConnectionError, TimeoutError) as error:
        raise StateStoreUnavailableError(f"the state store does not answer: {error}") from error
    except RedisError as error:
        raise SnapshotRefusedError(_describe_refusal(str(error))) from error
    finally:
        if connection is not None:
            connection.disconnect()
        client.close()
    return StateSnapshot(file, int(client.connection_pool.connection_kwargs.get("db") or 0))


@contextmanager
def serve_snapshot(snapshot: StateSnapshot, folder: Path) -> Iterator[str]:
    """The URL of a server of one's own that holds a snapshot, for the length of a block; it lives in `folder`.

    Raises StateStoreUnavailableError when it cannot load the snapshot.
    """
    install_snapshot(snapshot.file, folder)
    server = start_store(folder)
    try:
        yield f"{server.url}?db={snapshot.database}"
    finally:
        server.stop()


@contextmanager
def serve_frozen_copy(url: str) -> Iterator[str]:
    """Serve a copy of what the state store at `url` holds now, for the length of a block; yields its URL."""
    with tempfile.TemporaryDirectory(prefix="gigavqa-") as folder:
        snapshot = take_snapshot(url, Path(folder) / "state.rdb")
        with serve_snapshot(snapshot, Path(folder) / "server") as held:
            yield held


def has_state(folder: Path) -> bool:
    """Return whether the embedded server of a folder has a state that it would load."""
    return (folder / "appendonlydir" / _AOF_MANIFEST).exists()


def install_snapshot(file: Path, folder: Path) -> Path | None:
    """Let the embedded server of a folder, which does not run, hold a snapshot when it starts next.

    At each moment the folder holds all of what it held or all of the snapshot. Returns the folder that what it held
    was moved to, None where it held nothing.
    """
    private_folder(folder)
    kept = private_folder(folder / "appendonlydir")
    before = [path for path in kept.iterdir() if _AOF_NAME.match(path.name)]
    number = 1 + max((int(found.group(1)) for path in before if (found := _AOF_NAME.match(path.name))), default=0)
    base, later = kept / f"appendonly.aof.{number}.base.rdb", kept / f"appendonly.aof.{number}.incr.aof"
    shutil.copyfile(file, base)
    later.touch()  # else the server would write behind what it may find of this kind
    listed, unfinished = kept / _AOF_MANIFEST, kept / f"{_AOF_MANIFEST}.new"
    unfinished.write_text(f"file {base.name} seq {number} type b\nfile {later.name} seq {number} type i\n")
    for path in (base, later, unfinished):
        sync(path)
    aside = private_folder(folder / f"before-{time.time_ns()}") if before else None
    if aside and listed.exists():
        shutil.copyfile(listed, aside / _AOF_MANIFEST)
    unfinished.replace(listed)  # from here on it is the snapshot
    sync(kept)
    for path in before:
        path.replace(aside / path.name)  # type: ignore[operator]  # there is one where something was before
    return aside


def _receive(sock: object, out: IO[bytes]) -> None:
    """Write the file that a server sends its replica: empty lines, `$LENGTH`, and so many bytes."""
    head = b""
    while not head.lstrip().endswith(b"\n") or not head.strip():
        head = (head + _recv(sock, 1)).lstrip(b"\n")
        if len(head) > _LARGEST_HEAD:
            raise SnapshotRefusedError(_describe_refusal(repr(head)))
    if not re.fullmatch(rb"\$\d+", told := head.strip()):
        raise SnapshotRefusedError(_describe_refusal(told.decode(errors="replace")))
    left = int(told[1:])
    while left:
        piece = _recv(sock, min(left, _PIECE))
        out.write(piece)
        left -= len(piece)


def _recv(sock: object, most: int) -> bytes:
    piece: bytes = sock.recv(most)  # type: ignore[attr-defined]  # of a socket, with TLS or without
    if not piece:
        raise StateStoreUnavailableError("the state store ended the connection while it sent its state; see its log")
    return piece


def _describe_refusal(reason: str) -> str:
    return (
        f"the state store does not send its state ({reason}); it must allow REPLCONF and SYNC and be a primary. "
        "Else keep it with its provider's own snapshots"
    )
