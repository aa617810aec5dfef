"""Measures what reports and verdicts of a finished job take: CPU and peak memory of the gateway and of the command.

    python -m performance.reports --questions 16000 64000
    python -m performance.reports --questions 500000 --home FOLDER

Questions are imported and asked without pictures, by workers whose engine takes no time; then each command runs in a
process of its own against the gateway, whose peak is counted from the command's beginning. `score` reads the responses
from a file. A folder that is named is kept, and the job in it is measured again; `performance.grown_job` grows it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil

from performance.installation import MODEL, BenchInstallation
from performance.size import Cost, import_questions, wait_for_gateway, write_pictures

_WORKERS = 2
_COMMANDS: dict[str, tuple[str, ...]] = {
    "`report`, the first": ("report", "JOB"),
    "`report`": ("report", "JOB"),
    "`report --format json`": ("report", "JOB", "--format", "json"),
    "`report --format html`": ("report", "JOB", "--format", "html"),
    "`verdicts`, CSV": ("verdicts", "JOB", "--format", "csv"),
    "`verdicts`, JSON lines": ("verdicts", "JOB", "--format", "jsonl"),
    "`verdicts`, Parquet": ("verdicts", "JOB", "--format", "parquet"),
    "`results`": ("results", "JOB"),
}
_OFFLINE: dict[str, tuple[str, ...]] = {
    "`score`": ("score", "DATASET", "RESPONSES"),
    "`score --format html`": ("score", "DATASET", "RESPONSES", "--format", "html"),
    "`score --verdicts`": ("score", "DATASET", "RESPONSES", "--verdicts", "VERDICTS"),
}


def main() -> None:
    """Measure, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, nargs="+", default=[16_000, 64_000])
    parser.add_argument("--home", type=Path, help="a folder to keep, for one size")
    parser.add_argument("--only", nargs="+", default=[""], help="commands whose names hold any of these")
    chosen = parser.parse_args()
    print("| command | questions | CPU s: command | gateway | MB: command | gateway, before and peak | MB out |")
    print("|---|---|---|---|---|---|---|")
    for size in chosen.questions:
        with ExitStack() as stack:
            home = chosen.home or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            _measure_size(home, size, chosen.only)


def _measure_size(home: Path, size: int, only: Sequence[str]) -> None:
    installation = BenchInstallation(home, size)
    dataset = f"questions-{size}"
    try:
        wait_for_gateway(installation.url)
        job = _finished_job(installation, dataset, size)
        responses = home / f"{dataset}.ndjson"
        names = {
            "JOB": job,
            "DATASET": dataset,
            "RESPONSES": str(responses),
            "VERDICTS": str(home / "verdicts.parquet"),
        }
        for name, command in {**_COMMANDS, **_OFFLINE}.items():
            if any(part in name for part in only):
                if name in _OFFLINE and not responses.exists():
                    _run(installation, ("results", job, "--output", str(responses)))
                print(_row(installation, name, size, tuple(names.get(word, word) for word in command)), flush=True)
    finally:
        installation.stop()


def _finished_job(installation: BenchInstallation, dataset: str, size: int) -> str:
    """Return the id of a job over the questions that has ended."""
    with httpx.Client(base_url=installation.url, timeout=600) as client:
        jobs = client.get("/v1/jobs").raise_for_status().json()
        for job in jobs["data"]:
            if job["status"] == "completed":
                return str(job["id"])
        if not (installation.home / "pictures").exists():
            write_pictures(installation.home / "pictures")
        _run(installation, import_questions(installation.home, size))
        installation.add_workers(_WORKERS)
        spec = {"dataset": dataset, "models": [MODEL], "cells": [{"protocol": "direct", "condition": "V0"}]}
        job = client.post("/v1/jobs", json={**spec, "sampling": {"max_tokens": 16}}).raise_for_status().json()
        while job["status"] != "completed":
            if job["status"] in ("failed", "cancelled"):
                raise RuntimeError(f"the job ended as {job['status']}: {job['errors']}")
            time.sleep(1)
            job = client.get(f"/v1/jobs/{job['id']}").raise_for_status().json()
        return str(job["id"])


def _row(installation: BenchInstallation, name: str, size: int, command: tuple[str, ...]) -> str:
    gateway = psutil.Process(installation.gateway.pid)
    _forget_peak(gateway)
    before, busy = gateway.memory_info().rss, _cpu(gateway)
    cost, written = _run(installation, command)
    spent, peak = _cpu(gateway) - busy, _peak(gateway)
    memory = f"{cost.memory / 1e6:.0f} | {before / 1e6:.0f}, {peak / 1e6:.0f}"
    return f"| {name} | {size:,} | {cost.seconds:.1f} | {spent:.1f} | {memory} | {written / 1e6:.1f} |"


def _run(installation: BenchInstallation, command: tuple[str, ...]) -> tuple[Cost, int]:
    """Run a command of `gigavqa` to its end; returns what it took and the bytes that it printed."""
    environment = {**os.environ, "GIGAVQA_HOME": str(installation.home), "GIGAVQA_URL": installation.url}
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen([sys.executable, "-m", "gigavqa", *command], env=environment, stdout=told)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024), told.seek(0, os.SEEK_END)


def _forget_peak(process: psutil.Process) -> None:
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")


def _peak(process: psutil.Process) -> int:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    main()
