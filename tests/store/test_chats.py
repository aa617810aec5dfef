"""Chats that somebody waits for: in no list, told of, and gone without a trace."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.contract.errors import JobNotFoundError, QueueFullError
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.requests import Bundle
from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.store.chats import Chats, new_chat_id
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.streaming import TokenChunk, TokenPublisher, subscribe
from tests.store.examples import MODEL, answer, make_bundles
from tests.waiting import async_wait_until


def chat(requests: int = 1) -> Bundle:
    """A chat on the interactive lane."""
    chat_id = new_chat_id()
    (bundle,) = make_bundles(chat_id, 1, requests)
    return bundle.model_copy(update={"priority": "interactive"})


async def claim(redis: Redis) -> list[str]:
    """Claim what waits; the ids of its jobs."""
    return [lease.job_id for lease in await JobQueue(redis).claim([MODEL], "w", 10, 0)]


async def test_a_chat_leaves_nothing_behind(redis: Redis) -> None:
    """Answered and left, it has no key, stands in no list, and gives back its room."""
    chats, bundle = Chats(redis, limit_requests=3), chat(3)
    await chats.ask(bundle, "channel")
    await chats.ask(bundle, "channel")  # repeated, as after a lost reply
    with pytest.raises(QueueFullError):
        await chats.ask(chat(), "channel")
    assert await JobRegistry(redis).list() == []
    (lease,) = await JobQueue(redis).claim([MODEL], "w", 10, 0)
    for request in lease.bundle.requests:
        await ResultStore(redis).record(answer(bundle.job_id, request), lease)
    status, found = await chats.answers(bundle.job_id, [request.id for request in bundle.requests])
    assert status is JobStatus.COMPLETED
    assert len(found) == 3
    assert await redis.xlen(KEYS.unsunk()) == 0
    await chats.leave(bundle.job_id)
    await chats.leave(bundle.job_id)
    assert [key async for key in redis.scan_iter(f"*{bundle.job_id}*")] == []
    assert await redis.zcard(KEYS.chats()) == 0
    assert int(await redis.get(KEYS.outstanding())) == 0


async def test_a_chat_that_nobody_waits_for_is_given_up(redis: Redis) -> None:
    """The others are kept by their gateways, again and again."""
    chats, left, kept = Chats(redis, limit_requests=10), chat(), chat()
    for bundle in (left, kept):
        await chats.ask(bundle, "channel")
        await redis.zadd(KEYS.chats(), {bundle.job_id: 1})
    await chats.keep([kept.job_id, "chat_gone"])
    assert await chats.give_up() == 1
    assert await claim(redis) == [kept.job_id]
    with pytest.raises(JobNotFoundError):
        await JobRegistry(redis).get(left.job_id)


async def test_a_chat_in_the_hands_of_a_worker_is_cancelled_first(redis: Redis) -> None:
    """The worker gives it up, and then it is deleted."""
    chats, bundle, queue = Chats(redis, limit_requests=10), chat(), JobQueue(redis)
    await chats.ask(bundle, "channel")
    (lease,) = await queue.claim([MODEL], "w", 10, 0)
    await chats.leave(bundle.job_id)
    assert await JobRegistry(redis).status(bundle.job_id) is JobStatus.CANCELLING
    assert await queue.cancelled([bundle.job_id]) == {bundle.job_id}
    await queue.hand_back(lease)
    assert await chats.give_up() == 1
    assert await JobRegistry(redis).status(bundle.job_id) is None


async def test_growing_text_and_its_end_are_heard(redis: Redis) -> None:
    """Pieces come in their order, and behind them that something is recorded."""
    chats, bundle, teller = Chats(redis, limit_requests=10), chat(), TokenPublisher(redis)
    pieces: list[TokenChunk] = []
    listening = asyncio.Event()

    async def listen() -> None:
        async for told in subscribe(redis, "channel"):
            listening.set()
            pieces.extend(told)

    hearing = asyncio.create_task(listen())
    await listening.wait()
    await chats.ask(bundle, "channel")
    (lease,) = await JobQueue(redis).claim([MODEL], "w", 10, 0)
    (request,) = lease.bundle.requests
    grow = teller.grow("channel", bundle.job_id, request.id)
    for at in range(20):
        grow(at, "x", None)
    await async_wait_until(lambda: _true(len(pieces) == 20), what="the pieces")
    await ResultStore(redis).record(answer(bundle.job_id, request), lease)
    await async_wait_until(lambda: _true(len(pieces) == 21), what="the end")
    hearing.cancel()
    assert [piece.at for piece in pieces[:20]] == list(range(20))
    assert pieces[20] == TokenChunk(chat=bundle.job_id)


async def test_who_listens_hears_on_when_the_server_was_killed(own_server: StateStoreProcess, tmp_path: Path) -> None:
    """The connection is made anew, which is told, and what is told afterwards comes."""
    listener, growth = connect(own_server.url), TokenChunk(chat="chat_1", request="r0", text="x")
    heard_of = aiter(subscribe(listener, "channel"))
    assert await anext(heard_of) == ()
    os.kill(own_server.pid, signal.SIGKILL)
    own_server.stop()
    second = await asyncio.to_thread(start_store, tmp_path / "server", die_with_parent=False)
    teller = connect(second.url)
    try:
        assert await anext(heard_of) == ()
        assert await teller.publish("channel", f"[{growth.model_dump_json()}]") == 1
        assert await anext(heard_of) == [growth]
    finally:
        await listener.aclose()
        await teller.aclose()
        second.stop()


async def _true(told: bool) -> bool:
    return told
