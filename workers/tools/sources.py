"""Sources on the network, as the operator's file names them: where, in which shape, and how much of them."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PositiveFloat,
    PositiveInt,
    Tag,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from jobs.errors import SettingsInvalidError
from retrieval.sources import SummarizerName
from workers.tools.summarizing import ModelSummarizer
from workers.tools.web import WebSource
from workers.tools.wire import Bounds

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_PATH = Field(min_length=1, max_length=200)

SHAPES: Mapping[str, Mapping[str, Any]] = {
    "serper": {
        "query_field": "q",
        "key_header": "X-API-KEY",
        "results": "organic",
    },
    "adapter": {
        "query_field": "query",
        "top_k_field": "topK",
        "status": "status",
        "results": "data.results",
        "link": "url",
    },
}
"""What is usual among servers of a kind; whatever the file says goes before it."""


def _address(given: str) -> str:
    try:
        url = urlsplit(given)
        is_whole = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0 and given.isascii()
    except ValueError:
        is_whole = False
    if not is_whole or url.query or url.fragment:
        raise PydanticCustomError(
            "address", "is to be an address such as https://search.example.org/search; `fields` are sent with it"
        )
    if "@" in url.netloc:
        raise PydanticCustomError("address", "has a name or password in it; `key_env` names a variable with a key")
    return given


class SummarizerSettings(Bounds):
    """A model that sums pages up, behind OpenAI's API; `template` goes to its chat template."""

    model: str = Field(pattern=r"^[!-~]{1,200}$")
    address: Annotated[str, AfterValidator(_address)]
    key_env: str | None = None

    temperature: float = Field(0.0, ge=0, le=2)
    tokens: PositiveInt = 1024
    template: Mapping[str, str | int | float | bool] = {"enable_thinking": False}

    try_seconds: PositiveFloat = 120.0
    seconds: PositiveFloat = 300.0

    @property
    def endpoint(self) -> str:
        """Where chats are completed; an address without a path gets the one of OpenAI's API."""
        version = "" if urlsplit(self.address).path.strip("/") else "/v1"
        return f"{self.address.rstrip('/')}{version}/chat/completions"


def _kind_of_summarizer(given: object) -> str:
    return "name" if isinstance(given, str) else "model"


class SourceSettings(Bounds):
    """One source. A path leads through an answer's JSON, such as `data.results`; numbers count in lists."""

    address: Annotated[str, AfterValidator(_address)]
    version: str = Field(min_length=1, max_length=200)
    summarizer: Annotated[
        Annotated[SummarizerName, Tag("name")] | Annotated[SummarizerSettings, Tag("model")],
        Discriminator(_kind_of_summarizer),
    ] = "extractive/1"
    shape: Literal["serper", "adapter"] | None = None

    method: Literal["GET", "POST"] = "POST"
    query_field: str = "query"
    top_k_field: str | None = None
    fields: Mapping[str, str | int | float | bool] = {}
    key_env: str | None = None
    key_header: str = Field("Authorization", pattern=r"^[A-Za-z0-9_-]+$")

    status: str | None = None
    results: str = _PATH
    title: str = "title"
    snippet: str = "snippet"
    link: str = "link"
    text: str | None = None

    pages: bool = False
    private_page_hosts: tuple[str, ...] = ()

    search_seconds: PositiveFloat = 60.0
    page_seconds: PositiveFloat = 20.0
    page_bytes: PositiveInt = 2**20
    page_characters: PositiveInt = 30_000


def read_sources(path: Path, environ: Mapping[str, str] = os.environ) -> dict[str, WebSource]:
    """The sources of a TOML file, a table each, by name. Raises SettingsInvalidError, which names everything wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsInvalidError(f"the file of sources {path} cannot be read: {error}") from error
    sources, wrong = {}, []
    for name, table in document.items():
        try:
            sources[name] = _source(name, table, environ)
        except ValidationError as error:
            wrong += [f"{path} [{name}] {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        except ValueError as error:
            wrong.append(f"{path} [{name}]: {error}")
    if wrong:
        raise SettingsInvalidError("; ".join(wrong))
    return sources


def _source(name: str, table: object, environ: Mapping[str, str]) -> WebSource:
    if not isinstance(table, dict):
        raise ValueError("is to be a table, with `address` and `version`")
    if not _NAME.fullmatch(name):
        raise ValueError("a name has small letters, digits, '-', '_' and '.', and begins with a letter or digit")
    usual = SHAPES.get(str(table.get("shape")), {})
    settings = SourceSettings.model_validate({**usual, **table})
    model = None
    if isinstance(settings.summarizer, SummarizerSettings):
        model = ModelSummarizer(name, settings.summarizer, _key(settings.summarizer.key_env, environ))
    return WebSource(name, settings, _key(settings.key_env, environ), model)


def _key(variable: str | None, environ: Mapping[str, str]) -> str | None:
    if not variable:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        raise ValueError(f"key_env: the variable {variable} is not set")
    # Whatever else is refused later would stand in an error, as it is.
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"key_env: the variable {variable} holds what cannot be sent in a header")
    return key
