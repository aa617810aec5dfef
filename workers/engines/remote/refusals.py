"""What a server says instead of an answer, in whatever shape, as the errors that players know.

Errors come nested (OpenAI, vLLM), flat (SGLang, Dynamo), as a text (llm-d), or as a string in JSON: the status decides,
then type and code.
"""

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from workers.engines.engine import ContextExceededError, EngineClosedError, EngineError

LONGEST_WAIT = 120.0  # seconds; clients of such servers give up on whoever asks for more
_LONGEST_TEXT = 400
_CLOSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN}
# The model, not the request, is missing: of what was there at the start.
_AGAIN = {HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY}
_TOO_LONG = re.compile(
    r"maximum context length|context_length|context length|context window|prompt is too long|input token count"
    r"|decoder prompt|longer than the model|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
_COUNTS = (
    re.compile(r"decoder prompt \(length (\d+)\)"),
    re.compile(r"contains (?:at least )?(\d+) input tokens"),
    re.compile(r"prompt is too long: (\d+) tokens"),
    re.compile(r"input token count \((\d+)\)"),
    re.compile(r"[Tt]he input \((\d+) tokens\)"),
    re.compile(r"(?:resulted in|requested) (\d+) tokens"),
)


class AgainLaterError(Exception):
    """The server cannot answer now. `seconds` is how long it asks to be left alone, where it says.

    `is_away` says that it answers nobody; `may_be_ours`, that the request itself may be why.
    """

    def __init__(
        self, message: str, *, seconds: float | None = None, is_away: bool = True, may_be_ours: bool = False
    ) -> None:
        super().__init__(message)
        self.seconds = seconds
        self.is_away = is_away
        self.may_be_ours = may_be_ours


class ServerFailedError(EngineError):
    """The server failed at this request again and again, and answered others meanwhile."""

    is_retryable = True


@dataclass(frozen=True)
class Said:
    """What an error says: the message, cut, without the key; and its type and code, where it has them."""

    message: str
    kinds: frozenset[str]


def read_error(content: bytes, key: str | None) -> Said:
    """Read an error of any shape; `key` is put out of sight wherever the server repeats it."""
    text = content.decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = text
    if isinstance(found, list) and found:  # Google's
        found = found[0]
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return Said(shown(str(error), key), frozenset())
    message = error.get("message") or error.get("detail") or json.dumps(error)
    kinds = {str(error.get(name)) for name in ("type", "code", "status") if error.get(name) is not None}
    return Said(shown(str(message), key), frozenset(kinds))


def shown(text: str, key: str | None) -> str:
    """A server's text as it may be told and kept: in one line, cut, and without the key."""
    text = text.replace(key, "[key]") if key else text
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} ..."


def refusal(status: int, headers: Mapping[str, str], said: Said, context: int) -> Exception:
    """Return the error to be raised for an answer that is none; `context` is how many tokens the model's holds."""
    told = f"{status}: {said.message}" if said.message else str(status)
    if status in _CLOSED or HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return EngineClosedError(str(status))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return AgainLaterError(told, seconds=wait_asked(headers), is_away=False)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _AGAIN:
        ours = status == HTTPStatus.INTERNAL_SERVER_ERROR
        return AgainLaterError(told, seconds=wait_asked(headers), may_be_ours=ours)
    if "context_length_exceeded" in said.kinds or _TOO_LONG.search(said.message):
        return ContextExceededError(told, _excess(said.message, context))
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        told += "; --remote-pictures jpeg:95:444 makes smaller files of rasters"
    return EngineError(told)


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds for which the server asks to be left alone, two minutes at most; None where it does not say."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return min(LONGEST_WAIT, max(0.0, float(milliseconds) / 1000))
        if after := headers.get("retry-after"):
            seconds = float(after) if not after.endswith("GMT") else _until(after)
            return min(LONGEST_WAIT, max(0.0, seconds))
    except (ValueError, TypeError):
        return None
    return None


def _until(date: str) -> float:
    return email.utils.parsedate_to_datetime(date).timestamp() - time.time()


def _excess(message: str, context: int) -> int | None:
    """Tokens too many, where the server counts them; a context must have room for one token of the answer."""
    counts = [int(found[1]) for pattern in _COUNTS if (found := pattern.search(message))]
    excess = counts[0] - context + 1 if counts else 0
    return excess if excess > 0 else None
