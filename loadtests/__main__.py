"""Runs every shape of traffic against an installation that it starts, and tells what came of it.

    python -m loadtests [--only SHAPE ...] [--seconds 30] [--minutes 30] [--folder loadtests-results]

CSV and HTML of each shape are in the folder; a table in Markdown is printed. Ends with status 1 when a shape missed its
thresholds. `hey`, where it is installed, shows beside it what the gateway's cheapest answers come to.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadtests.installation import Installation, installed

_WORKER = ("--speed", "0", "--max-requests", "64")


@dataclass(frozen=True)
class Shape:
    """One file of this folder, how many users it has, and whether it goes on for minutes."""

    name: str
    users: int
    long: bool = False


SHAPES = (
    Shape("small_jobs", 20),
    Shape("huge_job", 1),
    Shape("spike", 60),
    Shape("watchers", 400),
    Shape("exports", 4),
    Shape("chats", 50),
    Shape("misbehaving", 20),
    Shape("soak", 10, long=True),
)


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m loadtests")
    parser.add_argument("--only", nargs="+", choices=[shape.name for shape in SHAPES])
    parser.add_argument("--seconds", type=float, default=30.0, help="of each shape but the soak")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the soak")
    parser.add_argument("--folder", type=Path, default=Path("loadtests-results"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    rows, failed = [], False
    with installed(1, *_WORKER) as installation:
        for shape in SHAPES:
            if asked.only and shape.name not in asked.only:
                continue
            seconds = 60 * asked.minutes if shape.long else asked.seconds
            status = run(installation.url, shape, seconds, asked.folder)
            failed |= status != 0
            rows += [f"| {shape.name} | {shape.users} | {line} |" for line in _lines(asked.folder / shape.name)]
            rows[-1:] = [rows[-1][:-1] + f" {'kept' if status == 0 else 'MISSED'} |"]
        ceiling = _ceiling(installation)
    print("| shape | users | calls | failed | a second | p50 ms | p99 ms | thresholds |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join([*rows, "", *ceiling]))
    return int(failed)


def run(url: str, shape: Shape, seconds: float, folder: Path) -> int:
    """Let locust send one shape; returns its exit status."""
    command = [sys.executable, "-m", "locust", "-f", f"loadtests/{shape.name}.py", "--headless", "--host", url]
    command += ["-u", str(shape.users), "-r", str(shape.users), "-t", f"{seconds:g}s", "--stop-timeout", "120"]
    command += ["--csv", str(folder / shape.name), "--html", str(folder / f"{shape.name}.html"), "--only-summary"]
    environment = {**os.environ, "GIGAVQA_LOAD_SECONDS": f"{seconds:g}"}
    with (folder / f"{shape.name}.log").open("wb") as log:
        return subprocess.run(command, env=environment, stdout=log, stderr=log, check=False).returncode


def _lines(prefix: Path) -> Iterator[str]:
    with Path(f"{prefix}_stats.csv").open(newline="") as file:
        total = list(csv.DictReader(file))[-1]
    told = ("Request Count", "Failure Count", "Requests/s", "50%", "99%")
    yield " | ".join(f"{float(total[name]):.0f}" if total[name] != "N/A" else "-" for name in told)


def _ceiling(installation: Installation) -> Iterator[str]:
    """What one client that does nothing else gets of the cheapest answers."""
    if not shutil.which("hey"):
        yield "No ceiling: `hey` is not installed."
        return
    for path in ("/healthz", "/v1/jobs?limit=1"):
        command = ["hey", "-n", "2000", "-c", "8", f"{installation.url}{path}"]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found = re.search(r"Requests/sec:\s*([\d.]+)", told)
        yield f"Ceiling by `hey -n 2000 -c 8`: `{path}` {float(found.group(1)) if found else 0:.0f} a second.  "


if __name__ == "__main__":
    sys.exit(main())
