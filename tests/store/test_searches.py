"""Each search of a job has one result, whoever asked first."""

from redis.asyncio import Redis

from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.searches import SearchRecord, SearchStore, search_key
from tests.store.examples import SPEC

CRANES = search_key("demo/corpus", "d1", "extractive/1", "起重机 cranes\0?", 3)


async def test_the_first_result_of_a_search_is_everybodys(redis: Redis) -> None:
    """Also of who came to another one meanwhile; other searches and other jobs have their own."""
    (one, _), (other, _) = [await JobRegistry(redis).create(SPEC) for _ in range(2)]
    store, first, second = (
        SearchStore(redis),
        SearchRecord(text="1911", documents=("d-1", "d-2")),
        SearchRecord(text="1912"),
    )
    assert await store.keep(one.id, CRANES, first) == first
    assert await store.keep(one.id, CRANES, second) == first
    assert await store.claim(one.id, CRANES, "", "w") == (first, "w")
    assert await store.keep(other.id, CRANES, second) == second
    others = {search_key("demo/corpus", "d1", "extractive/1", "cranes", number) for number in (3, 4)}
    assert len(others | {CRANES, search_key("demo/corpus", "d2", "extractive/1", "cranes", 3)}) == 4


async def test_nothing_is_kept_of_a_job_that_is_gone(redis: Redis) -> None:
    """A chat that still plays is shown what it found, and leaves no key behind."""
    found = SearchRecord(text="1911")
    assert await SearchStore(redis).keep("job_gone", CRANES, found) == found
    assert not [key async for key in redis.scan_iter("*job_gone*")]


async def test_one_asks_for_a_search_and_others_may_only_take_his_place(redis: Redis) -> None:
    """Whoever knows who asks can stand in: to say again that he asks, to give up, or for one who is gone."""
    job, _ = await JobRegistry(redis).create(SPEC)
    store = SearchStore(redis)
    said = [("", "a/0"), ("", "b/0"), ("a/1", "b/0"), ("a/0", "a/1"), ("a/1", "b/0"), ("a/1", "a/2"), ("b/0", "")]
    told = [await store.claim(job.id, CRANES, before, asker) for before, asker in said]
    assert told == [(None, asker) for asker in ("a/0", "a/0", "a/0", "a/1", "b/0", "b/0", "")]
    assert await store.claim(job.id, CRANES, "", "c/0") == (None, "c/0")
    await store.keep(job.id, CRANES, SearchRecord(text="1911"))
    assert not await redis.exists(KEYS.searching(job.id))


async def test_everybody_may_ask_for_a_job_that_is_gone(redis: Redis) -> None:
    """Nobody waits for another one there, and nothing is written."""
    store = SearchStore(redis)
    assert [(await store.claim("job_gone", CRANES, "", asker))[1] for asker in ("a", "b")] == ["a", "b"]
    assert not [key async for key in redis.scan_iter("*job_gone*")]
