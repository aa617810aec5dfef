"""Calls of the gateway's API, and readers of its answers: the same for both clients, which only send it."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO, Generic, Literal, TypedDict, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import ValidationError

from gigavqa.client.errors import GigavqaError, RefusedError
from gigavqa.contract.jobs import Job, JobSpec, JobStatus, JobSummary, RequestCounts
from gigavqa.contract.requests import Condition
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.contract.schema_versions import read_response
from gigavqa.runtime.validation import describe_faults
from gigavqa.store.worker_registry import WorkerStatus

_PAGE_SIZE = 100
TIMEOUT = httpx.Timeout(10.0, read=300.0)
_JUDGING = httpx.Timeout(10.0, read=3600.0)
"""What judges a job waits for all of it: half a million replies take a gateway ten minutes the first time."""
EVENTS_SILENCE = 60.0
"""Seconds after which a stream of events is broken; the gateway sends a ping every 15 s."""

AnswerT = TypeVar("AnswerT")
ReportFormat = Literal["json", "md", "csv", "tex", "html"]
VerdictFormat = Literal["csv", "jsonl", "parquet"]
FilePurpose = Literal["assistants", "batch", "evals", "user_data", "vision"]


class ResultFilter(TypedDict, total=False):
    """The responses to show; all when nothing is given."""

    condition: Condition
    protocol: str
    max_rounds: int
    model: str
    sample_id: str
    status: Literal["ok", "failed"]


class JobFilter(TypedDict, total=False):
    """The jobs to list; all when nothing is given."""

    status: JobStatus | str
    dataset: str
    model: str
    metadata: Mapping[str, str]
    created_after: datetime
    created_before: datetime
    order: Literal["newest", "oldest"]


@dataclass(frozen=True)
class ApiCall(Generic[AnswerT]):
    """One request, and how its answer is read. One that is `repeatable` does no harm when it arrives twice."""

    method: str
    path: str
    read: Callable[[httpx.Response], AnswerT]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    repeatable: bool = True


def submit(spec: JobSpec | Mapping[str, Any], idempotency_key: str | None) -> ApiCall[Job]:
    """Submit a job. It has a key in any case, so that one whose answer was lost can be asked again."""
    body = validate_spec(spec).model_dump(mode="json", exclude_defaults=True)
    named = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return ApiCall("POST", "/v1/jobs", _parse_job, {"json": body, "headers": named})


def validate_spec(spec: JobSpec | Mapping[str, Any]) -> JobSpec:
    """Return a specification given whole or by its fields; raises RefusedError that names each field that is wrong."""
    try:
        return spec if isinstance(spec, JobSpec) else JobSpec.model_validate(spec)
    except ValidationError as error:
        raise RefusedError(describe_faults(error), 422, kind="request-invalid") from error


def submission_key(spec: JobSpec | Mapping[str, Any], *, again: bool) -> str:
    """Return the key under which a specification is asked once, or one that no other submission has."""
    return f"ask-{uuid4().hex if again else hashlib.sha256(validate_spec(spec).model_dump_json().encode()).hexdigest()}"


def next_step(job: Job) -> Literal["retry", "anew"] | None:
    """Return what has to be done with an earlier job, so that all of it is asked."""
    steps: dict[JobStatus, Literal["retry", "anew"]] = {JobStatus.CANCELLED: "retry", JobStatus.FAILED: "anew"}
    return steps.get(job.status)


def read_line(line: str) -> Response | UnreadableResponse:
    """Return a line of a stream of responses as an object."""
    # Looked for as text first: few lines are worth reading twice.
    if '"unreadable"' in line and "unreadable" in (fields := json.loads(line)):
        return UnreadableResponse.model_validate(fields, extra="ignore")
    return read_response(line, extra="ignore")


def single_response(found: Sequence[Response | UnreadableResponse]) -> Response:
    """Return the response of a job of one request, its newest.

    Raises GigavqaError where there is none that can be read.
    """
    if not found:
        raise GigavqaError("the job ended without a response")
    if isinstance(found[-1], UnreadableResponse):
        raise GigavqaError(found[-1].unreadable)
    return found[-1]


def job(job_id: str) -> ApiCall[Job]:
    return ApiCall("GET", f"/v1/jobs/{job_id}", _parse_job)


def jobs(after: str | None, limit: int | None, filters: JobFilter) -> ApiCall[tuple[list[JobSummary], str | None]]:
    """Return a page of jobs, newest first, and the id to go on behind, where there are more."""
    asked = {**filters, "after": after, "limit": min(_PAGE_SIZE, limit or _PAGE_SIZE)}
    return ApiCall("GET", "/v1/jobs", _parse_job_page, {"params": _query_params(asked)})


def cancel(job_id: str) -> ApiCall[Job]:
    """Cancel a job."""
    return ApiCall("POST", f"/v1/jobs/{job_id}/cancel", _parse_job)


def retry(job_id: str, *, empty: bool) -> ApiCall[Job]:
    """Retry what is not answered of a job, and what is no answer."""
    asked = {"params": {"empty": True}} if empty else {}
    return ApiCall("POST", f"/v1/jobs/{job_id}/retry", _parse_job, asked, repeatable=False)


def set_webhook(job_id: str, url: str, secret: str) -> ApiCall[None]:
    """Give a job its webhook."""
    body = {"url": url, "secret": secret}
    return ApiCall("PUT", f"/v1/jobs/{job_id}/webhook", lambda _: None, {"json": body})


def delete(job_id: str) -> ApiCall[str]:
    """Delete a final job."""
    return ApiCall("DELETE", f"/v1/jobs/{job_id}", lambda answer: str(answer.json()["id"]), repeatable=False)


def workers() -> ApiCall[list[WorkerStatus]]:
    """Return the workers that announce themselves."""
    return ApiCall(
        "GET",
        "/v1/workers",
        lambda answer: [WorkerStatus.model_validate(worker, extra="ignore") for worker in answer.json()["data"]],
    )


def list_items(path: str) -> ApiCall[list[dict[str, Any]]]:
    """Return what a list holds, as it comes."""
    return ApiCall("GET", path, lambda answer: list(answer.json()["data"]))


def reviews(dataset: str) -> ApiCall[dict[str, Any]]:
    """Return how far a review is, and how far its reviewers agree."""
    return ApiCall("GET", _reviews_path(dataset), _read_object, {"params": {"limit": 0}})


def samples_to_review(dataset: str, state: str, after: str | None, limit: int) -> ApiCall[list[dict[str, Any]]]:
    """Return samples to be answered blind."""
    asked = {"state": state, "after": after, "limit": limit}
    return ApiCall(
        "GET",
        f"{_reviews_path(dataset)}/samples",
        lambda answer: list(answer.json()["data"]),
        {"params": _query_params(asked)},
    )


def review(dataset: str, entry: Mapping[str, Any]) -> ApiCall[dict[str, Any]]:
    """Write a verdict. It has an id in any case, so that one whose answer was lost is written once."""
    return ApiCall("POST", _reviews_path(dataset), _read_object, {"json": {"id": uuid4().hex, **entry}})


def chat(body: Mapping[str, Any]) -> ApiCall[dict[str, Any]]:
    """Answer one chat. It is played anew each time that it arrives."""
    return ApiCall("POST", "/v1/chat/completions", _read_object, {"json": dict(body)}, repeatable=False)


def upload(
    content: bytes | BinaryIO, filename: str, purpose: FilePurpose, keep_seconds: int | None
) -> ApiCall[dict[str, Any]]:
    """Keep a file; each time that it arrives is another."""
    fields: dict[str, str] = {"purpose": purpose}
    if keep_seconds is not None:
        fields |= {"expires_after[anchor]": "created_at", "expires_after[seconds]": str(keep_seconds)}
    sent = {"data": fields, "files": {"file": (filename, content, "application/octet-stream")}}
    return ApiCall("POST", "/v1/files", _read_object, sent, repeatable=False)


def file(file_id: str) -> ApiCall[dict[str, Any]]:
    """Return what is known of a file."""
    return ApiCall("GET", _file_path(file_id), _read_object)


def delete_file(file_id: str) -> ApiCall[None]:
    """Delete a file."""
    return ApiCall("DELETE", _file_path(file_id), lambda _: None, repeatable=False)


def file_content(file_id: str) -> ApiCall[None]:
    """Return the bytes of a file; they are read by whoever opens the stream."""
    return ApiCall("GET", f"{_file_path(file_id)}/content", lambda _: None)


def start_batch(file_id: str, metadata: Mapping[str, str]) -> ApiCall[dict[str, Any]]:
    """Start a batch; each time that it arrives is another."""
    body = {"input_file_id": file_id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    return ApiCall(
        "POST", "/v1/batches", _read_object, {"json": {**body, "metadata": dict(metadata)}}, repeatable=False
    )


def batch(batch_id: str) -> ApiCall[dict[str, Any]]:
    """Return one batch."""
    return ApiCall("GET", f"/v1/batches/{quote(batch_id, safe='')}", _read_object)


def batches(after: str | None) -> ApiCall[tuple[list[dict[str, Any]], str | None]]:
    """Return a page of batches, newest first, and the id to go on behind, where there are more."""
    asked = _query_params({"after": after, "limit": _PAGE_SIZE})
    return ApiCall("GET", "/v1/batches", _parse_batch_page, {"params": asked})


def cancel_batch(batch_id: str) -> ApiCall[dict[str, Any]]:
    """Play no more of a batch."""
    return ApiCall("POST", f"/v1/batches/{quote(batch_id, safe='')}/cancel", _read_object)


def _file_path(file_id: str) -> str:
    return f"/v1/files/{quote(file_id, safe='')}"


def _parse_batch_page(answer: httpx.Response) -> tuple[list[dict[str, Any]], str | None]:
    page = answer.json()
    return list(page["data"]), page["last_id"] if page["has_more"] else None


def _reviews_path(dataset: str) -> str:
    return f"/v1/datasets/{quote(dataset, safe='')}/reviews"


def _read_object(answer: httpx.Response) -> dict[str, Any]:
    """Return an answer as it comes."""
    return dict(answer.json())


def report(
    job_ids: Sequence[str], form: ReportFormat, judges: Sequence[str] = (), *, by_job: bool = False
) -> ApiCall[str]:
    """One report over jobs of one data set, by the judges of other jobs."""
    asked = {"job": list(job_ids), "judge": list(judges), "by_job": by_job, "format": str(form)}
    return ApiCall("GET", "/v1/reports", lambda answer: answer.text, {"params": asked, "timeout": _JUDGING})


def verdicts(
    job_ids: Sequence[str], form: VerdictFormat, *, parts: bool, texts: bool, judges: Sequence[str] = ()
) -> ApiCall[bytes]:
    """Return a file of the verdicts on jobs of one data set."""
    asked = {"job": list(job_ids), "judge": list(judges), "format": str(form), "parts": parts, "texts": texts}
    return ApiCall("GET", "/v1/verdicts", lambda answer: answer.content, {"params": asked, "timeout": _JUDGING})


def results(job_id: str, after: str | None, limit: int | None, *, follow: bool, filters: ResultFilter) -> ApiCall[None]:
    """Return a stream of responses; its lines are read by whoever opens it."""
    asked = {**filters, "after": after, "limit": limit, "follow": follow or None}
    return ApiCall("GET", f"/v1/jobs/{job_id}/results", lambda _: None, {"params": _query_params(asked)})


def events(job_id: str, after: str | None, silence: float = EVENTS_SILENCE) -> ApiCall[None]:
    """Return a stream of a job's events behind the event `after`, given up after so many seconds of silence."""
    asked = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
    asked |= {"Last-Event-ID": after} if after else {}
    return ApiCall(
        "GET",
        f"/v1/jobs/{job_id}/events",
        lambda _: None,
        {"headers": asked, "timeout": httpx.Timeout(10.0, read=silence)},
    )


def _query_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _query_value(value) for name, value in params.items() if value is not None}


def _query_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [f"{name}={inner}" for name, inner in value.items()]
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def _parse_job(answer: httpx.Response) -> Job:
    return Job.model_validate(answer.json(), extra="ignore")


def _parse_job_page(answer: httpx.Response) -> tuple[list[JobSummary], str | None]:
    page = answer.json()
    found = [JobSummary.model_validate(one, extra="ignore") for one in page["data"]]
    return found, page["last_id"] if page["has_more"] else None


def apply_event(job: Job, data: Mapping[str, Any]) -> Job:
    """Return the job as an event tells that it is now."""
    counts = RequestCounts.model_validate(data["request_counts"], extra="ignore")
    return job.model_copy(update={"status": JobStatus(data["status"]), "request_counts": counts})
