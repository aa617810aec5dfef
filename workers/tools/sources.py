"""Sources on the network, as the operator's file names them: where, in which shape, and how much of them."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError
from pydantic_core import PydanticCustomError

from jobs.errors import SettingsInvalidError
from retrieval.sources import SummarizerName
from workers.tools.web import WebSource

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


class SourceSettings(BaseModel):
    """One source. A path leads through an answer's JSON, such as `data.results`; numbers count in lists."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: Annotated[str, AfterValidator(_address)]
    version: str = Field(min_length=1, max_length=200)
    summarizer: SummarizerName = "extractive/1"
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
    private: bool = False
    private_page_hosts: tuple[str, ...] = ()

    tries: int = Field(3, ge=1, le=10)
    pause_seconds: PositiveFloat = 1.0
    try_seconds: PositiveFloat = 20.0
    search_seconds: PositiveFloat = 60.0
    page_seconds: PositiveFloat = 20.0
    concurrency: PositiveInt = 8
    answer_bytes: PositiveInt = 2**21
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
    return WebSource(name, settings, _key(settings, environ))


def _key(settings: SourceSettings, environ: Mapping[str, str]) -> str | None:
    if not settings.key_env:
        return None
    key = environ.get(settings.key_env, "").strip()
    if not key:
        raise ValueError(f"key_env: the variable {settings.key_env} is not set")
    # Whatever else is refused later would stand in an error, as it is.
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"key_env: the variable {settings.key_env} holds what cannot be sent in a header")
    return key
