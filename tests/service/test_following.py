"""Many followers of a job cost the server one look at a time, and hear of everything."""

import asyncio

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from jobs.connection import connect
from jobs.news import JobNews
from jobs.registry import JobRegistry
from jobs.results import ResultStore
from service.following import Followers
from service.results import BEGINNING, followed_pages
from tests.jobs.examples import SPEC, answer, make_request
from tests.waiting import async_wait_until

FOLLOWERS = 100


@pytest.fixture
async def redis(redis_url: str):  # type: ignore[no-untyped-def]
    """A client of an empty server."""
    client = connect(redis_url)
    yield client
    await client.aclose()


async def follow(redis: AsyncRedis, followers: Followers, job_id: str, read: list[str]) -> None:
    """Note every response of a job until its end."""
    parts = (ResultStore(redis), JobRegistry(redis), followers)
    async for page in followed_pages(*parts, job_id, after=BEGINNING, stopping=asyncio.Event()):
        read += [response.request_id for _, response in page]


def calls(redis_url: str) -> int:
    """Commands that the server has carried out."""
    with Redis.from_url(redis_url) as client:
        return int(client.info("stats")["total_commands_processed"])


async def test_followers_of_a_quiet_job_cost_one_look_for_all(redis: AsyncRedis, redis_url: str) -> None:
    """While a hundred wait, the server is asked a few times, not a few times for each."""
    job, _ = await JobRegistry(redis).create(SPEC)
    followers = Followers(JobNews(redis), 0.02)
    looking = asyncio.create_task(followers.run())
    tasks = [asyncio.create_task(follow(redis, followers, job.id, [])) for _ in range(FOLLOWERS)]
    # Ten rounds of a loop that waits as the followers' own does.
    await async_wait_until(lambda: _settled(redis_url), what="an end of the followers' first looks")
    before = calls(redis_url)
    for _ in range(10):
        await JobNews(redis).wait(await JobNews(redis).marks([job.id]), 0.02)
    assert calls(redis_url) - before < FOLLOWERS
    await JobRegistry(redis).cancel(job.id)
    await asyncio.gather(*tasks)
    looking.cancel()


async def _settled(redis_url: str) -> bool:
    before = calls(redis_url)
    await asyncio.sleep(0.05)
    return calls(redis_url) - before < FOLLOWERS


async def test_every_follower_hears_of_every_response(redis: AsyncRedis) -> None:
    """Those who came before the first, those who came between, and those of a job that is cancelled or deleted."""
    registry, results = JobRegistry(redis), ResultStore(redis)
    job, _ = await registry.create(SPEC)
    other, _ = await registry.create(SPEC)
    followers = Followers(JobNews(redis), 0.01)
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


async def _grown(read: list[str], number: int = 1) -> bool:
    return len(read) >= number
