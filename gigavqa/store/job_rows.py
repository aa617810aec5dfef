"""Read jobs and their events as the state store keeps them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from gigavqa.contract.errors import JobNotFoundError
from gigavqa.contract.jobs import Job, JobStatus, JobUsage, RequestCounts
from gigavqa.contract.schema_versions import read_spec

TIMES = ("created_at", "in_progress_at", "finished_at")


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job. `data` holds `status` and `request_counts` as they were then."""

    id: str
    kind: Literal["status", "progress"]
    data: dict[str, Any]


def read_event(entry_id: bytes, fields: Mapping[bytes, bytes]) -> JobEvent:
    """Return an event of a job's stream."""
    kind: Literal["status", "progress"] = "status" if fields[b"kind"] == b"status" else "progress"
    return JobEvent(entry_id.decode(), kind, json.loads(fields[b"data"]))


def read_job(job_id: str, row: Mapping[bytes, bytes]) -> Job:
    """Return the job of a row. Raises JobNotFoundError for one without fields."""
    if not row:
        raise JobNotFoundError(f"there is no job {job_id}")
    return Job(
        id=job_id,
        spec=read_spec(row[b"spec"]),
        **progress_fields({name.decode(): value for name, value in row.items()}),
        dataset_digest=row.get(b"dataset_digest", b"").decode() or None,
        errors=tuple(json.loads(row.get(b"errors", b"[]"))),
        warnings=tuple(json.loads(row.get(b"warnings", b"[]"))),
        failures={name: int(number) for name, number in _prefixed(row, "failure:").items() if int(number)},
        retryable=int(row.get(b"retryable", 0)),
        usage=JobUsage.model_validate(_prefixed(row, "sum:")),
        last_event_id=row.get(b"event", b"").decode() or None,
    )


def progress_fields(row: Mapping[str, bytes | None]) -> dict[str, Any]:
    """Return what a job and its summary say alike of how far it is."""
    return {
        "owner": (row.get("owner") or b"").decode() or None,
        "status": JobStatus((row["status"] or b"").decode()),
        "request_counts": RequestCounts(**{name: int(row[name] or 0) for name in RequestCounts.model_fields}),
        **{name: read_time(at) for name in TIMES if (at := row.get(name)) is not None},
    }


def _prefixed(row: Mapping[bytes, bytes], prefix: str) -> dict[str, str]:
    fields = ((name.decode(), value.decode()) for name, value in row.items())
    return {name.removeprefix(prefix): value for name, value in fields if name.startswith(prefix)}


def read_time(microseconds: bytes | float) -> datetime:
    """Return a time that is kept in microseconds since 1970."""
    return datetime.fromtimestamp(int(microseconds) / 1_000_000, UTC)
