"""Chats that a client waits for: checked, queued before all batch work, and answered whole or as their text grows."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request
from pydantic import BaseModel
from redis.exceptions import RedisError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response as HttpResponse

from gigavqa.contract.errors import JobsError
from gigavqa.contract.flaws import fault_of
from gigavqa.contract.requests import Bundle, InferenceRequest
from gigavqa.contract.responses import Response
from gigavqa.runtime.errors import InstallationError
from gigavqa.service.errors import ServiceError, problem_kind
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.openai_errors import openai_error
from gigavqa.service.http.parameters import CurrentSettings, component
from gigavqa.service.http.request_context import note_job
from gigavqa.service.openai.chat_bodies import ChatJson
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.service.openai.completions import failure_error
from gigavqa.service.openai.pending_chats import FinishedAnswer, PendingChat, PendingChats, TextDelta
from gigavqa.service.openai.request_builder import RequestBuilder, chat_bundle
from gigavqa.service.operations.instrumentation import CurrentInstrumentation
from gigavqa.store.api_keys import cache_salt
from gigavqa.store.chats import new_chat_id

_PING_SECONDS = 10
_EARLY_SECONDS = 1.0
"""What goes wrong so soon is told with its status; later, the stream has begun."""

_CLIENT_CLOSED = 499  # nobody reads it; logs and metrics do


@dataclass(frozen=True)
class PreparedChat:
    """A chat that can be queued; `key` tells it from all others in the ids of what is answered."""

    bundle: Bundle
    created: int

    @property
    def key(self) -> str:
        """The part of its id that is its own."""
        return self.bundle.job_id.partition("_")[2]

    @property
    def model(self) -> str:
        """The id of its model in the catalogue."""
        return self.bundle.model

    @property
    def request(self) -> InferenceRequest:
        """The first of its requests; the others differ in their seeds."""
        return self.bundle.requests[0]


class StreamWriter(Protocol):
    """Writes what is told of a chat as the events of a stream."""

    def take(self, event: TextDelta | FinishedAnswer) -> Iterable[ServerSentEvent]:
        """Return the events that tell what is new. Raises ServiceError."""
        ...

    def end(self) -> Iterable[ServerSentEvent]:
        """Return the events behind all answers."""
        ...

    def fail(self, error: Mapping[str, str | None]) -> Iterable[ServerSentEvent]:
        """Return the events that end a stream by an error, which is given as OpenAI's object."""
        ...


class ChatService:
    """Answers the chats of one call."""

    def __init__(  # noqa: PLR0917 - FastAPI gives each by its name
        self,
        request: Request,
        caller: CurrentCaller,
        settings: CurrentSettings,
        builder: Annotated[RequestBuilder, component(RequestBuilder)],
        pending_chats: Annotated[PendingChats, component(PendingChats)],
        instrumentation: CurrentInstrumentation,
    ) -> None:
        self._request = request
        self._caller = caller
        self._settings = settings
        self._builder = builder
        self._pending_chats = pending_chats
        self._instrumentation = instrumentation

    async def prepare(self, body: ChatCompletionRequest, sent: ChatJson) -> PreparedChat:
        """Find model and pictures of a chat. Raises ModelUnknownError, ChatInvalidError and ModelUnservedError."""
        request, caller = self._request, self._caller
        entry = await self._builder.entry(body.model)
        chat_id, own = new_chat_id(), f"{request.url.scheme}://{request.headers.get('host', '')}".lower()
        note_job(request, chat_id)
        requests = await self._builder.requests(body, entry, sent, chat_id, own=own, owner=caller.sees)
        await self._builder.require_served(entry)
        salt = cache_salt(caller.owner, self._settings.cache_sharing)
        listener = self._pending_chats.channel if body.stream else None
        self._instrumentation.submitted.labels(entry.id).inc(len(requests))
        return PreparedChat(chat_bundle(chat_id, requests, listener=listener, salt=salt), int(time.time()))

    async def whole(self, chat: PreparedChat, write: Callable[[Mapping[int, Response]], BaseModel]) -> HttpResponse:
        """Return what is written of all answers; none is made any more when the client has left."""
        patience = self._settings.chat_room_seconds
        async with self._pending_chats.of(chat.bundle, self._caller.as_owner, patience) as pending:
            return await _cancel_on_disconnect(self._request, _collect(pending, write))

    async def stream(self, chat: PreparedChat, writer: StreamWriter) -> HttpResponse:
        """Return a stream of what the writer makes of the answers as they grow."""
        events = self._events(chat, writer)
        first = asyncio.ensure_future(anext(events))
        await asyncio.wait({first}, timeout=_EARLY_SECONDS)
        if first.done() and (error := first.exception()):
            raise error
        stream = self._instrumentation.open_stream("chats", _with_failures(first, events, writer))
        return EventSourceResponse(stream, ping=_PING_SECONDS, sep="\n")

    async def _events(self, chat: PreparedChat, writer: StreamWriter) -> AsyncGenerator[ServerSentEvent, None]:
        async with self._pending_chats.of(chat.bundle, self._caller.as_owner) as pending:
            async for event in pending.events():
                if isinstance(event, FinishedAnswer):
                    _require_answer(event)
                for told in writer.take(event):
                    yield told
        for told in writer.end():
            yield told


CurrentChats = Annotated[ChatService, Depends()]
"""What a route declares to answer chats."""


async def _collect(pending: PendingChat, write: Callable[[Mapping[int, Response]], BaseModel]) -> BaseModel:
    ended: dict[int, Response] = {}
    async for event in pending.events():
        if isinstance(event, FinishedAnswer):
            ended[event.number] = _require_answer(event)
    return write(ended)


async def _with_failures(
    first: "asyncio.Future[ServerSentEvent]", events: AsyncGenerator[ServerSentEvent, None], writer: StreamWriter
) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events; what goes wrong after the first one is told by events, too."""
    try:
        yield await first
        async for event in events:
            yield event
    except (ServiceError, InstallationError, JobsError, RedisError) as error:
        for event in writer.fail(openai_error(problem_kind(error), str(error))["error"]):
            yield event
    finally:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await events.aclose()


def _require_answer(ended: FinishedAnswer) -> Response:
    """Return the response, if it is an answer; raises what its failure is to whoever asked."""
    if failure := fault_of(ended.response):
        raise failure_error(failure)
    return ended.response


async def _cancel_on_disconnect(request: Request, answering: Coroutine[None, None, BaseModel]) -> HttpResponse:
    """Return the answer; none is made any more when the client has left."""
    answer, left = asyncio.ensure_future(answering), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            return HttpResponse(status_code=_CLIENT_CLOSED)
        return HttpResponse(answer.result().model_dump_json(), media_type="application/json")
    finally:
        for each in (answer, left):
            each.cancel()
        await asyncio.gather(answer, left, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
