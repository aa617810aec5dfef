"""Chat completions: asked as OpenAI's clients ask, answered whole or as the text grows."""

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import Response as HttpResponse

from gigavqa.catalogue.errors import ModelUnknownError
from gigavqa.contract.errors import JobTooLargeError, QueueFullError, QuotaExceededError
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import (
    AnswerFailedError,
    BodyTooLargeError,
    ChatInvalidError,
    ContextTooSmallError,
    FileMissingError,
    ForeignOriginError,
    ModelUnservedError,
)
from gigavqa.service.http.auth import CurrentCaller, StreamSlot
from gigavqa.service.http.openapi import example, json_body, openai_error_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.openai import examples
from gigavqa.service.openai.chat_bodies import ChatBodyReader
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.service.openai.chat_service import CurrentChats
from gigavqa.service.openai.completions import ChunkWriter, Completion, CompletionWriter
from gigavqa.service.openai.request_builder import parse_chat_request
from gigavqa.service.openai.tools import FORM

router = APIRouter(prefix="/v1/chat/completions", tags=["openai"])
CHAT_ERRORS = (
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
)
"""What a chat can be refused with, however it is asked."""


@router.post(
    "",
    summary="Answer a chat",
    response_model=None,
    dependencies=[StreamSlot],
    openapi_extra=json_body(ChatCompletionRequest),
    responses={
        200: {"model": Completion, **example(examples.COMPLETION, description="The answer, or a stream of chunks")},
        **openai_error_responses(*CHAT_ERRORS, body=True),
    },
)
async def create_chat_completion(
    *,
    request: Request,
    caller: CurrentCaller,
    bodies: Annotated[ChatBodyReader, component(ChatBodyReader)],
    chats: CurrentChats,
) -> HttpResponse:
    """Play a chat before all batch work, on the workers of its model; what a leaving client asked for is aborted."""
    sent = await bodies.read(request.stream(), caller.sees)
    body = parse_chat_request(sent.body)
    chat = await chats.prepare(body, sent)
    if not body.stream:
        return await chats.whole(chat, CompletionWriter(chat.key, chat.created, chat.model).whole)
    form = chat.request.details.get(FORM)
    writer = ChunkWriter(chat.key, chat.created, chat.model, with_usage=body.includes_usage, form=form)
    return await chats.stream(chat, writer)
