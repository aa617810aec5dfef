"""OpenAI's Responses API: one answer to one chat, by the same way as chat completions. Nothing is stored."""

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import Response as HttpResponse

from gigavqa.service.http.auth import CurrentCaller, StreamSlot
from gigavqa.service.http.openapi import example, json_body, openai_error_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.openai import examples
from gigavqa.service.openai.chat_bodies import ChatBodyReader
from gigavqa.service.openai.chat_service import CurrentChats
from gigavqa.service.openai.chats import CHAT_ERRORS
from gigavqa.service.openai.request_builder import parse_body, parse_chat_request
from gigavqa.service.openai.responses_output import ResponseEventWriter, ResponseObject, ResponseWriter
from gigavqa.service.openai.responses_request import ResponsesRequest

router = APIRouter(prefix="/v1/responses", tags=["openai"])


@router.post(
    "",
    summary="Answer a response",
    response_model=None,
    dependencies=[StreamSlot],
    openapi_extra=json_body(ResponsesRequest),
    responses={
        200: {"model": ResponseObject, **example(examples.RESPONSE, description="The response, or a stream of events")},
        **openai_error_responses(*CHAT_ERRORS, body=True),
    },
)
async def create_response(
    *,
    request: Request,
    caller: CurrentCaller,
    bodies: Annotated[ChatBodyReader, component(ChatBodyReader)],
    chats: CurrentChats,
) -> HttpResponse:
    """Play the chat of `input` before all batch work, as chat completions are played; nothing of it is stored."""
    sent = await bodies.read(request.stream(), caller.sees, "input")
    asked = parse_body(ResponsesRequest, sent.body)
    said = asked.chat()
    with said.naming_own_fields():
        chat = await chats.prepare(parse_chat_request(said.body), sent)
    if asked.stream:
        return await chats.stream(chat, ResponseEventWriter(chat, asked))
    return await chats.whole(chat, ResponseWriter(chat, asked).whole)
