"""Chat completions: asked as OpenAI's clients ask, answered whole or as the text grows."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Request
from redis.exceptions import RedisError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response as HttpResponse

from catalogue.errors import ModelUnknownError
from jobs.access import Owner, cache_salt
from jobs.chats import new_chat_id
from jobs.errors import JobsError, JobTooLargeError, QueueFullError, QuotaExceededError, ServerUnavailableError
from jobs.flaws import fault_of
from jobs.models import Bundle, Response
from service.errors import (
    AnswerFailedError,
    BodyTooLargeError,
    ChatInvalidError,
    ContextTooSmallError,
    FileMissingError,
    ForeignOriginError,
    ModelUnservedError,
    ServiceError,
    kind_of,
)
from service.http.auth import CurrentCaller, StreamPlace
from service.http.brought import note_job
from service.http.openapi import example, json_body, openai_errors
from service.http.parameters import CurrentSettings, part
from service.http.problems import openai_error
from service.openai import examples
from service.openai.asked import ChatAsked
from service.openai.bodies import ChatBodies
from service.openai.completions import Completion, Told, failed
from service.openai.composing import Composer, bundle_of, read_asked
from service.openai.conversations import Conversations, Delta, Ended, Waiting
from service.operations.instrumentation import CurrentInstrumentation

router = APIRouter(prefix="/v1/chat/completions", tags=["openai"])
_PING_SECONDS = 10
_EARLY_SECONDS = 1.0
"""What goes wrong so soon is told with its status; later, the stream has begun."""

_LEFT = 499  # nobody reads it; logs and metrics do


@router.post(
    "",
    summary="Answer a chat",
    response_model=None,
    dependencies=[StreamPlace],
    openapi_extra=json_body(ChatAsked),
    responses={
        200: {"model": Completion, **example(examples.COMPLETION, description="The answer, or a stream of chunks")},
        **openai_errors(
            ChatInvalidError,
            ContextTooSmallError,
            ModelUnknownError,
            FileMissingError,
            ForeignOriginError,
            BodyTooLargeError,
            JobTooLargeError,
            QueueFullError,
            QuotaExceededError,
            ModelUnservedError,
            AnswerFailedError,
            ServerUnavailableError,
            body=True,
        ),
    },
)
async def create_chat_completion(
    *,
    request: Request,
    caller: CurrentCaller,
    settings: CurrentSettings,
    bodies: Annotated[ChatBodies, part(ChatBodies)],
    composer: Annotated[Composer, part(Composer)],
    conversations: Annotated[Conversations, part(Conversations)],
    instrumentation: CurrentInstrumentation,
) -> HttpResponse:
    """Play a chat before all batch work, on the workers of its model; what a leaving client asked for is aborted."""
    sent = await bodies.read(request.stream(), caller.sees)
    asked = read_asked(sent.body)
    entry = await composer.entry(asked.model)
    chat_id, own = new_chat_id(), f"{request.url.scheme}://{request.headers.get('host', '')}".lower()
    note_job(request, chat_id)
    requests = await composer.requests(asked, entry, sent, chat_id, own=own, owner=caller.sees)
    await composer.require_served(entry)
    salt = cache_salt(caller.owner, settings.cache_sharing)
    bundle = bundle_of(chat_id, requests, listener=conversations.channel if asked.stream else None, salt=salt)
    instrumentation.submitted.labels(entry.id).inc(len(requests))
    told = Told(chat_id, int(time.time()), entry.id, with_usage=asked.includes_usage)
    if not asked.stream:
        async with conversations.of(bundle, caller.as_owner, settings.chat_room_seconds) as waiting:
            return await _unless_left(request, _whole(waiting, told))
    chunks = _chunks(conversations, bundle, caller.as_owner, told, asked)
    first = asyncio.ensure_future(anext(chunks))
    await asyncio.wait({first}, timeout=_EARLY_SECONDS)
    if first.done() and (error := first.exception()):
        raise error
    stream = instrumentation.open_stream("chats", _sent(first, chunks))
    return EventSourceResponse(stream, ping=_PING_SECONDS, sep="\n")


async def _whole(waiting: Waiting, told: Told) -> Completion:
    ended: dict[int, Response] = {}
    async for event in waiting.events():
        if isinstance(event, Ended):
            ended[event.number] = _answered(event)
    return told.whole(ended)


async def _chunks(
    conversations: Conversations, bundle: Bundle, owner: Owner, told: Told, asked: ChatAsked
) -> AsyncGenerator[dict[str, Any], None]:
    begun: set[int] = set()
    ended: list[Response] = []
    async with conversations.of(bundle, owner) as waiting:
        async for event in waiting.events():
            response = _answered(event) if isinstance(event, Ended) else None
            if event.number not in begun:
                begun.add(event.number)
                yield told.first(event.number)
            if isinstance(event, Delta):
                yield told.piece(event)
            elif response:
                ended.append(response)
                yield told.last(event.number, response)
    if asked.includes_usage:
        yield told.usage(ended)


async def _sent(
    first: "asyncio.Future[dict[str, Any]]", chunks: AsyncGenerator[dict[str, Any], None]
) -> AsyncGenerator[ServerSentEvent, None]:
    """The chunks as events; what goes wrong after the first one is an event, too."""
    try:
        yield _event(await first)
        async for chunk in chunks:
            yield _event(chunk)
    except (ServiceError, JobsError, RedisError) as error:
        yield _event(openai_error(kind_of(error), str(error)))
    finally:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await chunks.aclose()
    yield _event("[DONE]")


def _answered(ended: Ended) -> Response:
    """The response, if it is an answer; raises what its failure is to whoever asked."""
    if failure := fault_of(ended.response):
        raise failed(failure)
    return ended.response


def _event(data: object) -> ServerSentEvent:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(text, sep="\n")


async def _unless_left(request: Request, answering: Coroutine[None, None, Completion]) -> HttpResponse:
    """The answer; none is made any more when the client has left."""
    answer, left = asyncio.ensure_future(answering), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            return HttpResponse(status_code=_LEFT)
        return HttpResponse(answer.result().model_dump_json(), media_type="application/json")
    finally:
        for each in (answer, left):
            each.cancel()
        await asyncio.gather(answer, left, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
