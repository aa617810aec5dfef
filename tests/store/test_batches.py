"""Places of batches: free with the word that one has ended, while what is left of it is still to be removed."""

import time

import pytest
from redis.asyncio import Redis

from gigavqa.contract.errors import QueueFullError, QuotaExceededError
from gigavqa.store.batches import BatchRegistry, StoredBatch, new_batch_id


def batch_of(owner: str) -> StoredBatch:
    """A batch that waits to be read."""
    now = int(time.time())
    return StoredBatch(
        id=new_batch_id(),
        endpoint="/v1/chat/completions",
        input_file_id="file-1",
        completion_window="24h",
        created_at=now,
        expires_at=now + 1000,
        owner=owner,
    )


async def test_who_sees_the_end_of_a_batch_may_start_the_next(redis: Redis) -> None:
    """Of all places and of the owner's, also where the gateway dies with the word; another one then clears up."""
    registry, first = BatchRegistry(redis), batch_of("ada")
    await registry.add(first, limit=1, owners_limit=1)
    for limit, refusal in ((1, QueueFullError), (2, QuotaExceededError)):
        with pytest.raises(refusal):
            await registry.add(batch_of("ada"), limit=limit, owners_limit=1)
    ended = first.turned("completed")
    await registry.save(ended)
    second = batch_of("ada")
    await registry.add(second, limit=1, owners_limit=1)
    assert await registry.open() == sorted([first.id, second.id])
    await registry.close(ended)
    assert await registry.open() == [second.id]
    assert await registry.get(first.id, "ada") == ended
