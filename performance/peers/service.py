"""A whole service for a measurement: gateway, embedded server and one worker whose engine is loaded."""

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from gigavqa.cli.client import TerminalClient
from gigavqa.cli.launch import launch_service
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.contract.responses import Response
from gigavqa.contract.schema_versions import read_response
from gigavqa.runtime.home import Home
from performance.peers.scenario import MODEL

_POLL_SECONDS = 0.05
_HEARTBEAT_SECONDS = 0.5
_COUNTER = re.compile(r"^gigavqa_worker_(\w+?)(?:_total)?(?:{.*})? (\S+)$", re.MULTILINE)


class RunningService:
    """`gigavqa up` on `home`, with the pictures below `data`. Everything ends with `stop`."""

    def __init__(self, home: Path, data: Path, checkpoints: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        if not (home / "checkpoints").exists():
            (home / "checkpoints").symlink_to(checkpoints)
        _draw_warm_up(data)
        os.environ["GIGAVQA_HOME"], os.environ["GIGAVQA_DATA"] = str(home), str(data)
        os.environ["GIGAVQA_WORKER_HEARTBEAT_SECONDS"] = str(_HEARTBEAT_SECONDS)  # its counters are as fresh
        self._stack = ExitStack()
        launched = self._stack.enter_context(launch_service([MODEL], Home.from_environment(), 0))
        self.client = self._stack.enter_context(TerminalClient(launched.wait_until_ready()))
        self.play(JobSpec(dataset="warm-up", models=(MODEL,), cells=({"protocol": "S0", "condition": "V1"},)))

    def play(self, spec: JobSpec) -> Job:
        """Submit a job and return it when its last response is recorded."""
        job = self.client.submit(spec)
        while not job.status.final:
            time.sleep(_POLL_SECONDS)
            job = self.client.job(job.id)
        return job

    def responses(self, job: Job) -> list[Response]:
        """Return all responses of a job."""
        return [read_response(line, extra="ignore") for line in self.client.result_lines(job.id)]

    def counters(self) -> dict[str, float]:
        """Return the worker's counters as they stand now, each summed over its labels."""
        time.sleep(3 * _HEARTBEAT_SECONDS)  # it follows those of library and engine with every heartbeat
        (worker,) = self.client.workers()
        text = httpx.get(str(worker.metrics_url), timeout=10).text
        counted: dict[str, float] = {}
        for name, value in _COUNTER.findall(text):
            counted[name] = counted.get(name, 0.0) + float(value)
        return counted

    def stop(self) -> None:
        """End the service."""
        self._stack.close()


def since(now: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """By how much counters grew."""
    return {name: value - before.get(name, 0.0) for name, value in now.items()}


def first_responses(job: Job, responses: list[Response]) -> dict[str, float]:
    """Seconds from the submission to the first response of each picture, by its file's name."""
    first: dict[str, float] = {}
    for response in sorted(responses, key=lambda response: response.created_at):
        picture = Path(response.rasters[0].view.image).name if response.rasters else "no picture"
        first.setdefault(picture, round((response.created_at - job.created_at).total_seconds(), 2))
    return first


def _draw_warm_up(data: Path) -> None:
    """A data set of one small picture and one question, which belongs to no scenario."""
    folder = data / "warm-up"
    if (folder / "dataset.toml").exists():
        return
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    Image.new("RGB", (640, 480)).save(folder / "images" / "grey.png")
    record: dict[str, Any] = {
        "id": "warm-up",
        "domain": "rs",
        "category": "comparison",
        "image": "images/grey.png",
        "question": "What is this?",
        "options": {"A": "black", "B": "white"},
        "answer": "A",
    }
    (folder / "samples" / "one.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (folder / "dataset.toml").write_text('name = "warm-up"\nbenchmark = "ultravr"\n', encoding="utf-8")
