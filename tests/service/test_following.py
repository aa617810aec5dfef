"""Many followers of a job cost the server one look at a time, and hear of everything."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis as AsyncRedis

from gigavqa.service.http.parameters import BEGINNING
from gigavqa.service.results.events import JobFollowers, follow_events
from gigavqa.service.results.readers import ResultReaders
from gigavqa.service.results.responses import follow_pages
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.job_updates import JobUpdates
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from tests.store.examples import SPEC, answer, make_request
from tests.waiting import async_wait_until

FOLLOWERS = 100


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[AsyncRedis]:
    """A client of an empty server."""
    client = connect(redis_url)
    yield client
    await client.aclose()


async def follow(redis: AsyncRedis, followers: JobFollowers, job_id: str, read: list[str]) -> None:
    """Note every response of a job until its end."""
    parts = (ResultStore(redis), JobRegistry(redis), followers)
    with ResultReaders().reader() as reader:
        async for page in follow_pages(*parts, job_id, reader, after=BEGINNING, stopping=asyncio.Event()):
            read += [response.request_id for _, response in page]


async def calls(redis: AsyncRedis, command: str) -> int:
    """How often the server has carried out a command since its statistics began."""
    return int((await redis.info("commandstats")).get(f"cmdstat_{command}", {"calls": 0})["calls"])


async def test_followers_of_a_quiet_job_cost_one_look_for_all(redis: AsyncRedis) -> None:
    """While a hundred wait, the server is asked by one of them: five looks later nobody has asked for himself."""
    job, _ = await JobRegistry(redis).create(SPEC)
    await redis.config_resetstat()
    followers = JobFollowers(JobUpdates(redis), JobRegistry(redis), 0.02)
    looking = asyncio.create_task(followers.run())
    tasks = [asyncio.create_task(follow(redis, followers, job.id, [])) for _ in range(FOLLOWERS)]

    async def all_have_read() -> bool:
        return await calls(redis, "xrange") >= FOLLOWERS

    await async_wait_until(all_have_read, what="every follower's first read")
    looks = await calls(redis, "xread")

    async def looked_again() -> bool:
        return await calls(redis, "xread") >= looks + 5

    await async_wait_until(looked_again, what="five looks of the loop")
    assert (await calls(redis, "hget"), await calls(redis, "xrange")) == (FOLLOWERS, FOLLOWERS)
    await JobRegistry(redis).cancel(job.id)
    await asyncio.gather(*tasks)
    looking.cancel()


async def test_every_follower_hears_of_every_response(redis: AsyncRedis) -> None:
    """Those who came before the first, those who came between, and those of a job that is cancelled or deleted."""
    registry, results = JobRegistry(redis), ResultStore(redis)
    job, _ = await registry.create(SPEC)
    other, _ = await registry.create(SPEC)
    followers = JobFollowers(JobUpdates(redis), JobRegistry(redis), 0.01)
    looking = asyncio.create_task(followers.run())
    early, late, others = [list[str]() for _ in range(3)]
    tasks = [asyncio.create_task(follow(redis, followers, job.id, early))]
    tasks += [asyncio.create_task(follow(redis, followers, other.id, others))]
    for number in range(30):
        await results.record(answer(job.id, make_request(number)), None)
        if number == 15:
            await async_wait_until(lambda: _grown(early), what="the first responses")
            tasks += [asyncio.create_task(follow(redis, followers, job.id, late))]
    await async_wait_until(lambda: _grown(late, 30), what="all responses")
    await registry.cancel(job.id)
    await registry.cancel(other.id)
    await asyncio.gather(*tasks)
    assert early == late == [f"r{number}" for number in range(30)]
    assert others == []
    looking.cancel()


async def watch(
    redis: AsyncRedis, followers: JobFollowers, job_id: str, told: list[str], after: str = BEGINNING
) -> None:
    """Note the id of every event of a job until its end."""
    events = follow_events(JobRegistry(redis), followers, job_id, after=after, stopping=asyncio.Event())
    async for event in events:
        told += [event.id]


async def many_watch(
    redis: AsyncRedis, followers: JobFollowers, job_id: str
) -> tuple[list[list[str]], list[asyncio.Task[None]]]:
    """Let a hundred watch a job, each of whom has had its first event; return what each is told, and their tasks."""
    told = [list[str]() for _ in range(FOLLOWERS)]
    tasks = [asyncio.create_task(watch(redis, followers, job_id, one)) for one in told]
    await async_wait_until(lambda: _all(told), what="every watcher's first event")
    return told, tasks


async def commands(redis: AsyncRedis) -> int:
    """How many commands the server has carried out."""
    return int((await redis.info("stats"))["total_commands_processed"])


async def test_idle_watchers_cost_as_much_as_one(redis: AsyncRedis) -> None:
    """While a hundred wait for events of a quiet job, ten looks of the loop are ten commands, and no more."""
    job, _ = await JobRegistry(redis).create(SPEC)
    followers = JobFollowers(JobUpdates(redis), JobRegistry(redis), 0.02)
    looking = asyncio.create_task(followers.run())
    told, tasks = await many_watch(redis, followers, job.id)
    looks, before = await calls(redis, "xread"), await commands(redis)

    asked = 0

    async def looked_again() -> bool:
        nonlocal asked
        asked += 1
        return await calls(redis, "xread") >= looks + 10

    await async_wait_until(looked_again, what="ten looks of the loop")
    looked = await calls(redis, "xread") - looks
    assert await commands(redis) - before <= looked + asked + 5
    await JobRegistry(redis).fail(job.id, [])
    await asyncio.gather(*tasks)
    assert all(one == told[0] for one in told)
    looking.cancel()


async def test_events_are_read_once_for_all_who_watch(redis: AsyncRedis) -> None:
    """Fifty events come to a hundred watchers, each once and in order, by fewer reads than there are watchers."""
    job, _ = await JobRegistry(redis).create(SPEC)
    followers = JobFollowers(JobUpdates(redis), JobRegistry(redis), 0.02)
    looking = asyncio.create_task(followers.run())
    told, tasks = await many_watch(redis, followers, job.id)
    reads = await calls(redis, "xrange")
    for _ in range(50):
        await redis.xadd(KEYS.events(job.id), {"kind": "progress", "data": '{"status": "validating"}'})
    await async_wait_until(lambda: _all(told, 51), what="all events")
    assert await calls(redis, "xrange") - reads < FOLLOWERS
    await JobRegistry(redis).fail(job.id, [])
    await asyncio.gather(*tasks)
    ids = [event.id for event in await JobRegistry(redis).events(job.id)]
    assert len(ids) == 52
    assert all(one == ids for one in told)
    late = list[str]()
    await watch(redis, followers, job.id, late, after=ids[20])
    assert late == ids[21:]
    looking.cancel()


async def _all(told: list[list[str]], number: int = 1) -> bool:
    return all(len(one) >= number for one in told)


async def _grown(read: list[str], number: int = 1) -> bool:
    return len(read) >= number
