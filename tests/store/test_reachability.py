"""What is wrong with a state store is said in one sentence, with what helps."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from redis import Redis

from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.store.reachability import require_answer


@pytest.fixture
def web_server() -> Iterator[str]:
    """The address of a server of another kind."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"redis://127.0.0.1:{server.server_port}"
    server.shutdown()


async def _fault(url: str) -> str:
    with pytest.raises(StateStoreUnavailableError) as refused:
        await require_answer(url)
    return str(refused.value)


async def test_a_store_that_wants_a_password_says_so(own_server: StateStoreProcess) -> None:
    with Redis.from_url(own_server.url) as redis:
        redis.config_set("requirepass", "secret")
        assert "REDIS_URL is refused" in await _fault(own_server.url)
        redis.config_set("requirepass", "")


async def test_a_replica_names_its_primary(own_server: StateStoreProcess) -> None:
    with Redis.from_url(own_server.url) as redis:
        redis.replicaof("127.0.0.1", "9")
        assert "names a replica" in (fault := await _fault(own_server.url))
        assert "127.0.0.1:9" in fault
        redis.replicaof("no", "one")


async def test_a_database_that_is_not_there_is_named(own_server: StateStoreProcess) -> None:
    joint = "&" if "?" in own_server.url else "?"
    assert "a database that the server does not have" in await _fault(f"{own_server.url}{joint}db=99")


async def test_a_server_of_another_kind_is_no_store_that_is_away(web_server: str) -> None:
    assert "no Redis or Valkey" in await _fault(web_server)


async def test_a_store_that_is_not_there_is_said_at_once() -> None:
    """A whole service would wait for it for half a minute, and name no remedy."""
    assert "REDIS_URL does not answer" in (fault := await _fault("redis://127.0.0.1:9"))
    assert "unset REDIS_URL" in fault
