"""One read tells which of many jobs have something new."""

import asyncio

from redis.asyncio import Redis

from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.job_updates import JobUpdates
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from tests.store.examples import MODEL, SPEC, answer, make_bundles


async def test_a_response_or_an_event_is_news_of_its_job_alone(redis: Redis) -> None:
    """Of what is known there is no news, however often one waits."""
    registry, news = JobRegistry(redis), JobUpdates(redis)
    answered, cancelled, quiet = [(await registry.create(SPEC))[0].id for _ in range(3)]
    await JobQueue(redis).enqueue(answered, make_bundles(answered, 2), None)
    known = await news.marks([answered, cancelled, quiet])
    assert await news.wait(known, 0.01) == set()
    (lease, _) = await JobQueue(redis).claim([MODEL], "w", 2, 0)
    await ResultStore(redis).record(answer(answered, lease.bundle.requests[0]), lease)
    await registry.cancel(cancelled)
    assert await news.wait(known, 5) == {answered, cancelled}
    assert await news.wait(await news.marks([answered, cancelled, quiet, "job_none"]), 0.01) == set()


async def test_waiting_ends_with_the_first_news(redis: Redis) -> None:
    """Not with the end of the time to wait."""
    registry, news = JobRegistry(redis), JobUpdates(redis)
    job, _ = await registry.create(SPEC)
    waiting = asyncio.create_task(news.wait(await news.marks([job.id]), 60))
    await registry.cancel(job.id)
    async with asyncio.timeout(10):
        assert await waiting == {job.id}
