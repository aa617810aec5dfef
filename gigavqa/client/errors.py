"""Errors between a program and a gateway. Messages are whole sentences, for people."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from gigavqa.evaluation.errors import Problem

_MOST_LINES = 10
_LOCATION_FIELDS = ("file", "line", "sample", "image", "pointer", "parameter")


class GigavqaError(Exception):
    """Something asked of a gateway could not be had."""


class GatewayUnreachableError(GigavqaError):
    """No gateway answers at the address."""


class PackageMissingError(GigavqaError):
    """The method needs a package that is not installed."""


class QuestionsError(GigavqaError):
    """Questions of one's own cannot be asked as they are.

    `problems` are all of their records that are wrong; `others` counts the questions that could be asked without them.
    """

    def __init__(self, message: str, problems: Sequence["Problem"] = (), others: int = 0) -> None:
        super().__init__(message)
        self.problems = tuple(problems)
        self.others = others


class ProblemError(GigavqaError):
    """The gateway refused the request with a problem document (RFC 9457).

    `kind` ends its type, as docs/api.md lists them (`queue-full`); `findings` name every single thing that is wrong;
    `retry_after` is in seconds, where the gateway named a time; `request_id` is also in the gateway's log.
    """

    def __init__(
        self,
        message: str,
        status: int = HTTPStatus.NOT_FOUND,
        *,
        kind: str = "",
        findings: Sequence[Mapping[str, Any]] = (),
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = int(status)
        self.kind = kind
        self.findings = tuple(findings)
        self.retry_after = retry_after
        self.request_id = request_id


class RefusedError(ProblemError):
    """The request is wrong as it is (400, 413, 415, 422); asking again does not help."""


class KeyRefusedError(ProblemError):
    """The gateway wants a key, or one that may do this (401, 403)."""


class NotFoundError(ProblemError):
    """There is no such job, model or data set (404)."""


class ConflictError(ProblemError):
    """The job's state does not allow this now (409)."""


class BusyError(ProblemError):
    """The gateway takes no more for now (429, 503); `retry_after` says when to come back."""


class GatewayFailedError(ProblemError):
    """The gateway failed (any other 5xx); its log has the request's id."""


_ERRORS_BY_STATUS: dict[int, type[ProblemError]] = {
    HTTPStatus.UNAUTHORIZED: KeyRefusedError,
    HTTPStatus.FORBIDDEN: KeyRefusedError,
    HTTPStatus.NOT_FOUND: NotFoundError,
    HTTPStatus.CONFLICT: ConflictError,
    HTTPStatus.TOO_MANY_REQUESTS: BusyError,
    HTTPStatus.SERVICE_UNAVAILABLE: BusyError,
}


def problem_error(response: "httpx.Response") -> ProblemError:
    """Return the error that an answer of status 4xx or 5xx, read whole, stands for.

    Ten of its findings in the message.
    """
    status = response.status_code
    kind = _ERRORS_BY_STATUS.get(status, GatewayFailedError if response.is_server_error else RefusedError)
    problem = _document(response)
    detail = _problem_text(problem) or f"{response.request.url} answered {status} {response.reason_phrase}"
    found = [finding for finding in problem.get("errors", ()) if isinstance(finding, Mapping)]
    lines = [_finding_line(finding, detail) for finding in found]
    said = [detail, *(f"  {line}" for line in lines[:_MOST_LINES] if line)]
    said += [f"  and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    wait = retry_after(response)
    said += [f"  try again in {wait:g} s"] if wait is not None else []
    return kind(
        "\n".join(said),
        status,
        kind=str(problem.get("type", "")).rpartition(":")[2],
        findings=found,
        retry_after=wait,
        request_id=response.headers.get("X-Request-Id"),
    )


def retry_after(response: "httpx.Response") -> float | None:
    """Seconds after which the gateway wants to be asked again; None where it names none."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdecimal() else None


def _document(response: "httpx.Response") -> Mapping[str, Any]:
    if "json" not in response.headers.get("Content-Type", ""):
        return {}
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _problem_text(problem: Mapping[str, Any]) -> str:
    error = problem.get("error")  # as OpenAI's routes answer
    said = problem.get("detail") or problem.get("title") or (error.get("message") if isinstance(error, dict) else error)
    return str(said or "")


def _finding_line(finding: Mapping[str, Any], said: str) -> str:
    """Return where a finding is and what it is; only what has not been said already."""
    named = [f"{place} {finding[place]}" for place in _LOCATION_FIELDS if finding.get(place) is not None]
    detail = str(finding.get("detail", ""))
    if detail not in said:
        return ", ".join(named) + (": " if named else "") + detail
    return ", ".join(place for place in named if not place.startswith("pointer") and place.split(" ", 1)[1] not in said)
