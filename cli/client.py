"""An HTTP client of the gateway: the routes that the commands need, and problem documents as clear errors."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx

from catalogue.names import did_you_mean
from cli.errors import ArgumentError, GatewayUnreachableError, ProblemError
from jobs.fleet import WorkerStatus
from jobs.models import Job, JobSpec, JobSummary

_TIMEOUT = httpx.Timeout(10.0, read=300.0)
_MOST_LINES = 10
_RECENT_JOBS = 100
_EVENTS_TIMEOUT = httpx.Timeout(10.0, read=60.0)  # the gateway sends a ping every 15 s


class Client:
    """One gateway; use as a context manager. Every method raises GatewayUnreachableError and ProblemError."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=self.url, timeout=_TIMEOUT, headers=key_header())
        self._named = ""

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def submit(self, spec: JobSpec, idempotency_key: str | None = None) -> Job:
        """Submit a job; the same key with the same job returns the first one."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        body = spec.model_dump(mode="json", exclude_defaults=True)
        return Job.model_validate(self._json("POST", "/v1/jobs", json=body, headers=headers))

    def job(self, job_id: str) -> Job:
        """One job; `latest` is the newest."""
        return Job.model_validate(self._json("GET", f"/v1/jobs/{self.job_id(job_id)}"))

    def job_id(self, name: str) -> str:
        """Turn `latest` into the id of the newest job."""
        if name != "latest":
            self._named = name
            return name
        newest = self.jobs(limit=1)
        if not newest:
            raise ProblemError("the gateway has no job yet; submit one with `gigavqa submit`")
        return newest[0].id

    def jobs(self, limit: int) -> list[JobSummary]:
        """The newest jobs first, at most `limit`."""
        return [
            JobSummary.model_validate(job) for job in self._json("GET", "/v1/jobs", params={"limit": limit})["data"]
        ]

    def act(self, job_id: str, action: str) -> Job:
        """`cancel` a job, or `retry` what is not answered of it."""
        return Job.model_validate(self._json("POST", f"/v1/jobs/{self.job_id(job_id)}/{action}"))

    def delete(self, job_id: str) -> str:
        """Delete a final job with its responses; returns its id."""
        return str(self._json("DELETE", f"/v1/jobs/{self.job_id(job_id)}")["id"])

    def workers(self) -> list[WorkerStatus]:
        """The workers that announce themselves."""
        return [WorkerStatus.model_validate(worker) for worker in self._json("GET", "/v1/workers")["data"]]

    def has_dataset(self, name: str) -> bool:
        """Whether the gateway's data root has a data set of this name."""
        return any(dataset["name"] == name for dataset in self._json("GET", "/v1/datasets")["data"])

    def report(self, job_ids: Sequence[str], report_format: str) -> str:
        """One report over jobs, as `json`, `md`, `csv` or `html`."""
        names = [self.job_id(job_id) for job_id in job_ids]
        with self._problems():
            response = self._http.get("/v1/reports", params={"job": names, "format": report_format})
            raise_for_problem(response)
            return response.text

    def results(self, job_id: str, params: Mapping[str, Any]) -> Iterator[str]:
        """Lines of NDJSON, one response each, as the gateway sends them."""
        path = f"/v1/jobs/{self.job_id(job_id)}/results"
        with self._problems(), self._http.stream("GET", path, params=dict(params)) as response:
            if response.is_error:
                response.read()
            raise_for_problem(response)
            yield from (line for line in response.iter_lines() if line)

    def verdicts(self, job_ids: Sequence[str], params: Mapping[str, Any]) -> Iterator[bytes]:
        """A file of the verdicts on jobs, as the gateway sends it."""
        names = [self.job_id(job_id) for job_id in job_ids]
        path, asked = "/v1/verdicts", {**params, "job": names}
        with self._problems(), self._http.stream("GET", path, params=asked) as response:
            if response.is_error:
                response.read()
            raise_for_problem(response)
            yield from response.iter_bytes()

    @contextmanager
    def events(self, job_id: str, after: str | None) -> Iterator[httpx.Response]:
        """Open the stream of a job's server-sent events, behind the event `after`."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        headers |= {"Last-Event-ID": after} if after else {}
        path = f"/v1/jobs/{job_id}/events"
        with self._http.stream("GET", path, headers=headers, timeout=_EVENTS_TIMEOUT) as response:
            if response.is_error:
                response.read()
            raise_for_problem(response)
            yield response

    def _json(self, method: str, path: str, **arguments: Any) -> Any:
        with self._problems():
            response = self._http.request(method, path, **arguments)
            raise_for_problem(response)
            return response.json()

    @contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError as error:
            raise GatewayUnreachableError(
                f"no gateway answers at {self.url} ({error}). Start one with `gigavqa up`, or name another with --url "
                "or GIGAVQA_URL."
            ) from error
        except ProblemError as error:
            if error.status != HTTPStatus.NOT_FOUND or self._named not in str(error) or not self._named:
                raise
            name, self._named = self._named, ""  # the list of jobs may be a problem, too
            close = did_you_mean(name, [job.id for job in self.jobs(_RECENT_JOBS)])
            raise ProblemError(f"{error}{close or '; `gigavqa jobs` lists them'}", error.status) from error


def key_header() -> dict[str, str]:
    """The header that every request has: the key of GIGAVQA_API_KEY, if there is one. Raises ArgumentError."""
    key = os.environ.get("GIGAVQA_API_KEY", "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ArgumentError("GIGAVQA_API_KEY holds characters that no key has")
    return {"Authorization": f"Bearer {key}"} if key else {}


def raise_for_problem(response: httpx.Response) -> None:
    """Raise ProblemError with what a problem document names, one line a finding, ten at most."""
    if not response.is_error:
        return
    if "json" not in response.headers.get("Content-Type", ""):
        text = f"{response.request.url} answered {response.status_code} {response.reason_phrase}"
        raise ProblemError(text, response.status_code)
    problem = response.json()
    detail = problem.get("detail") or problem.get("title") or response.reason_phrase
    findings = [_line(finding, detail) for finding in problem.get("errors", ())]
    lines = [detail, *(f"  {line}" for line in findings[:_MOST_LINES] if line)]
    if (more := len(findings) - _MOST_LINES) > 0:
        lines.append(f"  and {more} more")
    if retry_after := response.headers.get("Retry-After"):
        lines.append(f"  try again in {retry_after} s")
    raise ProblemError("\n".join(lines), response.status_code)


def _line(finding: Mapping[str, Any], said: str) -> str:
    """Where a finding is and what it is; only what has not been said already."""
    places = ("file", "line", "sample", "image", "pointer", "parameter")
    named = [f"{place} {finding[place]}" for place in places if finding.get(place) is not None]
    detail = str(finding.get("detail", ""))
    if detail not in said:
        return ", ".join(named) + (": " if named else "") + detail
    return ", ".join(place for place in named if not place.startswith("pointer") and place.split(" ", 1)[1] not in said)
