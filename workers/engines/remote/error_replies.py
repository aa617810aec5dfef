"""Read a server's error replies, in whatever shape, as what is to be done about them.

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
from typing import Any, Literal

from gigavqa.contract.responses import Usage
from gigavqa.workers.engines.engine import ContextExceededError, EngineError
from gigavqa.workers.engines.remote.redaction import redact_line

MAX_RETRY_AFTER_SECONDS = 120.0  # seconds; clients of such servers give up on whoever asks for more
UnansweredReason = Literal["away", "failed", "ended", "busy", "refused", "unpaid", "gone", "moved"]
"""Why there is no answer: nobody can be reached, the server failed, or ended the answer for no reason of answers, or
has too much to do; it refuses the key, or wants money, or has the model no more, or is at another address.
"""
_ERROR_STATUSES = range(400, 600)
_KEY_REFUSED_STATUSES = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
# What was there at the start may be there again: the model behind a gateway, or the picture of a conflict.
_RETRYABLE_STATUSES = {HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY}
_UNPAID_KINDS = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_PAGE_TITLE = re.compile(r"\s*<.*?<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)  # a proxy's page says it there
_MODEL_GONE = re.compile(r"\bmodel\b", re.IGNORECASE)
_NEVER_ALLOWED = re.compile(r"^request too large", re.IGNORECASE)  # OpenAI's, for one beyond what a minute may have
_TOO_LONG = re.compile(
    r"maximum context length|context_length|context length|context window|prompt is too long|input token count"
    r"|decoder prompt|longer than the model|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
_TOKEN_COUNTS = (
    re.compile(r"decoder prompt \(length (\d+)\)"),
    re.compile(r"contains (?:at least )?(\d+) input tokens"),
    re.compile(r"prompt is too long: (\d+) tokens"),
    re.compile(r"input token count \((\d+)\)"),
    re.compile(r"[Tt]he input \((\d+) tokens\)"),
    re.compile(r"(?:resulted in|requested) (\d+) tokens"),
)


class RetryLaterError(Exception):
    """The server cannot answer now. `seconds` is how long it asks to be left alone, where it says.

    `status` is that of its reply, and `paid` what it counted of one that is no answer.
    """

    def __init__(
        self,
        message: str,
        trouble: UnansweredReason = "failed",
        *,
        seconds: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.seconds = seconds
        self.status = status
        self.paid: Usage | None = None


class MalformedReplyError(RetryLaterError):
    """The server's reply cannot be an answer."""


class ServerFailedError(EngineError):
    """The server failed at this request as often as it was asked, and was there all the while."""

    is_retryable = True


class RequestRefusedError(EngineError):
    """The server refuses this request, and takes others with the same key."""

    is_retryable = True


@dataclass(frozen=True)
class ErrorReply:
    """The content of an error: the message, cut, without the key; and its type and code, where it has them."""

    message: str
    kinds: frozenset[str]

    @property
    def status(self) -> int | None:
        """The status that an error within an answer of status 200 would have had, where it says."""
        codes = [int(kind) for kind in self.kinds if kind.isdecimal() and len(kind) == 3]
        return next((code for code in codes if code in _ERROR_STATUSES), None)


def parse_error(content: bytes | str, key: str | None) -> ErrorReply:
    """Read an error of any shape; `key` is put out of sight wherever the server repeats it."""
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        page = _PAGE_TITLE.match(text)
        found = page[1] if page else text
    return error_from_json(found, key)


def error_from_json(found: Any, key: str | None) -> ErrorReply:
    """Read an error as `parse_error` does, of what it was parsed to."""
    if isinstance(found, list) and found:  # Google's
        found = found[0]
    error = found.get("error") or found if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return ErrorReply(redact_line(_as_text(error), key), frozenset())
    message = error.get("message") or error.get("detail") or error
    kinds = (error.get(name) for name in ("type", "code", "status"))
    return ErrorReply(
        redact_line(_as_text(message), key), frozenset(str(kind) for kind in kinds if isinstance(kind, str | int))
    )


def error_for_reply(status: int, headers: Mapping[str, str], said: ErrorReply, context: int) -> Exception:
    """Return the error to be raised for an answer that is none; `context` is how many tokens the model's holds."""
    told = f"{status}: {said.message}" if said.message else str(status)
    if trouble := _unanswered_reason(status, said):
        return RetryLaterError(told, trouble, seconds=retry_after_seconds(headers), status=status)
    if "context_length_exceeded" in said.kinds or _TOO_LONG.search(said.message):
        return ContextExceededError(told, _excess_tokens(said.message, context))
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        told += "; --remote-pictures jpeg:95:444 makes smaller files of rasters"
    return EngineError(told)


def _unanswered_reason(status: int, said: ErrorReply) -> UnansweredReason | None:
    """Return what it is that may pass by itself; None for what is wrong with the request."""
    if status in _KEY_REFUSED_STATUSES:
        return "refused"
    if status == HTTPStatus.PAYMENT_REQUIRED:
        return "unpaid"
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "moved"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "unpaid" if said.kinds & _UNPAID_KINDS else None if _NEVER_ALLOWED.search(said.message) else "busy"
    if status == HTTPStatus.NOT_FOUND and ("model_not_found" in said.kinds or _MODEL_GONE.search(said.message)):
        return "gone"
    return "failed" if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _RETRYABLE_STATUSES else None


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds for which the server asks to be left alone, two minutes at most; None where it does not say."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return min(MAX_RETRY_AFTER_SECONDS, max(0.0, float(milliseconds) / 1000))
        if after := headers.get("retry-after"):
            seconds = float(after) if not after.endswith("GMT") else _seconds_until(after)
            return min(MAX_RETRY_AFTER_SECONDS, max(0.0, seconds))
    except (ValueError, TypeError):
        return None
    return None


def _seconds_until(date: str) -> float:
    return email.utils.parsedate_to_datetime(date).timestamp() - time.time()


def _as_text(value: Any) -> str:
    """Return a text as it is, and anything else as JSON."""
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (ValueError, RecursionError):
        return "an error without words"


def _excess_tokens(message: str, context: int) -> int | None:
    """Tokens too many, where the server counts them; a context must have room for one token of the answer."""
    counts = [int(found[1]) for pattern in _TOKEN_COUNTS if (found := pattern.search(message))]
    excess = counts[0] - context + 1 if counts else 0
    return excess if excess > 0 else None
