"""Measures what large inputs take: CPU seconds and memory an item at three sizes, and the exponents they grow by.

    python -m performance.size                      # the commands, at 1,000, 4,000 and 16,000 items
    python -m performance.size --gateway --sizes 10000 100000

Each command runs in a process of its own; what it takes with ten items is taken off. An exponent is the slope between
the logarithms of net CPU seconds at the two largest sizes, and memory an item the slope between what they take: smaller
ones measure the start-up and what is kept up to a bound, whatever the size. `--gateway` instead imports the questions
and submits a job over each data set to a gateway of its own, without a worker, cancels it and retries it, while another
client asks for `/v1/version` again and again.
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
from PIL import Image

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import start_store

_MODEL = "demo-qwen3-vl"
_PICTURES = 100
_FEWEST = 10
_GATEWAY_SECONDS = 600


class Cost(NamedTuple):
    """The CPU seconds of a process and its largest resident memory in bytes."""

    seconds: float
    memory: int


def main() -> None:
    """Measure, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 4_000, 16_000])
    parser.add_argument("--gateway", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_pictures(work / "pictures")
        if arguments.gateway:
            for size in arguments.sizes:
                measure(work, *import_questions(work, size))
                _measure_submission(work, size)
            return
        print("| command | items | CPU s | ms an item | MB | exponent | kB an item |\n|---|---|---|---|---|---|---|")
        for name, prepare in STEPS.items():
            base = measure(work, *prepare(work, _FEWEST))
            costs = [measure(work, *prepare(work, size)) for size in arguments.sizes]
            _print_rows(name, arguments.sizes, costs, base)


def measure(home: Path, *arguments: str) -> Cost:
    """Run a command of `gigavqa` to its end."""
    environment = {**os.environ, "GIGAVQA_HOME": str(home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "gigavqa", *arguments],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def _print_rows(name: str, sizes: Sequence[int], costs: Sequence[Cost], base: Cost) -> None:
    net = [max(0.01, cost.seconds - base.seconds) for cost in costs]
    several = len(sizes) > 1
    fitted = f"{fit_exponent(sizes[-2:], net[-2:]):.2f} | {_slope(sizes, costs):.2f}" if several else " | "
    for size, cost, seconds in zip(sizes, costs, net, strict=True):
        memory = (cost.memory - base.memory) / 1e6
        shown = fitted if size == sizes[-1] else " | "
        print(
            f"| {name} | {size:,} | {seconds:.1f} | {1e3 * seconds / size:.2f} | {memory:.0f} | {shown} |", flush=True
        )


def _slope(sizes: Sequence[int], costs: Sequence[Cost]) -> float:
    """Return the kB that an item more takes."""
    return (costs[-1].memory - costs[-2].memory) / 1e3 / (sizes[-1] - sizes[-2])


def fit_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent by which a cost grows with the size: 1 where it is linear."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(one) for one in seconds]).slope


def write_pictures(folder: Path) -> None:
    """Write a hundred small pictures."""
    folder.mkdir()
    for at in range(_PICTURES):
        Image.new("RGB", (64, 48), (at, 90, 90)).save(folder / f"{at}.png")


def _write_records(path: Path, number: int, image: Callable[[int], str | None]) -> Path:
    with path.open("w") as lines:
        for at in range(number):
            record = {
                "id": f"q-{at:06d}",
                "category": f"category-{at % 7}",
                "question": f"Which quadrant of the picture holds most people, as seen at {at} o'clock?",
                "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
                "answer": "ABCD"[at % 4],
                "source": f"survey {at % 50}, page {at}",
            }
            lines.write(json.dumps(record | ({"image": name} if (name := image(at)) else {})) + "\n")
    return path


def import_questions(work: Path, size: int) -> tuple[str, ...]:
    """Write so many questions about them; returns the command that imports them."""
    records = _write_records(work / f"questions-{size}.jsonl", size, lambda at: f"{at % _PICTURES}.png")
    return _import(records, f"questions-{size}", work / "pictures")


def _import_found_out(work: Path, size: int) -> tuple[str, ...]:
    return _import(work / f"questions-{size}.jsonl", f"found-out-{size}", work / "pictures")[:-2]


def _import_pictures(work: Path, size: int) -> tuple[str, ...]:
    folder = work / f"pictures-{size}"
    folder.mkdir()
    drawn = (work / "pictures/0.png").read_bytes()
    for at in range(size):
        (folder / f"q-{at:06d}.{at * 2654435761 % 2**32:08x}.png").write_bytes(drawn + at.to_bytes(4, "big"))
    return _import(_write_records(work / f"stems-{size}.jsonl", size, lambda at: None), f"stems-{size}", folder)


def _import_missing(work: Path, size: int) -> tuple[str, ...]:
    return _import(work / f"stems-{size}.jsonl", f"missing-{size}", work / "pictures")


def _import(records: Path, name: str, images: Path) -> tuple[str, ...]:
    return ("dataset", "import", str(records), name, "--images", str(images), "--benchmark", "questions")


def _score(work: Path, size: int) -> tuple[str, ...]:
    replies = work / f"replies-{size}.jsonl"
    with replies.open("w") as lines:
        for at in range(size):
            lines.write(
                json.dumps({"sample_id": f"q-{at:06d}", "model": "one", "text": f"It is {'ABCD'[at % 3]}."}) + "\n"
            )
    return ("score", f"questions-{size}", str(replies), "--format", "json")


STEPS: dict[str, Callable[[Path, int], tuple[str, ...]]] = {
    "`dataset import`, questions": import_questions,
    "the same, benchmark found out": _import_found_out,
    "`dataset import`, pictures by the beginning of their names": _import_pictures,
    "the same, no picture there": _import_missing,
    "`dataset check`": lambda work, size: ("dataset", "check", f"questions-{size}"),
    "`dataset show`, all": lambda work, size: ("dataset", "show", f"questions-{size}"),
    "`dataset show`, one": lambda work, size: ("dataset", "show", f"questions-{size}", "q-000005"),
    "`score`": _score,
}
"""The commands in their order: some need what those before them made."""


def _measure_submission(work: Path, size: int) -> None:
    with _gateway(work) as (process, url), httpx.Client(base_url=url, timeout=_GATEWAY_SECONDS) as client:
        before, idle = _resident(process), _ask_beside(url, lambda: time.sleep(3))
        cell = {"protocol": "direct", "condition": "V0"}
        spec = {"dataset": f"questions-{size}", "models": [_MODEL], "cells": [cell]}
        print(f"\ngateway, {size:,} questions: {_latencies('idle', idle)}", flush=True)
        job = _measure_queueing("submitted", url, client, "/v1/jobs", spec)
        client.post(f"/v1/jobs/{job}/cancel").raise_for_status()
        _measure_queueing("cancelled and retried", url, client, f"/v1/jobs/{job}/retry", None)
        page = [_seconds_of(client, f"/v1/datasets/questions-{size}/images", limit=100) for _ in range(2)]
        memory = (_resident(process) - before) / 1e3 / size
        print(f"a page of images {page[1]:.2f} s; memory {memory:.2f} kB a question", flush=True)


def _measure_queueing(name: str, url: str, client: httpx.Client, path: str, spec: object) -> str:
    """Tell what it takes to answer, and to queue a job; returns its id."""
    started, answered, job = time.monotonic(), 0.0, ""

    def queue() -> None:
        nonlocal answered, job
        job = client.post(path, json=spec).raise_for_status().json()["id"]
        answered = time.monotonic() - started
        while client.get(f"/v1/jobs/{job}").json()["status"] == "validating":
            time.sleep(0.2)

    beside = _ask_beside(url, queue)
    queued = time.monotonic() - started
    print(f"{name}: answered after {answered:.2f} s, in progress after {queued:.1f} s; {_latencies('beside', beside)}")
    return job


def _latencies(when: str, seconds: Sequence[float]) -> str:
    p50, p99 = _quantile(seconds, 50), _quantile(seconds, 99)
    return f"/v1/version {when} p50 {p50:.0f} ms, p99 {p99:.0f} ms of {len(seconds)}"


@contextmanager
def _gateway(work: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    with tempfile.TemporaryDirectory() as folder, (work / "gateway.log").open("wb") as log:
        store, port = start_store(Path(folder)), free_port("127.0.0.1")
        limits = {"GIGAVQA_QUEUE_REQUESTS": "2000000"}
        environment = {**os.environ, **limits, "GIGAVQA_HOME": str(work), "REDIS_URL": store.url}
        command = [sys.executable, "-m", "gigavqa.service", "--port", str(port)]
        process, url = subprocess.Popen(command, env=environment, stdout=log, stderr=log), f"http://127.0.0.1:{port}"
        try:
            wait_for_gateway(url)
            yield process, url
        finally:
            process.terminate()
            process.wait(60)
            store.stop()


def wait_for_gateway(url: str) -> None:
    """Wait until a gateway answers. Raises TimeoutError."""
    for _ in range(600):
        try:
            httpx.get(f"{url}/v1/version").raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(f"no gateway answers at {url}")


def _ask_beside(url: str, work: Callable[[], object]) -> list[float]:
    """Return the seconds that another client's calls take while something else is done."""
    took: list[float] = []
    done = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=url, timeout=60) as client:
            while not done.is_set():
                took.append(_seconds_of(client, "/v1/version"))
                time.sleep(0.02)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        work()
    finally:
        done.set()
        thread.join()
    return took


def _seconds_of(client: httpx.Client, path: str, **query: int) -> float:
    started = time.monotonic()
    client.get(path, params=query).raise_for_status()
    return time.monotonic() - started


def _quantile(seconds: Sequence[float], percent: int) -> float:
    ordered = sorted(seconds)
    return 1e3 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _resident(process: subprocess.Popen[bytes]) -> int:
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
