"""The contender that is the whole product: `gigavqa up` and a job, from its submission to the last response."""

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from gigavqa.catalogue.write import write_entry
from gigavqa.cli.launch import launch_service
from gigavqa.runtime.home import Home
from performance.gpu.meter import MeasurementWindow
from performance.gpu.work import Workload, questions_of

_HEARTBEAT_SECONDS = 3.5
_PROMPT = 'version = "bench/1"\nprompt = "{question}"\n'


def run_service(work: Workload) -> dict[str, Any]:
    """Return a job on one model, with the engine loaded and one picture asked before."""
    home = _installation(work)
    with launch_service([work.entry.id], home, 0) as service, httpx.Client(timeout=60) as http:
        url = service.wait_until_ready()
        _play(http, url, "warm", [work.entry.id], work.max_tokens)
        before, window = _counters(http, url), MeasurementWindow()
        job = _play(http, url, "work", [work.entry.id], work.max_tokens)
        took, after = window.close(), _counters(http, url)
    usage = job["usage"]
    counted = {name: after[name] - before[name] for name in after}
    return took | {
        "requests": job["request_counts"]["completed"],
        "prompt_tokens": usage["prompt_tokens"],
        "cached_tokens": usage["cached_tokens"],
        "output_tokens": usage["completion_tokens"],
        "processed_pictures": counted["processed_rasters_total"],
        "renders": counted["renders_total"],
    }


def run_shifts(work: Workload) -> dict[str, Any]:
    """Return a job over two models on one worker that serves both in time slices.

    Switches and the seconds that they took.
    """
    home, models = _installation(work), [entry.id for entry in work.models]
    with launch_service(models, home, 0, ("--workers", "1", "--shift", "2")) as service, httpx.Client() as http:
        url = service.wait_until_ready()
        window = MeasurementWindow()
        job = _play(http, url, "work", models, work.max_tokens)
        took, counters = window.close(), _counters(http, url)
    return took | {
        "requests": job["request_counts"]["completed"],
        "switches": counters["switches_total"],
        "switch_seconds": counters["switch_seconds_total"],
    }


def _installation(work: Workload) -> Home:
    home = Home(folder=Path(work.folder) / f"home-{os.getpid()}")
    for entry in work.models:
        write_entry(entry, home.catalogue)
    _write_dataset(home.data / "work", work.pictures, work.questions)
    _write_dataset(home.data / "warm", [work.warm_picture], 1)
    return home


def _write_dataset(folder: Path, pictures: Sequence[str], number: int) -> None:
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "questions"\n')
    (folder / "prompt.toml").write_text(_PROMPT)
    with (folder / "samples/all.jsonl").open("w") as lines:
        for picture in pictures:
            name = Path(picture).name
            os.link(picture, folder / "images" / name)
            for each, text in enumerate(questions_of(picture, number)):
                record = {"id": f"{name}-{each}", "image": f"images/{name}", "question": text, "type": "open"}
                lines.write(json.dumps(record) + "\n")


def _play(http: httpx.Client, url: str, dataset: str, models: Sequence[str], max_tokens: int) -> dict[str, Any]:
    sampling = {"max_tokens": max_tokens, "temperature": 1.0, "top_p": 1.0, "top_k": -1}
    cells = [{"protocol": "own", "condition": "V2"}]
    spec = {"dataset": dataset, "models": models, "cells": cells, "sampling": sampling}
    answer = http.post(f"{url}/v1/jobs", json=spec)
    if answer.is_error:
        raise RuntimeError(answer.text)
    job: dict[str, Any] = answer.json()
    while job["status"] not in {"completed", "failed", "cancelled"}:
        time.sleep(0.05)
        job = http.get(f"{url}/v1/jobs/{job['id']}").raise_for_status().json()
    if job["request_counts"]["failed"]:
        raise RuntimeError(f"requests failed: {json.dumps(job)}")
    return job


def _counters(http: httpx.Client, url: str) -> dict[str, float]:
    time.sleep(_HEARTBEAT_SECONDS)  # workers take the engine's counters over with each heartbeat
    (worker,) = http.get(f"{url}/v1/workers").raise_for_status().json()["data"]
    text = http.get(worker["metrics_url"]).raise_for_status().text
    names = ("processed_rasters_total", "renders_total", "switches_total", "switch_seconds_total")
    return {
        name: sum(float(found) for found in re.findall(rf"^gigavqa_worker_{name}(?:{{.*}})? (\S+)$", text, re.M))
        for name in names
    }
