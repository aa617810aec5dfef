"""Webhooks of jobs: each is kept until it was delivered, whatever dies in between."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import Field
from redis.asyncio import Redis
from redis.exceptions import WatchError

from gigavqa.contract.base import Contract
from gigavqa.store.redis_keys import KEYS


class Webhook(Contract):
    """An address, the secret that what is sent there is signed with, and how often it was tried in vain."""

    url: str
    secret: str = Field(description="`whsec_` and the key in base64")
    attempts: int = 0


@dataclass(frozen=True)
class DueWebhook:
    """One that is to be looked at now, as it is kept."""

    job_id: str
    webhook: Webhook
    kept: bytes


class WebhookStore:
    """At most one webhook a job."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def put(self, job_id: str, webhook: Webhook) -> None:
        """Keep a job's webhook, in place of any before, to be looked at once."""
        async with self._redis.pipeline() as pipeline:
            pipeline.hset(KEYS.webhooks(), job_id, webhook.model_dump_json())
            pipeline.zadd(KEYS.webhooks_due(), {job_id: time.time()})
            await pipeline.execute()

    async def take_due(self, lease_seconds: float, limit: int = 1000) -> list[DueWebhook]:
        """Return those that are due, which are not due again for so long: somebody who dies with them loses none."""
        now = time.time()
        ids = await self._redis.zrangebyscore(KEYS.webhooks_due(), "-inf", now, 0, limit)
        if not ids:
            return []
        await self._redis.zadd(KEYS.webhooks_due(), dict.fromkeys(ids, now + lease_seconds), xx=True)
        found = await self._redis.hmget(KEYS.webhooks(), ids)
        pairs = [(job_id.decode(), kept) for job_id, kept in zip(ids, found, strict=True) if kept]
        return [DueWebhook(job_id, Webhook.model_validate_json(kept), kept) for job_id, kept in pairs]

    async def look_again(self, waiting: Iterable[DueWebhook], seconds: float) -> None:
        """Look at these again after so long: their jobs go on."""
        if due := dict.fromkeys((one.job_id for one in waiting), time.time() + seconds):
            await self._redis.zadd(KEYS.webhooks_due(), due, xx=True)

    async def put_off(self, due: DueWebhook, seconds: float, *, attempts: int) -> None:
        """Look at it again after so long, unless it was replaced meanwhile."""
        changed = due.webhook.model_copy(update={"attempts": attempts}).model_dump_json()
        await self._replace(due, changed, time.time() + seconds)

    async def forget(self, due: DueWebhook) -> None:
        """It is told, or will never be; one that replaced it meanwhile stays."""
        await self._replace(due, None, 0.0)

    async def _replace(self, due: DueWebhook, changed: str | None, at: float) -> None:
        async with self._redis.pipeline() as pipeline:
            await pipeline.watch(KEYS.webhooks())
            if await pipeline.hget(KEYS.webhooks(), due.job_id) != due.kept:
                return
            pipeline.multi()
            if changed is None:
                pipeline.hdel(KEYS.webhooks(), due.job_id)
                pipeline.zrem(KEYS.webhooks_due(), due.job_id)
            else:
                pipeline.hset(KEYS.webhooks(), due.job_id, changed)
                pipeline.zadd(KEYS.webhooks_due(), {due.job_id: at})
            try:
                await pipeline.execute()
            except WatchError:
                return  # another one changed at the same time; this one is looked at again when its lease is over
