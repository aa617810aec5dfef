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

from gigavqa.catalogue.errors import ModelUnknownError
from gigavqa.contract.errors import JobsError, JobTooLargeError, QueueFullError, QuotaExceededError
from gigavqa.contract.flaws import fault_of
from gigavqa.contract.requests import Bundle
from gigavqa.contract.responses import Response
from gigavqa.runtime.errors import InstallationError, StateStoreUnavailableError
from gigavqa.service.errors import (
    AnswerFailedError,
    BodyTooLargeError,
    ChatInvalidError,
    ContextTooSmallError,
    FileMissingError,
    ForeignOriginError,
    ModelUnservedError,
    ServiceError,
    problem_kind,
)
from gigavqa.service.http.auth import CurrentCaller, StreamSlot
from gigavqa.service.http.openapi import example, json_body, openai_error_responses
from gigavqa.service.http.parameters import CurrentSettings, component
from gigavqa.service.http.problems import openai_error
from gigavqa.service.http.request_context import note_job
from gigavqa.service.openai import examples
from gigavqa.service.openai.chat_bodies import ChatBodyReader
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.service.openai.completions import ChunkWriter, Completion, failure_error
from gigavqa.service.openai.pending_chats import FinishedAnswer, PendingChat, PendingChats, TextDelta
from gigavqa.service.openai.request_builder import RequestBuilder, chat_bundle, parse_chat_request
from gigavqa.service.operations.instrumentation import CurrentInstrumentation
from gigavqa.store.api_keys import Owner, cache_salt
from gigavqa.store.chats import new_chat_id

router = APIRouter(prefix="/v1/chat/completions", tags=["openai"])
_PING_SECONDS = 10
_EARLY_SECONDS = 1.0
"""What goes wrong so soon is told with its status; later, the stream has begun."""

_CLIENT_CLOSED = 499  # nobody reads it; logs and metrics do


@router.post(
    "",
    summary="Answer a chat",
    response_model=None,
    dependencies=[StreamSlot],
    openapi_extra=json_body(ChatCompletionRequest),
    responses={
        200: {"model": Completion, **example(examples.COMPLETION, description="The answer, or a stream of chunks")},
        **openai_error_responses(
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
            StateStoreUnavailableError,
            body=True,
        ),
    },
)
async def create_chat_completion(
    *,
    request: Request,
    caller: CurrentCaller,
    settings: CurrentSettings,
    bodies: Annotated[ChatBodyReader, component(ChatBodyReader)],
    builder: Annotated[RequestBuilder, component(RequestBuilder)],
    pending_chats: Annotated[PendingChats, component(PendingChats)],
    instrumentation: CurrentInstrumentation,
) -> HttpResponse:
    """Play a chat before all batch work, on the workers of its model; what a leaving client asked for is aborted."""
    sent = await bodies.read(request.stream(), caller.sees)
    body = parse_chat_request(sent.body)
    entry = await builder.entry(body.model)
    chat_id, own = new_chat_id(), f"{request.url.scheme}://{request.headers.get('host', '')}".lower()
    note_job(request, chat_id)
    requests = await builder.requests(body, entry, sent, chat_id, own=own, owner=caller.sees)
    await builder.require_served(entry)
    salt = cache_salt(caller.owner, settings.cache_sharing)
    bundle = chat_bundle(chat_id, requests, listener=pending_chats.channel if body.stream else None, salt=salt)
    instrumentation.submitted.labels(entry.id).inc(len(requests))
    writer = ChunkWriter(chat_id, int(time.time()), entry.id, with_usage=body.includes_usage)
    if not body.stream:
        async with pending_chats.of(bundle, caller.as_owner, settings.chat_room_seconds) as pending:
            return await _cancel_on_disconnect(request, _collect_completion(pending, writer))
    chunks = _chunks(pending_chats, bundle, caller.as_owner, writer, body)
    first = asyncio.ensure_future(anext(chunks))
    await asyncio.wait({first}, timeout=_EARLY_SECONDS)
    if first.done() and (error := first.exception()):
        raise error
    stream = instrumentation.open_stream("chats", _chunk_events(first, chunks))
    return EventSourceResponse(stream, ping=_PING_SECONDS, sep="\n")


async def _collect_completion(pending: PendingChat, writer: ChunkWriter) -> Completion:
    ended: dict[int, Response] = {}
    async for event in pending.events():
        if isinstance(event, FinishedAnswer):
            ended[event.number] = _require_answer(event)
    return writer.whole(ended)


async def _chunks(
    pending_chats: PendingChats, bundle: Bundle, owner: Owner, writer: ChunkWriter, body: ChatCompletionRequest
) -> AsyncGenerator[dict[str, Any], None]:
    begun: set[int] = set()
    ended: list[Response] = []
    async with pending_chats.of(bundle, owner) as pending:
        async for event in pending.events():
            response = _require_answer(event) if isinstance(event, FinishedAnswer) else None
            if event.number not in begun:
                begun.add(event.number)
                yield writer.first(event.number)
            if isinstance(event, TextDelta):
                yield writer.piece(event)
            elif response:
                ended.append(response)
                yield writer.last(event.number, response)
    if body.includes_usage:
        yield writer.usage(ended)


async def _chunk_events(
    first: "asyncio.Future[dict[str, Any]]", chunks: AsyncGenerator[dict[str, Any], None]
) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the chunks as events; what goes wrong after the first one is an event, too."""
    try:
        yield _event(await first)
        async for chunk in chunks:
            yield _event(chunk)
    except (ServiceError, InstallationError, JobsError, RedisError) as error:
        yield _event(openai_error(problem_kind(error), str(error)))
    finally:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await chunks.aclose()
    yield _event("[DONE]")


def _require_answer(ended: FinishedAnswer) -> Response:
    """Return the response, if it is an answer; raises what its failure is to whoever asked."""
    if failure := fault_of(ended.response):
        raise failure_error(failure)
    return ended.response


def _event(data: object) -> ServerSentEvent:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(text, sep="\n")


async def _cancel_on_disconnect(request: Request, answering: Coroutine[None, None, Completion]) -> HttpResponse:
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
