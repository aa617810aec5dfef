"""Chats that clients of this gateway wait for: queued, followed while they are written, and ended with their client."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from redis.asyncio import Redis

from gigavqa.contract.errors import QueueFullError
from gigavqa.contract.flaws import fault_of
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.requests import Bundle
from gigavqa.contract.responses import Response, TokenLogprob, UnreadableResponse
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import AnswerFailedError
from gigavqa.service.operations.background import BackgroundTasks
from gigavqa.store.api_keys import Owner
from gigavqa.store.chats import Chats
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.streaming import TokenChunk, subscribe

_LISTENING_SECONDS = 5.0
_ROOM_SECONDS = 0.5  # an unstreamed chat waits for room: decision 0003
"""Between two looks whether a full queue has room."""


@dataclass
class TextDelta:
    """Text that is new of one of a chat's answers, or logprobs of tokens that wrote none."""

    number: int
    text: str
    logprobs: Sequence[TokenLogprob] = ()


@dataclass
class FinishedAnswer:
    """The outcome of one of a chat's answers; all its text was published before."""

    number: int
    response: Response


@dataclass
class _AnswerProgress:
    """One answer: what its present attempt has said by now, and how much of that was told."""

    now: str = ""
    told: str = ""
    logprobs: list[TokenLogprob] = field(default_factory=list)
    told_logprobs: int = 0

    def take(self, piece: TokenChunk) -> None:
        """Take a piece. One behind a gap is left out: the recorded response has what is missing."""
        if piece.at == 0:
            self.now, self.logprobs = "", []
        if piece.at == len(self.now):
            self.now += piece.text
            self.logprobs += piece.logprobs or ()

    def untold(self, number: int) -> TextDelta | None:
        """Return what can be told beyond what was; nothing while an attempt after a crash has not come so far again."""
        if not self.now.startswith(self.told):
            return None
        delta = TextDelta(number, self.now[len(self.told) :], self.logprobs[self.told_logprobs :])
        if not delta.text and not delta.logprobs:
            return None
        self.told, self.told_logprobs = self.now, max(self.told_logprobs, len(self.logprobs))
        return delta


class PendingChat:
    """One chat that a client waits for. What is told of it is read with `events`, by one reader."""

    def __init__(self, chats: Chats, bundle: Bundle, ask: Callable[[], Awaitable[None]]) -> None:
        self._chats = chats
        self._ask = ask
        self._id = bundle.job_id
        self._numbers = {request.id: number for number, request in enumerate(bundle.requests)}
        self._writing = [_AnswerProgress() for _ in bundle.requests]
        self._news = asyncio.Event()
        self._look = True
        self._touched: set[int] = set()
        self._is_over = False
        self._is_in_doubt = False

    def hear(self, piece: TokenChunk) -> None:
        """Take what is told on the channel."""
        number = self._numbers.get(piece.request)
        if number is None:  # of the chat as a whole: something of it is recorded
            self._look = True
        else:
            self._writing[number].take(piece)
            self._touched.add(number)
        self._news.set()

    def look(self) -> None:
        """Look whether there is an answer, though nothing was told of it."""
        self._look = True
        self._news.set()

    def end(self) -> None:
        """Wait no longer."""
        self._is_over = True
        self._news.set()

    async def events(self) -> AsyncIterator[TextDelta | FinishedAnswer]:
        """Yield what is new as it comes, until every answer has ended. Raises AnswerFailedError.

        Raises StateStoreUnavailableError when the gateway ends.
        """
        while True:
            await self._news.wait()
            self._news.clear()
            for number in sorted(self._touched):
                if delta := self._writing[number].untold(number):
                    yield delta
            self._touched.clear()
            if self._look:
                self._look = False
                status, found = await self._chats.answers(self._id, list(self._numbers))
                for event in self._ends(found):
                    yield event
                if not self._numbers:
                    return
                await self._require_going_on(status)
            if self._is_over:
                raise StateStoreUnavailableError("the gateway ends; ask again")

    async def _require_going_on(self, status: JobStatus | None) -> None:
        """Ask again what is gone though somebody waits: the server came back without it."""
        if status is None:
            try:
                await self._ask()
            except QueueFullError as error:
                raise AnswerFailedError(f"the server lost the chat, and {error}") from error
        elif status is JobStatus.COMPLETED and not self._is_in_doubt:  # lost between the looks at both
            self._is_in_doubt = True
            self.look()
        elif status.final or status is JobStatus.CANCELLING:
            raise AnswerFailedError("the chat was given up before it was answered")

    def _ends(self, found: Mapping[str, Response | UnreadableResponse]) -> list[TextDelta | FinishedAnswer]:
        events: list[TextDelta | FinishedAnswer] = []
        for request_id, response in found.items():
            number = self._numbers.pop(request_id)
            if isinstance(response, UnreadableResponse):
                raise AnswerFailedError(response.unreadable)
            if fault_of(response) is None:
                events += self._rest(number, response)
            events.append(FinishedAnswer(number, response))
        return events

    def _rest(self, number: int, response: Response) -> list[TextDelta | FinishedAnswer]:
        """Return what was not told of an answer. Raises AnswerFailedError where what was told is not how it begins."""
        writing, answer = self._writing[number], response.turns[-1]
        writing.now, writing.logprobs = answer.text, list(answer.logprobs or ())
        if not answer.text.startswith(writing.told):
            raise AnswerFailedError(
                "what was told was broken off, and the answer begun anew reads otherwise; ask again"
            )
        delta = writing.untold(number)
        return [delta] if delta else []


