"""Chats that somebody waits for: jobs of one bundle that stand in no list, and go when nobody waits any more."""

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence

from redis.asyncio import Redis

from gigavqa.contract.codec import pack
from gigavqa.contract.errors import (
    JobActiveError,
    JobNotFoundError,
    JobTooLargeError,
    QueueFullError,
    QuotaExceededError,
)
from gigavqa.contract.jobs import JobSpec, JobStatus
from gigavqa.contract.requests import Bundle
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.store.api_keys import NO_OWNER, Owner
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.lua_scripts import LuaScripts, PackedBundle
from gigavqa.store.queue import interactive_limit_error
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore

CHAT_ID_PREFIX = "chat_"
"""What ids of chats begin with."""

_RETRY_AFTER_SECONDS = 5.0
_KEEPALIVE_SECONDS = 60.0  # a chat that no gateway confirms so long is deleted: decision 0003
"""A chat whose gateway has not said for so long that somebody waits is given up."""


def new_chat_id() -> str:
    """Make the id of a chat."""
    return f"{CHAT_ID_PREFIX}{secrets.token_hex(12)}"


class Chats:
    """The chats of all gateways. What is recorded of one stays until `leave`, so nothing is lost while a client waits.

    A gateway says with `keep` whose clients still wait; `give_up` ends the others.
    """

    def __init__(self, redis: Redis, *, limit_requests: int) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)
        self._registry = JobRegistry(redis)
        self._results = ResultStore(redis)
        self._limit = limit_requests

    async def ask(self, bundle: Bundle, channel: str, owner: Owner = NO_OWNER) -> None:
        """Queue a chat of an owner's; `channel` hears of it. Safe to repeat.

        Raises QueueFullError and QuotaExceededError.
        """
        lane = KEYS.queue(bundle.model, bundle.priority)
        shown = bundle.image if any(request.views for request in bundle.requests) else ""
        packed = PackedBundle(bundle.id, len(bundle.requests), bundle.model, lane, shown, pack(bundle))
        spec = JobSpec(dataset="", models=(bundle.model,), priority=bundle.priority)
        asked = await self._calls.ask(
            packed,
            bundle.job_id,
            limit=self._limit,
            spec=spec.model_dump_json(),
            until=time.time() + _KEEPALIVE_SECONDS,
            kind="chat",
            channel=channel,
            owner=owner.name or "",
            owners_limits=(owner.queued_requests, owner.interactive_requests),
        )
        if asked == "full":
            raise QueueFullError(f"the queue holds {self._limit} requests, and is full", _RETRY_AFTER_SECONDS)
        if asked == "interactive":
            raise interactive_limit_error("the chat", packed.num_requests, owner.interactive_requests or 0)
        if asked == "quota":
            if owner.queued_requests is not None and packed.num_requests > owner.queued_requests:
                message = f"the chat has {packed.num_requests} answers; {owner.name} may have {owner.queued_requests}"
                raise JobTooLargeError(message)
            message = f"{owner.name} may have {owner.queued_requests} requests in the queue, and has them"
            raise QuotaExceededError(message, _RETRY_AFTER_SECONDS)

    def fits(self, bundle: Bundle) -> bool:
        """Return whether an empty queue has room for a chat."""
        return len(bundle.requests) <= self._limit

    async def answers(
        self, chat_id: str, request_ids: Sequence[str]
    ) -> tuple[JobStatus | None, Mapping[str, Response | UnreadableResponse]]:
        """Return the status of a chat, None where it is gone, and what is recorded of these requests by now."""
        status = await self._registry.status(chat_id)
        found = await self._results.read_of(chat_id, request_ids)
        # What is recorded between the look for texts and the one for pointers seems to have lost its text.
        seeming = [id_ for id_, each in found.items() if isinstance(each, UnreadableResponse)]
        found = {**found, **await self._results.read_of(chat_id, seeming)}
        return status, found

    async def keep(self, chat_ids: Iterable[str]) -> None:
        """Say that somebody waits for these chats."""
        if kept := dict.fromkeys(chat_ids, time.time() + _KEEPALIVE_SECONDS):
            await self._redis.zadd(KEYS.chats(), kept, xx=True)

    async def leave(self, chat_id: str) -> None:
        """End a chat that nobody waits for: what is being generated is aborted, what is recorded deleted."""
        try:
            job = await self._registry.cancel(chat_id)
            if job.status.final:
                await self._registry.delete(chat_id)
            else:  # a worker holds it, and will give it up
                await self._redis.zadd(KEYS.chats(), {chat_id: time.time()}, xx=True)
        except JobActiveError:  # a worker began it meanwhile
            return
        except JobNotFoundError:
            await self._redis.zrem(KEYS.chats(), chat_id)

    async def give_up(self) -> int:
        """End the chats that nobody waits for any more; returns how many there were. To be run periodically."""
        due = await self._redis.zrangebyscore(KEYS.chats(), "-inf", time.time(), 0, 1000)
        for chat_id in due:
            await self.leave(chat_id.decode())
        return len(due)
