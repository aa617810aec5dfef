"""Measure how far the service is from its engine: `python -m performance.bound`.

One plan over the demo is played by the whole service, on pictures that it has never seen and on pictures that it knows,
and by the engine alone, with every raster in memory: the same chats in the same order, as many at once, on an engine
with the same arguments. docs/performance/bound.md says what the figures mean.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.contract.responses import TurnResponse
from gigavqa.demo.ultravr.dataset import build_demo_dataset
from gigavqa.workers.checkpoints.build import ensure_checkpoint
from performance.peers.measuring import ProcessTree
from performance.peers.scenario import MODEL, cache_folder, requests_of
from performance.peers.service import RunningService, first_responses, since
from performance.peers.ways.alone import EngineAlone, empty

_PROCESSES = {
    "engine": "the engine's process",
    "workers": "the worker, or what asks the engine alone",
    "performance.bound": "the worker, or what asks the engine alone",
    "service": "the gateway",
    "valkey-server": "the server",
}
_SUMS = {
    "rendering_seconds_sum": "requests waited for rasters, s in all",
    "passes": "passes over files",
    "ingests": "ingests",
    "renders": "renders",
    "raster_hits": "rasters from memory",
    "previews": "previews",
    "processed_rasters": "encoder runs",
}


def play_alone(spec: JobSpec, data: Path, weights: str) -> dict[str, Any]:
    """Play the plan on the engine alone."""
    return asyncio.run(_play_alone(spec, data, weights))


async def _play_alone(spec: JobSpec, data: Path, weights: str) -> dict[str, Any]:
    alone = EngineAlone(load_catalogue()[MODEL], weights)
    await alone.engine.start()
    try:
        requests = [request for _, request in requests_of(spec, data)]
        alone.render(requests, data)
        await alone.play(requests[0], "warm-up")
        await empty(alone.engine)
        encoded = (await alone.engine.stats()).processed_rasters
        with ProcessTree(os.getpid()) as tree:
            spent, started = tree.cpu_by_name(), time.perf_counter()
            played = await asyncio.gather(*(alone.play(request, "measured") for request in requests))
            seconds, spent = time.perf_counter() - started, since(tree.cpu_by_name(), spent)
        stats = await alone.engine.stats()
    finally:
        await alone.engine.stop()
    turns = [turn for chat in played for turn in chat]
    told = {"seconds": seconds, "requests": len(played), "cpu": _by_process(spent)}
    return told | {"counted": {"processed_rasters": stats.processed_rasters - encoded}} | _tokens(turns)


def play_served(home: Path, spec: JobSpec, data: Path, weights: str) -> dict[str, Any]:
    """Play the plan as one job of a service on `home`."""
    service = RunningService(home, data, Path(weights).parent)
    try:
        before = service.counters()
        with ProcessTree(os.getpid()) as tree:
            spent, started = tree.cpu_by_name(), time.perf_counter()
            job = service.play(spec)
            seconds, after = time.perf_counter() - started, tree.cpu_by_name()
        return _told(service, job, seconds, since(after, spent), since(service.counters(), before))
    finally:
        service.stop()


def _told(
    service: RunningService, job: Job, seconds: float, cpu: Mapping[str, float], counted: Mapping[str, float]
) -> dict[str, Any]:
    if job.request_counts.completed < job.request_counts.total:
        raise SystemExit(f"performance.bound: {job.request_counts}: {job.failures or job.errors}")
    responses = service.responses(job)
    first = sorted(first_responses(job, [response for response in responses if response.rasters]).values())
    return {
        "seconds": seconds,
        "requests": len(responses),
        "cpu": _by_process({name: spent for name, spent in cpu.items() if name != "performance.bound"}),
        "counted": {name: counted[name] for name in _SUMS if name in counted},
        "first_response": first,
        **_tokens([turn for response in responses for turn in response.turns]),
    }


def _by_process(cpu: Mapping[str, float]) -> dict[str, float]:
    return {_PROCESSES[name]: spent for name, spent in cpu.items() if name in _PROCESSES}


def _tokens(turns: Sequence[TurnResponse]) -> dict[str, int]:
    usage = [turn.usage for turn in turns]
    return {
        "turns": len(turns),
        "prefilled_tokens": sum(each.prompt_tokens - each.cached_tokens for each in usage),
        "generated_tokens": sum(each.completion_tokens for each in usage),
    }


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a column for each way; the second row is what is wanted: 1.1 warm, 1.5 cold."""
    alone = figures["engine alone"]
    processes = dict.fromkeys(name for each in figures.values() for name in each["cpu"])
    totals = ("requests", "turns", "prefilled_tokens", "generated_tokens")
    beside = (each["seconds"] / alone["seconds"] for each in figures.values())
    rows = [
        ("", *figures),
        ("---",) * (len(figures) + 1),
        ("wall seconds", *(f"{each['seconds']:.1f}" for each in figures.values())),
        ("beside the engine alone", *(f"{ratio:.2f}" for ratio in beside)),
        *((f"CPU s of {name}", *(_number(each["cpu"].get(name)) for each in figures.values())) for name in processes),
        *((name.replace("_", " "), *(_number(each[name]) for each in figures.values())) for name in totals),
    ]
    known = {name for each in figures.values() for name in each["counted"]}
    rows += [
        (sentence, *(_number(each["counted"].get(name)) for each in figures.values()))
        for name, sentence in _SUMS.items()
        if name in known
    ]
    first = [each.get("first_response") for each in figures.values()]
    spans = (f"{times[0]:.1f} to {times[-1]:.1f}" if times else "-" for times in first)
    rows.append(("first response of a picture, s, of the first and of the last", *spans))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _in_own_process(way: str, options: argparse.Namespace, home: Path) -> dict[str, Any]:
    """Return each way begins with a process that has done nothing before."""
    argv = [sys.executable, "-m", "performance.bound", "--way", way, "--home", str(home)]
    argv += ["--plan", options.plan, "--cache", str(options.cache)]
    print(f"{way} ...", file=sys.stderr)
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plan", default="ultravr", help="of UltraVR: ultravr, table1, table2 or table3")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="pictures and checkpoint")
    parser.add_argument("--json", type=Path, help="write all figures into this file")
    parser.add_argument("--way", choices=["alone", "served"], help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = _options()
    data = options.cache / "data-1"
    build_demo_dataset(data / "demo", progress=lambda line: print(line, file=sys.stderr))
    spec = JobSpec(dataset="demo", models=(MODEL,), plan=options.plan)
    weights = str(ensure_checkpoint(load_catalogue()[MODEL].weights, options.cache / "checkpoints"))
    if options.way == "alone":
        print(json.dumps(play_alone(spec, data, weights)))
    elif options.way == "served":
        print(json.dumps(play_served(options.home, spec, data, weights)))
    else:
        _compare(options)


def _compare(options: argparse.Namespace) -> None:
    home = Path(tempfile.mkdtemp(prefix="bound-"))
    try:
        figures = {
            "service, cold": _in_own_process("served", options, home),
            "service, warm": _in_own_process("served", options, home),
            "engine alone": _in_own_process("alone", options, home),
        }
    finally:
        shutil.rmtree(home)
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