class PendingChats:
    """All chats that clients of this gateway wait for."""

    def __init__(self, redis: Redis, chats: Chats, background: BackgroundTasks) -> None:
        self._redis = redis
        self._chats = chats
        self._background = background
        self._waiting: dict[str, PendingChat] = {}
        self._listening = asyncio.Event()
        self._ending = False
        self.channel = KEYS.listener(secrets.token_hex(8))

    async def run(self) -> None:
        """Hear what is told of the chats; to be run again when it fails."""
        try:
            async for pieces in subscribe(self._redis, self.channel):
                if not pieces:
                    self._listening.set()
                    self._look_at_all()  # what was told meanwhile was told to nobody
                for piece in pieces:
                    if waiting := self._waiting.get(piece.chat):
                        waiting.hear(piece)
        finally:
            self._listening.clear()

    async def keep(self) -> None:
        """Say that the clients still wait, and end what nobody waits for; to be run periodically."""
        self._look_at_all()
        await self._chats.keep(list(self._waiting))
        await self._chats.give_up()

    @asynccontextmanager
    async def of(self, bundle: Bundle, owner: Owner, patience: float = 0.0) -> AsyncIterator[PendingChat]:
        """Queue a chat of an owner's, and wait for it; it is ended with the block.

        Where the queue is full it waits for room, for `patience` seconds. Raises QueueFullError.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LISTENING_SECONDS):
                await self._listening.wait()
        ask = partial(self._chats.ask, bundle, self.channel, owner)
        waiting = self._waiting[bundle.job_id] = PendingChat(self._chats, bundle, ask)
        try:
            await self._queue(bundle, ask, time.monotonic() + patience)
            yield waiting
        finally:
            del self._waiting[bundle.job_id]
            self._background.once("chats", partial(self._chats.leave, bundle.job_id))

    async def _queue(self, bundle: Bundle, ask: Callable[[], Awaitable[None]], until: float) -> None:
        while True:
            try:
                return await ask()
            except QueueFullError:
                if not self._chats.fits(bundle) or time.monotonic() + _ROOM_SECONDS > until or self._ending:
                    raise
            await asyncio.sleep(_ROOM_SECONDS)

    async def end_with(self, stopping: asyncio.Event) -> None:
        """End all chats when the gateway begins to stop; their clients ask another one."""
        await stopping.wait()
        self._ending = True
        for waiting in self._waiting.values():
            waiting.end()

    def __len__(self) -> int:
        """How many they are."""
        return len(self._waiting)

    def _look_at_all(self) -> None:
        for waiting in self._waiting.values():
            waiting.look()
