"""Errors as the clients of OpenAI's API read them."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from gigavqa.service.errors import REQUEST_INVALID, ProblemFinding, ProblemKind

_OPENAI_PATH = re.compile(
    r"/v1/(chat|models|files|batches|completions|embeddings|responses|images|audio|uploads|moderations|assistants|threads|"
    r"conversations|messages)(/|$)"
)
_OPENAI_TYPES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}
_SERVER_FAULTS = 500
_MOST_LISTED = 10


class OpenAIErrorDetail(BaseModel):
    """The error as OpenAI's clients show it."""

    message: str
    type: str = Field(examples=["invalid_request_error", "rate_limit_error", "server_error"])
    param: str | None = Field(default=None, examples=["messages[0].content"])
    code: str = Field(examples=["model_not_found"])


class OpenAIError(BaseModel):
    """An error, where OpenAI's clients call."""

    error: OpenAIErrorDetail


class OpenAIErrorResponse(Response):
    """An error as OpenAI's clients read it."""

    media_type = "application/json"


def is_openai_path(path: str) -> bool:
    """Return whether what is called here is called by OpenAI's clients, also where there is nothing."""
    return bool(_OPENAI_PATH.match(path))


def openai_error(kind: ProblemKind, detail: str, findings: Sequence[ProblemFinding] = ()) -> dict[str, Any]:
    """OpenAI's error object: clients show its message and nothing else."""
    named = [(_parameter_path(finding), finding.detail) for finding in findings[:_MOST_LISTED]]
    told = "; ".join(f"{parameter}: {said}" if parameter else said for parameter, said in named)
    status = openai_status(kind)
    return {
        "error": {
            "message": told if told and kind is REQUEST_INVALID else detail,
            "type": _OPENAI_TYPES.get(status, "server_error" if status >= _SERVER_FAULTS else "invalid_request_error"),
            "param": named[0][0] if named else None,
            "code": kind.slug.replace("-", "_"),
        }
    }


def openai_status(kind: ProblemKind) -> int:
    """Return the status of OpenAI's error object."""
    # Clients of OpenAI's know 400 for what is wrong in a body, as vLLM answers, too.
    return HTTPStatus.BAD_REQUEST if kind.status == HTTPStatus.UNPROCESSABLE_ENTITY else kind.status


def _parameter_path(finding: ProblemFinding) -> str | None:
    """`messages[0].content` for `#/messages/0/content`."""
    if not finding.pointer:
        return finding.parameter
    parts = finding.pointer.removeprefix("#/").split("/")
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in parts).removeprefix(".")
