"""A restart of the server is waited out, and a server that evicts is refused."""

import asyncio
import logging
import os
import signal
from pathlib import Path

import pytest
import redis
from redis.exceptions import ConnectionError as RedisConnectionError

from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.runtime.errors import StateStoreRefusedError
from gigavqa.store.connection import connect
from gigavqa.store.reachability import require_answer, require_usable


async def test_a_call_survives_a_restart_of_the_server(binary: Path, tmp_path: Path) -> None:
    """Calls made while the server is dead are answered when it is back."""
    first = start_store(tmp_path, binary=binary)
    client = connect(first.url)
    await client.set("n", 1)
    os.kill(first.pid, signal.SIGKILL)
    calls = [asyncio.create_task(client.get("n")) for _ in range(5)]
    second = await asyncio.to_thread(start_store, tmp_path, binary=binary, die_with_parent=False)
    try:
        assert await asyncio.gather(*calls) == [b"1"] * 5
    finally:
        await client.aclose()
        second.stop()


async def test_more_calls_than_connections_wait_their_turn(server: StateStoreProcess) -> None:
    """A small pool makes callers wait instead of raising."""
    client = connect(server.url, max_connections=2)
    assert await asyncio.gather(*(client.echo(str(n)) for n in range(100))) == [str(n).encode() for n in range(100)]
    await client.aclose()


async def test_a_server_that_stays_away_is_an_error(tmp_path: Path) -> None:
    """The wait has an end."""
    client = connect(f"unix://{tmp_path}/nobody.sock", retries=2)
    with pytest.raises(RedisConnectionError):
        await client.ping()
    await client.aclose()


async def test_a_cancelled_task_ends_at_whatever_moment_it_is_cancelled(server: StateStoreProcess) -> None:
    """A loop of calls is cancelled after each number of turns of the event loop; none goes on."""
    client = connect(server.url)

    async def call_for_ever() -> None:
        while True:
            await client.ping()

    for turns in range(60):
        task = asyncio.create_task(call_for_ever())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=10)
        assert done, f"cancelled after {turns} turns"
    await client.aclose()


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl", "allkeys-random"])
async def test_a_server_that_evicts_is_refused(own_server: StateStoreProcess, policy: str) -> None:
    """Every policy but one; the sentence says which is set and which must be."""
    redis.Redis.from_url(own_server.url).config_set("maxmemory-policy", policy)
    client = connect(own_server.url)
    with pytest.raises(StateStoreRefusedError, match=rf"is {policy}, .* set `maxmemory-policy noeviction`"):
        await client.ping()
    with pytest.raises(StateStoreRefusedError):
        await require_usable(own_server.url)
    with pytest.raises(StateStoreRefusedError):
        await require_answer(own_server.url)  # as commands do that work on what is kept
    redis.Redis.from_url(own_server.url).config_set("maxmemory-policy", "noeviction")
    assert await client.ping()
    await client.aclose()


@pytest.mark.parametrize("forbidden", ["config", "info"])
async def test_the_policy_is_known_where_one_of_its_commands_is_forbidden(
    own_server: StateStoreProcess, forbidden: str
) -> None:
    """Managed servers forbid CONFIG; INFO tells the same, and the other way round."""
    operator = redis.Redis.from_url(own_server.url)
    operator.config_set("maxmemory-policy", "allkeys-lru")
    operator.execute_command("ACL", "SETUSER", "default", f"-{forbidden}")
    with pytest.raises(StateStoreRefusedError):
        await require_usable(own_server.url)


async def test_a_server_that_does_not_tell_its_policy_is_used_with_a_warning(
    own_server: StateStoreProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing can be known, so it is said what must be."""
    redis.Redis.from_url(own_server.url).execute_command("ACL", "SETUSER", "default", "-config", "-info")
    with caplog.at_level(logging.WARNING):
        await require_usable(own_server.url)
    assert "must be noeviction" in caplog.text


async def test_a_server_that_is_away_at_the_start_is_looked_at_later(tmp_path: Path) -> None:
    """The start of a gateway is not held up by it."""
    await require_usable(f"unix://{tmp_path}/nobody.sock")
