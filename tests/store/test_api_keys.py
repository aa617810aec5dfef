"""API keys as they are kept, and quotas as they are counted, on every kind of server."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError
from redis.asyncio import Redis

from gigavqa.contract.errors import KeyInvalidError, KeyNotFoundError, QuotaExceededError
from gigavqa.store.api_keys import ALL_OWNERS, ApiKeys, Limits, key_id_of
from gigavqa.store.files import FileRegistry, StoredFile, new_file_id
from gigavqa.store.quotas import Quotas
from gigavqa.store.redis_keys import KEYS


async def test_a_key_is_known_again_until_it_is_revoked(redis: Redis) -> None:
    """By any process, at once; revoking it twice changes nothing, and its owner and limits come back as given."""
    keys, elsewhere = ApiKeys(redis), ApiKeys(redis)
    key, made = await keys.create("laptop", "ada", "operate", limits=Limits(queued_requests=7))
    found = await elsewhere.find(key)
    assert (found.id, found.owner, found.role, found.limits.queued_requests) == (key[4:12], "ada", "operate", 7)
    assert await elsewhere.any_valid()
    revoked = await keys.revoke(key_id_of(key))
    assert (await keys.revoke(made.id)).revoked_at == revoked.revoked_at
    with pytest.raises(KeyInvalidError, match="is revoked"):
        await elsewhere.find(key)
    assert await elsewhere.recall(made.id) is None
    assert not await elsewhere.any_valid()
    with pytest.raises(KeyNotFoundError, match="no key 12345678"):
        await keys.revoke("12345678")


async def test_keys_are_listed_with_when_they_were_used(redis: Redis) -> None:
    """Oldest first, those that open nothing any more, too; the list tells no digest."""
    keys = ApiKeys(redis)
    key, first = await keys.create("a", "ada", "read")
    _, second = await keys.create("b", "bob", "submit", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    await keys.find(key)
    listed = await keys.list()
    assert [(one.id, one.state) for one in listed] == [(first.id, "valid"), (second.id, "expired")]
    assert listed[0].last_used_at is not None
    assert listed[1].last_used_at is None
    assert not any("digest" in one.model_dump() for one in listed)


@pytest.mark.parametrize("owner", ["", "a:b", "a b", "a" * 65, "ä", "a\n", "*"])
async def test_owners_have_plain_names(redis: Redis, owner: str) -> None:
    """They stand in names of the server's keys and in lines of logs."""
    with pytest.raises(ValidationError):
        await ApiKeys(redis).create("x", owner, "read")
    assert await ApiKeys(redis).list() == []


async def test_a_rate_admits_its_minute_and_then_a_part_of_it(redis: Redis) -> None:
    """As many at once as the limit; the next one after a part of the minute, by the server's clock."""
    _, key = await ApiKeys(redis).create("x", "ada", "read", limits=Limits(requests_a_minute=20))
    rates = await asyncio.gather(*(Quotas(redis).pass_request(key) for _ in range(50)))
    admitted = [rate for rate in rates if rate and rate.admitted]
    assert sorted(rate.remaining for rate in admitted) == list(range(20))
    assert all(0 < rate.retry_after <= 3.0 for rate in rates if rate and not rate.admitted)
    paid_until = int(await redis.get(KEYS.rate(key.id)) or 0)
    await redis.set(KEYS.rate(key.id), paid_until - 3_000_000)
    again = [await Quotas(redis).pass_request(key) for _ in range(2)]
    assert [rate.admitted for rate in again if rate] == [True, False]


async def test_streams_of_a_gateway_that_died_count_no_more(redis: Redis) -> None:
    """Their time runs out; those of one that lives are renewed."""
    _, key = await ApiKeys(redis).create("x", "ada", "read", limits=Limits(open_streams=1))
    dead, alive = Quotas(redis), Quotas(redis)
    token = await dead.open_stream(key)
    with pytest.raises(QuotaExceededError, match="1 streams open"):
        await alive.open_stream(key)
    await redis.zadd(KEYS.streams(key.id), {token: 1})
    own = await alive.open_stream(key)
    await redis.zadd(KEYS.streams(key.id), {own: 1})
    await alive.renew_streams()
    with pytest.raises(QuotaExceededError):
        await dead.open_stream(key)


async def test_fifty_files_at_once_fill_an_owners_room_exactly(redis: Redis) -> None:
    """What is deleted makes room again, once; another owner's room is another, and a file that is kept again is one."""
    files = FileRegistry(redis)

    def file(owner: str, number_of_bytes: int = 100) -> StoredFile:
        told = {"filename": "x", "purpose": "batch", "created_at": 1}
        return StoredFile(id=new_file_id(), owner=owner, bytes=number_of_bytes, **told)

    async def keep(one: StoredFile) -> bool:
        try:
            await files.add(one, 1000)
        except QuotaExceededError:
            return False
        return True

    adas = [file("ada") for _ in range(50)]
    assert sum(await asyncio.gather(*map(keep, adas))) == 10
    assert await keep(file("bob"))
    assert await files.totals("ada") == (10, 1000)
    listed, _ = await files.list("ada", after=None, limit=50, purpose=None, newest_first=True)
    assert not await keep(file("ada"))
    await files.add(listed[0].model_copy(update={"bytes": 60}))
    assert await files.totals("ada") == (10, 960)
    assert [await files.remove(listed[0].id), await files.remove(listed[0].id)] == [True, False]
    assert [await keep(file("ada")), await keep(file("ada", 1))] == [True, False]
    everybodys, _ = await files.list(ALL_OWNERS, after=None, limit=50, purpose=None, newest_first=True)
    assert len(everybodys) == 11
    for one in everybodys:
        await files.remove(one.id)
    assert not await redis.keys("gigavqa:*file*")
    assert not await redis.exists(KEYS.uploaded())
