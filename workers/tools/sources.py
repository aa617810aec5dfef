"""Sources on the network, as the operator's file names them: where, in which shape, and how much of them."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import (
    ValidationError,
)

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.validation import describe_rule
from gigavqa.workers.tools.summarizing import ModelSummarizer, SummarizerSettings
from gigavqa.workers.tools.web import SourceSettings, WebSource

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")

SOURCE_SHAPES: Mapping[str, Mapping[str, Any]] = {
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


def read_sources(path: Path, environ: Mapping[str, str] = os.environ) -> dict[str, WebSource]:
    """Return the sources of a TOML file, a table each, by name.

    Raises SettingsInvalidError, which names everything wrong.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsInvalidError(f"the file of sources {path} cannot be read: {error}") from error
    sources, wrong = {}, []
    for name, table in document.items():
        try:
            sources[name] = _source(name, table, environ)
        except ValidationError as error:
            wrong += [f"{path} [{name}] {'.'.join(map(str, e['loc']))}: {describe_rule(e)}" for e in error.errors()]
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
    usual = SOURCE_SHAPES.get(str(table.get("shape")), {})
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
