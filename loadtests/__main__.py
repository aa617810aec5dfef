"""Sends every shape of traffic to installations that it starts, and tells what came of it.

    python -m loadtests [--only SHAPE ...] [--seconds 60] [--minutes 30] [--folder build/loadtests]
    python -m loadtests --table        # the tables of what is in the folder, without another run

Of each shape the folder has CSV, HTML, what the processes weighed, and verdicts; `table.md` has them as Markdown, which
is printed, too. Ends with status 1 when a shape missed a threshold. `hey`, where it is installed, shows beside it what
the gateway's cheapest answers come to.
"""

import argparse
import os
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from gigavqa.store.api_keys import Limits
from loadtests import ceiling, scale, verdicts
from loadtests.installation import Installation, running_installation
from loadtests.scale import sample_usage
from loadtests.table import tables

_WORKER = ("--speed", "0", "--max-requests", "64")
_CEILING_SECONDS = 10.0
_A_SECOND = 100
_UNBOUNDED = Limits(queued_requests=None, waiting_jobs=None, requests_a_minute=None, open_streams=None)
_BOUNDED = Limits(queued_requests=5000, requests_a_minute=6000)


@dataclass(frozen=True)
class TrafficShape:
    """One file of this folder: how many users it has, and what is done, in a few words.

    `seconds` bounds one that ends by itself. With `most_slope`, each process may grow by so many MiB a minute. With
    `keys` the installation asks for keys, of which those who misbehave have one that is bounded.
    """

    name: str
    users: int
    size: str
    seconds: float | None = None
    most_slope: float | None = None
    keys: bool = False


SHAPES = (
    TrafficShape("small_jobs", 20, "20 users, a job of 5 requests a second each"),
    TrafficShape("huge_job", 1, "one job of 100,000 requests", seconds=900),
    TrafficShape("spike", 60, "2, 60, 2 users, two jobs of 5 requests a second each"),
    TrafficShape("watchers", 400, "400 users, one job of 40,000 requests", seconds=900),
    TrafficShape("exports", 4, "4 users, 20,000 responses each time"),
    TrafficShape("chats", 50, "50 users, a chat every 0.3 s each"),
    TrafficShape("misbehaving", 20, "10 users misbehave, 10 do not", keys=True),
    TrafficShape("soak", 10, "10 users, a job of 5 requests every 2 s each", most_slope=0.1),
)


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m loadtests")
    parser.add_argument("--only", nargs="+", choices=[*(shape.name for shape in SHAPES), "ceiling"])
    parser.add_argument("--seconds", type=float, default=60.0, help="of each shape but those that end by themselves")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the soak")
    parser.add_argument("--folder", type=Path, default=Path("build/loadtests"))
    parser.add_argument("--table", action="store_true", help="send nothing; tell what the folder has")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    sound = True
    for shape in SHAPES if not asked.table else ():
        if not asked.only or shape.name in asked.only:
            seconds = 60 * asked.minutes if shape.name == "soak" else shape.seconds or asked.seconds
            sound &= send(shape, seconds, asked.folder)
    if not asked.table and (not asked.only or "ceiling" in asked.only):
        with _start_installation() as installation:
            if not ceiling.write(installation, _CEILING_SECONDS, asked.folder / "ceiling.csv"):
                print("no ceiling: `hey` is not installed", file=sys.stderr)
    told = "\n".join(tables(asked.folder, {shape.name: shape.size for shape in SHAPES}))
    (asked.folder / "table.md").write_text(f"{told}\n")
    print(told)
    return int(not sound)


def send(shape: TrafficShape, seconds: float, folder: Path) -> bool:
    """Let locust send one shape to an installation of its own; returns whether it kept all thresholds."""
    prefix = folder / shape.name
    told, weights = Path(f"{prefix}_verdicts.csv"), Path(f"{prefix}_weights.csv")
    told.unlink(missing_ok=True)
    with _start_installation(keys=shape.keys) as installation, sample_usage(installation, weights):
        status = run(installation, shape, seconds, prefix)
    verdicts.write(told, scale.judge_usage(weights, shape.most_slope))
    if status:
        verdicts.write(told, [verdicts.ThresholdResult("locust's exit status", "0", str(status), kept=False)])
    found = verdicts.read(told)
    sound = all(verdict.kept for verdict in found)
    print(f"{shape.name}: {'kept' if sound else 'MISSED'}", file=sys.stderr, flush=True)
    return sound


def run(installation: Installation, shape: TrafficShape, seconds: float, prefix: Path) -> int:
    """Let locust send one shape; returns its exit status."""
    command = [sys.executable, "-m", "locust", "-f", f"loadtests/{shape.name}.py", "--headless"]
    command += ["--host", installation.url, "-u", str(shape.users), "-r", str(min(shape.users, _A_SECOND))]
    command += ["-t", f"{seconds:g}s", "--stop-timeout", "120", "--only-summary"]
    command += ["--csv", str(prefix), "--html", f"{prefix}.html"]
    environment = {
        **os.environ,
        "GIGAVQA_LOAD_SECONDS": f"{seconds:g}",
        "GIGAVQA_LOAD_KEYS": " ".join(installation.keys),
        "GIGAVQA_LOAD_VERDICTS": f"{prefix}_verdicts.csv",
    }
    with Path(f"{prefix}.log").open("wb") as log:
        status = subprocess.run(command, env=environment, stdout=log, stderr=log, check=False).returncode
    if (last := prefix.with_name("last_stats.csv")).exists():
        last.rename(f"{prefix}_stats.csv")
    return status


def _start_installation(*, keys: bool = False) -> AbstractContextManager[Installation]:
    owners = {"beside": _UNBOUNDED, "misbehaving": _BOUNDED} if keys else {}
    return running_installation(1, *_WORKER, small_parts=False, owners=owners)


if __name__ == "__main__":
    sys.exit(main())
