"""Workers that search for the same in one job: one of them asks, whatever happens to the others."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.retrieval.errors import SourceFailedError
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.searches import SearchStore, search_key
from gigavqa.workers.tools.searches import SearchExecutor, SearchOutcome
from tests.waiting import async_wait_until
from tests.workers.examples import create_job
from tests.workers.tool_chats import LOOK_UP, CountingSource, write_pages

LEASE_SECONDS = 1.0


class Fleet:
    """So many workers that search in one source, and how their searches came out."""

    def __init__(self, redis: Redis, folder: Path, job_id: str, workers: int = 2) -> None:
        self.source = CountingSource(write_pages(folder / "pages"), folder / "indexes")
        self.outcomes = Counter[SearchOutcome]()
        self.store = SearchStore(redis)
        self._redis = redis
        self._job_id = job_id
        self._workers = [
            SearchExecutor(
                self.source.sources, self.store, LEASE_SECONDS, lambda outcome: self.outcomes.update([outcome])
            )
            for _ in range(workers)
        ]

    def ask(self, worker: int, query: str = "cranes") -> "asyncio.Task[tuple[str, bool]]":
        """Let one of them search; gives the text, and whether it was known."""
        return asyncio.create_task(self._ask(worker, query))

    async def _ask(self, worker: int, query: str) -> tuple[str, bool]:
        searched = await self._workers[worker].search(self._job_id, LOOK_UP, query)
        return searched.found.text, searched.cached

    async def until_said(self, times: int) -> None:
        """Wait until who asks has said so many times that he still does."""

        async def said() -> bool:
            told = await self._redis.hvals(KEYS.searching(self._job_id))
            return bool(told) and int(told[0].split(b"/")[1]) >= times

        await async_wait_until(said, what="who asks")

    def key(self, query: str = "cranes") -> str:
        """Name of a search."""
        return search_key(LOOK_UP.source, self.source.version, self.source.summarizer, query, LOOK_UP.top_k)


@pytest.fixture
async def job_id(redis: Redis) -> str:
    """A job without requests."""
    return await create_job(redis)


async def test_workers_that_ask_at_once_ask_once(redis: Redis, tmp_path: Path, job_id: str) -> None:
    """Eight of them, each for the same five things: each is asked for once, by one, and told to all."""
    fleet, queries = Fleet(redis, tmp_path, job_id, 8), [f"crane {number}" for number in range(5)]
    told = await asyncio.gather(*(fleet.ask(worker, query) for worker in range(8) for query in queries))
    assert Counter(fleet.source.asked) == dict.fromkeys(queries, 1)
    assert sorted(cached for _, cached in told) == [False] * 5 + [True] * 35
    assert fleet.outcomes == {"asked": 5, "known": 35}
    assert not await redis.exists(KEYS.searching(job_id))


@pytest.mark.slow
async def test_who_takes_long_is_waited_for(redis: Redis, tmp_path: Path, job_id: str) -> None:
    """Longer than a lease, as long as he is heard of."""
    fleet = Fleet(redis, tmp_path, job_id)
    fleet.source.may_answer.clear()
    first = fleet.ask(0)
    await fleet.until_said(1)
    second = fleet.ask(1)
    await fleet.until_said(8)
    fleet.source.may_answer.set()
    assert ((await first)[1], (await second)[1], fleet.source.asked) == (False, True, ["cranes"])


async def test_the_place_of_who_is_gone_is_taken_by_one(redis: Redis, tmp_path: Path, job_id: str) -> None:
    """Of all that wait; it is counted, and what is kept is theirs."""
    fleet = Fleet(redis, tmp_path, job_id, 4)
    await fleet.store.claim(job_id, fleet.key(), "", "killed/7")
    told = await asyncio.gather(*(fleet.ask(worker) for worker in range(4)))
    assert (fleet.source.asked, fleet.outcomes) == (["cranes"], {"asked_again": 1, "known": 3})
    assert len({text for text, _ in told}) == 1


async def test_who_fails_is_followed_at_once(redis: Redis, tmp_path: Path, job_id: str) -> None:
    """Each who waits asks for himself, and fails by himself; one that is broken off leaves its place, too."""
    fleet = Fleet(redis, tmp_path, job_id)
    fleet.source.error = SourceFailedError("it is down")
    told = await asyncio.gather(fleet.ask(0), fleet.ask(1), return_exceptions=True)
    assert [type(one) for one in told] == [SourceFailedError] * 2
    assert (fleet.source.asked, fleet.outcomes) == (["cranes"] * 2, {"failed": 2})
    assert not await redis.exists(KEYS.searching(job_id))
    fleet.source.error = None
    await fleet.ask(0)
    assert fleet.outcomes["asked"] == 1


async def test_a_job_that_is_deleted_keeps_nobody_waiting(redis: Redis, tmp_path: Path, job_id: str) -> None:
    """Chats that still play are shown what they find."""
    fleet = Fleet(redis, tmp_path, job_id)
    await fleet.store.claim(job_id, fleet.key(), "", "killed/7")
    await JobRegistry(redis).cancel(job_id)
    await JobRegistry(redis).delete(job_id)
    assert [(await fleet.ask(worker))[1] for worker in range(2)] == [False, False]
    assert not await redis.exists(KEYS.searching(job_id), KEYS.searches(job_id))
