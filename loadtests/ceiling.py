"""Measure by `hey` what one client that does nothing else gets of the gateway's cheapest answers."""

import csv
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from loadtests.installation import Installation

COLUMNS = ("call", "at once", "answers", "failed", "a second", "p50 ms", "p95 ms", "p99 ms")
_AT_ONCE = (20, 400)
_JOB = 1000


def write(installation: Installation, seconds: float, file: Path) -> bool:
    """Ask for as long as this, as many at once as `small_jobs` and `watchers` have users; False without `hey`."""
    if not shutil.which("hey"):
        return False
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(COLUMNS)
        for name, path in _calls(installation):
            for at_once in _AT_ONCE:
                command = ["hey", "-z", f"{seconds:g}s", "-c", str(at_once), f"{installation.url}{path}"]
                told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                writer.writerow([name, at_once, *_numbers(told)])
    return True


def _calls(installation: Installation) -> Iterator[tuple[str, str]]:
    job = f"/v1/jobs/{installation.submit(_JOB)}"
    installation.until(lambda: (installation.ask(job) or {}).get("status") == "completed", "the job")
    yield "/healthz", "/healthz"
    yield "/v1/jobs/{id}", job
    yield "/v1/jobs/{id}/results?limit=100", f"{job}/results?limit=100"


def _numbers(told: str) -> Iterator[str]:
    statuses = {status: int(count) for status, count in re.findall(r"\[(\d{3})\]\s+(\d+) responses", told)}
    failed = sum(int(count) for count in re.findall(r"^\s+\[(\d+)\]\s+(?!\d+ responses)", told, re.MULTILINE))
    failed += sum(count for status, count in statuses.items() if status != "200")
    yield str(statuses.get("200", 0))
    yield str(failed)
    yield _found(r"Requests/sec:\s*([\d.]+)", told)
    for share in (50, 95, 99):
        yield _found(rf"{share}%+ in ([\d.]+) secs", told, 1000)


def _found(pattern: str, told: str, times: float = 1.0) -> str:
    found = re.search(pattern, told)
    return f"{times * float(found.group(1)):.0f}" if found else "N/A"
