"""How soon the first response about a picture comes: `python -m performance.first`. Two minutes.

Each picture of the demo, and one slide of 100,000 x 100,000 pixels, is asked about in a job of its own (two questions
under V1 to V4), submitted to an idle service whose engine is loaded: once when nobody has seen the picture, and once
more by a new process that finds what the first one left on disk.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jobs.models import JobSpec
from performance.peers.scenario import Scenario, cache_folder, make_huge_scenario, make_scenario
from performance.peers.service import RunningService, first_responses
from tiling.headers import read_header

_QUESTIONS = 2


def first_by_picture(scenario: Scenario, home: Path) -> dict[str, float]:
    """Seconds from the submission of a picture's own job to its first response, by the file's name."""
    service = RunningService(home, Path(scenario.data), Path(scenario.weights).parent)
    try:
        seconds: dict[str, float] = {}
        for samples in _samples_by_picture(scenario).values():
            job = service.play(JobSpec(**scenario.spec | {"samples": samples}))
            seconds |= first_responses(job, service.responses(job))
        return seconds
    finally:
        service.stop()


def _samples_by_picture(scenario: Scenario) -> Mapping[str, Sequence[str]]:
    samples: dict[str, list[str]] = {}
    for line in _records(scenario):
        samples.setdefault(line["image"], []).append(line["id"])
    return samples


def _records(scenario: Scenario) -> Iterator[Any]:
    for path in sorted((Path(scenario.data) / scenario.name / "samples").glob("*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _scenarios(cache: Path) -> tuple[Scenario, Scenario]:
    return make_scenario(cache, _QUESTIONS), make_huge_scenario(cache, _QUESTIONS)


def _lines(scenarios: Sequence[Scenario], cold: Mapping[str, float], warm: Mapping[str, float]) -> Iterator[str]:
    paths = {item.picture: Path(item.looks[0].path) for scenario in scenarios for item in scenario.items}
    yield "| picture | megapixels | never seen, s | seen before, s |"
    yield "|---|---|---|---|"
    for name, path in sorted(paths.items(), key=lambda pair: math.prod(read_header(pair[1]).size)):
        size = math.prod(read_header(path).size) / 1e6
        yield f"| {name} | {size:,.0f} | {cold[name]:.1f} | {warm[name]:.1f} |"


def _in_own_process(cache: Path, home: Path) -> dict[str, float]:
    argv = [sys.executable, "-m", "performance.first", "--cache", str(cache), "--home", str(home)]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="pictures and checkpoint")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    scenarios = _scenarios(options.cache)
    if options.home:
        found = [first_by_picture(each, options.home / each.name) for each in scenarios]
        print(json.dumps({name: seconds for each in found for name, seconds in each.items()}))
        return
    home = Path(tempfile.mkdtemp(prefix="first-"))
    try:
        cold = _in_own_process(options.cache, home)
        warm = _in_own_process(options.cache, home)
    finally:
        shutil.rmtree(home)
    print("\n".join(_lines(scenarios, cold, warm)))


if __name__ == "__main__":
    main()
