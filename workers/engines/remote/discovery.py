"""The first meeting with a server: whether it has the model, under which name, and what kind of server it is."""

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any

import httpx

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.workers.engines.engine import EngineDeadError
from gigavqa.workers.engines.remote.dialects import Dialect, recognise_dialect
from gigavqa.workers.engines.remote.endpoint_client import EndpointClient
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.error_replies import MalformedReplyError, RetryLaterError
from gigavqa.workers.engines.remote.redaction import redact_line
from gigavqa.workers.engines.remote.replies import RemoteModelCard, bare_model_name, read_json, read_model_cards

log = logging.getLogger(__name__)

_NO_LIST = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
_MAX_NAMED_MODELS = 10
_LONGEST_VERSION = 60


@dataclass(frozen=True)
class RemoteModel:
    """A model that was found: the model's `name` there, `context` in tokens where it is told, and what ends its
    turns.
    """

    name: str
    dialect: Dialect
    version: str
    context: int | None = None
    ends: Mapping[str, Any] = field(default_factory=dict)


async def discover_model(server: EndpointClient, entry: CatalogueEntry, settings: RemoteSettings) -> RemoteModel:
    """Wait until the server answers and lists the model. Raises EngineDeadError when it answers and has not got it."""
    for attempt in count():
        try:
            met = await _query_server(server, entry, settings)
        except RetryLaterError as later:
            if later.trouble == "moved":
                raise EngineDeadError(
                    f"{settings.endpoint} leads elsewhere ({later.status}); name the address it leads to"
                ) from later
            await server.wait(later, attempt)
        else:
            server.standing.found(time.monotonic())
            return met
    raise AssertionError("counts have no end")


async def _query_server(server: EndpointClient, entry: CatalogueEntry, settings: RemoteSettings) -> RemoteModel:
    cards = await _list_models(server, settings)
    names = (settings.name,) if settings.name else entry.remote_names
    listed = {card.name: card for card in cards or ()}
    name, card = next(
        ((name, listed[key]) for name in names if (key := bare_model_name(name)) in listed), (names[0], None)
    )
    if cards is not None and card is None:
        raise _model_missing(cards, names, settings)
    dialect, version = settings.known_dialect, None
    if dialect is None or dialect.keeps:
        version = await _read_version(server, settings)
        owners = {card.owner for card in cards or () if card.owner}
        dialect = dialect or _recognise(owners, version, entry, settings)
    return RemoteModel(
        name=name,
        dialect=dialect,
        version=f"{dialect.name} {version}" if version else dialect.name,
        context=card.context if card else None,
        ends=await _end_parameters(server, settings, entry, name) if dialect.ends_turns else {},
    )


def _recognise(
    owners: Collection[str], version: str | None, entry: CatalogueEntry, settings: RemoteSettings
) -> Dialect:
    """Return the kind of a server; whoever serves open weights and does not say what it is may be an engine's router.

    It is asked as OpenAI is, without what engines take, and answers then differ: the log says so.
    """
    dialect = recognise_dialect(owners, has_version=version is not None)
    if dialect.name == "openai" and not entry.is_closed and (lacking := dialect.not_sent(entry)):
        log.warning(
            "%s does not say what kind of server it is, and is not sent %s; where vLLM answers, say "
            "GIGAVQA_WORKER_REMOTE_DIALECT=vllm",
            settings.endpoint,
            " and ".join(lacking),
        )
    return dialect


async def _list_models(server: EndpointClient, settings: RemoteSettings) -> list[RemoteModelCard] | None:
    """Return what the server lists; None where it has no list. Raises RetryLaterError, EngineDeadError."""
    response = await server.look(settings.url("/models"))
    if response.status_code in _NO_LIST:
        return None
    if response.status_code != HTTPStatus.OK:
        error = server.refusal(response)
        if isinstance(error, RetryLaterError):
            raise error
        raise EngineDeadError(f"{settings.endpoint} does not list its models: {error}")
    if (cards := read_model_cards(response.content)) is None:
        raise EngineDeadError(f"{settings.endpoint}/models is no list of models; is the address that of an OpenAI API?")
    return cards


def _model_missing(cards: list[RemoteModelCard], names: tuple[str, ...], settings: RemoteSettings) -> Exception:
    if not cards:
        return RetryLaterError("it lists no model yet")
    listed = [card.name for card in cards]
    told = redact_line(", ".join(listed[:_MAX_NAMED_MODELS]), settings.key) + (
        ", ..." if len(listed) > _MAX_NAMED_MODELS else ""
    )
    return EngineDeadError(
        f"{settings.endpoint} has no model {' or '.join(map(repr, names))}{did_you_mean(names[0], listed) or ';'} "
        f"it lists {told}: say --remote-model NAME"
    )


async def _read_version(server: EndpointClient, settings: RemoteSettings) -> str | None:
    """Return the version that vLLM tells beside its API."""
    response = await server.look(settings.beside("/version"))
    found = _read_json(response) if response.status_code == HTTPStatus.OK else None
    version = found.get("version") if isinstance(found, dict) else None
    return redact_line(version, settings.key)[:_LONGEST_VERSION] if isinstance(version, str) else None


async def _end_parameters(
    server: EndpointClient, settings: RemoteSettings, entry: CatalogueEntry, name: str
) -> dict[str, Any]:
    """Return what ends the family's turns, also where the checkpoint's own files do not name all of it.

    As tokens where the server tells them, since a text may say the same and mean it.
    """
    family = entry.known_family
    tokens, texts = [], []
    for mark in family.marks.ends if family else ():
        content = {"model": name, "prompt": mark, "add_special_tokens": False}
        response = await server.look(settings.beside("/tokenize"), content)
        found = _read_json(response) if response.status_code == HTTPStatus.OK else None
        numbers = found.get("tokens") if isinstance(found, dict) else None
        if not isinstance(numbers, list) or not all(isinstance(each, int) for each in numbers):
            texts.append(mark)
        elif len(numbers) == 1:  # otherwise the vocabulary has no such mark
            tokens += numbers
    return ({"stop_token_ids": tokens} if tokens else {}) | ({"stop": texts} if texts else {})


def _read_json(response: httpx.Response) -> Any:
    try:
        return read_json(response.content)
    except MalformedReplyError:
        return None
