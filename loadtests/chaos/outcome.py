"""Outcomes of jobs under faults, and what is required of them."""

import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq

from loadtests.installation import Installation


@dataclass
class ChaosOutcome:
    """Of one scenario: what was asked and hurt, what was lost, doubled or failed, and how long recoveries took."""

    name: str
    requests: int = 0
    hurt: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    twice: int = 0
    failed: int = 0
    seconds: float = 0.0
    recoveries: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """What should have happened and did not."""
    skipped: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing was lost, doubled or failed, and all was done and said that should be."""
        return not (self.lost or self.twice or self.failed or self.missed)

    def row(self) -> str:
        """One row of the table."""
        if self.skipped:
            return f"| {self.name} | | not run: {self.skipped} | | | | |"
        hurt = ", ".join(f"{number} x {what}" for what, number in sorted(self.hurt.items()))
        counts = f"{self.lost} | {self.twice} | {self.failed}"
        notes = "; ".join(filter(None, [describe_recovery(self.recoveries), *self.notes, *self.missed]))
        return f"| {self.name} | {self.requests:,} in {self.seconds:.0f} s | {hurt} | {counts} | {notes} |"


def table(outcomes: Sequence[ChaosOutcome]) -> Iterator[str]:
    """Yield all outcomes in Markdown."""
    yield "| scenario | requests | hurt by | lost | twice | failed | time to recover |"
    yield "|---|---|---|---|---|---|---|"
    yield from (outcome.row() for outcome in outcomes)


def inspect_job(
    installation: Installation, job_id: str, outcome: ChaosOutcome, *, parts: bool = True
) -> list[dict[str, Any]]:
    """Count what of a completed job is lost, there twice or failed, as its client and as its Parquet parts tell it."""
    job = _get_with_retries(installation, f"/v1/jobs/{job_id}").json()
    answers = _get_with_retries(installation, f"/v1/jobs/{job_id}/results?limit=100000")
    found = [httpx.Response(200, content=line).json() for line in answers.content.split(b"\n") if line]
    times = Counter(response["request_id"] for response in found)
    for response in found:
        if failure := response.get("failure"):
            outcome.why.append(f"{failure['type']}: {failure['message']}")
    counts = job["request_counts"]
    outcome.lost += counts["total"] - len(times)
    outcome.twice += sum(number - 1 for number in times.values())
    outcome.failed += sum(bool(response.get("failure")) for response in found)
    if counts["completed"] + counts["failed"] != len(times) or job["status"] != "completed":
        outcome.lost += 1
        outcome.notes.append(f"the job says {job['status']}, {counts}")
    if parts:
        _inspect_parts(installation, job_id, set(times), outcome)
    return found


def wait_until_sunk(installation: Installation, job_id: str) -> None:
    """Wait until no text of a job is left on the server."""
    key = f"gigavqa:job:{job_id}:texts"
    installation.until(lambda: not installation.client().hlen(key), "the last part")


def parts_of(installation: Installation, job_id: str) -> list[Path]:
    """Return the Parquet parts of a job."""
    return sorted((installation.results / f"job={job_id}").glob("*.parquet"))


def _inspect_parts(installation: Installation, job_id: str, asked: set[str], outcome: ChaosOutcome) -> None:
    wait_until_sunk(installation, job_id)
    rows = Counter[str]()
    for part in parts_of(installation, job_id):
        rows.update(pq.read_table(part, columns=["request_id"])["request_id"].to_pylist())
    outcome.lost += len(asked - set(rows))
    if doubled := sum(number - 1 for number in rows.values()):
        outcome.twice += doubled
        outcome.notes.append(f"{doubled} rows stand in two Parquet parts")


def _get_with_retries(installation: Installation, path: str) -> httpx.Response:
    told: list[httpx.Response] = []

    def answered() -> bool:
        try:
            told[:] = [httpx.get(f"{installation.url}{path}", timeout=120).raise_for_status()]
        except httpx.HTTPError:
            time.sleep(1)
        return bool(told)

    installation.until(answered, path)
    return told[0]


def describe_recovery(seconds: Sequence[float]) -> str:
    """Return how long recoveries took, in words; nothing where there was none."""
    if not seconds:
        return ""
    if len(seconds) == 1:
        return f"{seconds[0]:.1f} s"
    return f"{statistics.median(seconds):.1f} s at the median, {max(seconds):.1f} s at the most"
