"""Connections that servers elsewhere keep open: a reply belongs to the question that was asked, whatever else comes."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from gigavqa.workers.engines.engine import EngineDeadError
from gigavqa.workers.engines.remote.connections import SingleUseTransport
from tests.workers.misbehaving import Misbehaving, answer, http, misbehaving
from tests.workers.server_faults import REPLIES, STREAMS
from tests.workers.test_remote_misbehaviour import ask, asking, outcome

SAYS = {f"q{number}": f"a{number}" for number in range(80)}


@contextmanager
def saying_all_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str) -> Iterator[Misbehaving]:
    """A server that answers each question of `SAYS` by two whole replies at once."""
    context = None
    if scheme == "https":
        authority = trustme.CA()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("localhost").configure_cert(context)
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with misbehaving(REPLIES, STREAMS, context) as there:
        there.twice = SAYS
        yield there


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_reply_that_comes_twice_answers_no_other_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, lanes: int
) -> None:
    """Each question is asked once, and gets its own answer, one after the other and in eight lanes."""
    with saying_all_twice(tmp_path, monkeypatch, scheme) as there:
        async with asking(there, answer_seconds=20) as engine:
            places = asyncio.Semaphore(lanes)

            async def one(question: str) -> str:
                async with places:
                    return (await ask(engine, question)).text

            texts = await asyncio.gather(*map(one, SAYS))
    assert dict(zip(SAYS, texts, strict=True)) == SAYS
    assert there.asked == Counter(SAYS.keys())


async def test_what_comes_late_answers_no_other_question() -> None:
    """Whenever a second reply comes: each request has a connection of its own."""

    async def twice(writer: asyncio.StreamWriter) -> None:
        writer.write(http(answer("A")))
        await writer.drain()
        for _ in range(20):
            await asyncio.sleep(0.005)
            writer.write(http(answer("late")))
            await writer.drain()

    with misbehaving({**REPLIES, "late": twice}, STREAMS) as there:
        async with asking(there) as engine:
            for _ in range(10):
                assert await outcome(engine, "late") == "A|stop"
                assert await outcome(engine, "normal") == "A cat|stop"
    assert there.asked == {"late": 10, "normal": 10}
    assert there.connections >= 20


async def test_all_proxies_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the one that is named for every scheme; but not for hosts that are excepted."""
    with misbehaving(REPLIES, STREAMS) as proxy, misbehaving(REPLIES, STREAMS) as there:
        monkeypatch.setenv("ALL_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with asking(there) as engine:
            assert await outcome(engine, "normal") == "A cat|stop"
        assert (proxy.asked["normal"], there.asked["normal"]) == (1, 0)
        monkeypatch.setenv("NO_PROXY", "localhost")
        async with asking(there) as engine:
            assert await outcome(engine, "normal") == "A cat|stop"
        assert (proxy.asked["normal"], there.asked["normal"]) == (1, 1)


def test_a_proxy_that_cannot_be_used_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked."""
    monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(EngineDeadError, match="the proxy that the environment names cannot be used"):
        SingleUseTransport("http://example.org/v1")
