"""From what a chat asks for to the bundle that workers play."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.requests import Bundle, InferenceRequest, Turn
from gigavqa.runtime.validation import describe_rule
from gigavqa.service.errors import ChatInvalidError, ModelUnservedError, ProblemFinding, ServiceError
from gigavqa.service.openai.chat_bodies import ChatJson
from gigavqa.service.openai.chat_history import write_history
from gigavqa.service.openai.chat_messages import ContentPart
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.service.openai.images import ImageResolver, error_at
from gigavqa.service.openai.tools import FORM, call_form
from gigavqa.service.operations.inventory import ModelInventory
from gigavqa.store.worker_registry import WorkerRegistry
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.views import View

PROTOCOL = "chat"
"""What requests of chats are labelled with in place of a protocol."""

_DRAINED_SECONDS = 30.0
"""How soon a worker may stand where one ends that is replaced."""
_REMOTE_CHECKS = 4
"""Chats at a time whose images elsewhere are looked at: their servers may be silent, and threads are for all."""


Body = TypeVar("Body", bound=BaseModel)


def parse_body(kind: type[Body], body: object) -> Body:
    """Check a body that a route reads by itself. Raises RequestValidationError naming every field that is wrong."""
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        wrong = [{**each, "loc": ("body", *each["loc"]), "msg": describe_rule(each)} for each in error.errors()]
        raise RequestValidationError(wrong) from error


def parse_chat_request(body: object) -> ChatCompletionRequest:
    """Check the body of a chat. Raises RequestValidationError."""
    return parse_body(ChatCompletionRequest, body)


class RequestBuilder:
    """Finds the model and the pictures of chats, and writes their requests."""

    def __init__(self, models: ModelInventory, worker_registry: WorkerRegistry, pictures: ImageResolver) -> None:
        self._models = models
        self._worker_registry = worker_registry
        self._pictures = pictures
        self._remote_checks = asyncio.Semaphore(_REMOTE_CHECKS)

    async def entry(self, name: str) -> CatalogueEntry:
        """Return the model of a chat. Raises ModelUnknownError."""
        catalogue = await asyncio.to_thread(self._models.catalogue)
        return catalogue.find(name)

    async def require_served(self, entry: CatalogueEntry) -> None:
        """Raises ModelUnservedError when no worker serves a model, or will once it has started."""
        states = [worker.state for worker in await self._worker_registry.workers() if entry.id in worker.models]
        if all(state == "draining" for state in states):
            raise ModelUnservedError(
                f"no worker serves '{entry.id}' now; `gigavqa up --model {entry.id}` starts one",
                _DRAINED_SECONDS if states else None,
            )

    async def requests(
        self,
        asked: ChatCompletionRequest,
        entry: CatalogueEntry,
        sent: ChatJson,
        name: str,
        *,
        own: str = "",
        owner: str,
        seed: int | None = None,
    ) -> list[InferenceRequest]:
        """Write one request for each answer; they show the same. Raises ChatInvalidError naming the part.

        `own` is the gateway's own origin, and `seed` goes where the chat says none.
        """
        _require_readable_calls(asked, entry)
        parts = await self._parts(asked, sent.pictures, own, owner)
        shown = [part for message in parts for part in message if isinstance(part, View)]
        if shown:
            is_remote = any(is_remote_name(view.image) for view in shown)
            async with self._remote_checks if is_remote else nullcontext():
                await asyncio.to_thread(self._check, parts, entry, len(shown))
        *said, last = write_history(asked, parts)
        forced = None
        if asked.is_forced:
            forced = "".join(map(str, last.parts))
            *said, last = said
        is_system = bool(said) and said[0].role == "system" and not any(isinstance(p, View) for p in said[0].parts)
        system = "".join(map(str, said[0].parts)) if is_system else None
        form = call_form(asked.tool_form)
        return [
            InferenceRequest(
                request_id=str(number),
                sample_id=name,
                model=entry.id,
                protocol=PROTOCOL,
                condition="V2" if shown else "V0",
                repeat=number,
                system=system,
                before=tuple(said[1:] if is_system else said),
                turns=(Turn(parts=last.parts, forced=forced),),
                details={FORM: form} if form else {},
                sampling=sampling,
            )
            for number, sampling in enumerate(asked.samplings(entry, seed))
        ]

    async def _parts(
        self, asked: ChatCompletionRequest, sent: Mapping[str, str], own: str, owner: str
    ) -> list[list[str | View]]:
        return [
            [
                await self._part(part, f"#/messages/{row}/content/{place}", sent, own, owner)
                for place, part in enumerate(message.content)
            ]
            for row, message in enumerate(asked.messages)
        ]

    async def _part(self, part: ContentPart, pointer: str, sent: Mapping[str, str], own: str, owner: str) -> str | View:
        if part.type == "text":
            return _require_text(part.text or "", pointer, sent)
        url = part.image_url.url if part.image_url else part.file.file_data if part.file else None
        file_id = part.image_url.file_id if part.image_url else part.file.file_id if part.file else None
        try:
            return await self._pictures.view(url, file_id, sent, own, owner)
        except (ServiceError, TilingError) as error:
            raise error_at(error, f"{pointer}/{part.type}") from error

    def _check(self, parts: Sequence[Sequence[str | View]], entry: CatalogueEntry, num_images: int) -> None:
        for row, message in enumerate(parts):
            for place, part in enumerate(message):
                if isinstance(part, View):
                    try:
                        self._pictures.check(part, entry, num_images)
                    except TilingError as error:
                        raise error_at(error, f"#/messages/{row}/content/{place}/image_url") from error


def chat_bundle(chat_id: str, requests: Sequence[InferenceRequest], *, listener: str | None, salt: str) -> Bundle:
    """Return the bundle of a chat that somebody waits for.

    `listener` hears its text, and it shares caches under `salt`.
    """
    views = requests[0].views
    heard = tuple(request.model_copy(update={"listener": listener}) for request in requests)
    return Bundle(
        id=f"{chat_id}-0",
        job_id=chat_id,
        model=requests[0].model,
        image=views[0].image if views else "",
        priority="interactive",
        cache_salt=salt,
        requests=heard,
    )


def _require_readable_calls(asked: ChatCompletionRequest, entry: CatalogueEntry) -> None:
    """Raise ChatInvalidError where the model may choose to call, and nobody reads the calls that it would write."""
    family = entry.known_family
    if asked.tool_form == "auto" and not (family and family.writes_json_calls):
        why = (
            "the endpoint is told of no tools"
            if family and family.is_closed
            else f"the chat template of {family.name if family else 'its family'} is not known to write calls as Qwen's"
        )
        told = (
            f"calls that '{entry.id}' chooses to write are not read: {why}; say tool_choice 'required', name a tool, "
            "or say 'none'"
        )
        raise ChatInvalidError(told, [ProblemFinding(detail=told, pointer="#/tool_choice")])


def _require_text(text: str, pointer: str, sent: Mapping[str, str]) -> str:
    if text in sent:
        raise error_at(ServiceError("a data URL stands where a text is expected; send it as image_url"), pointer)
    return text
