"""Chats that overflow, that are left, that share images and repeat each other, beside a job, on vLLM itself.

Whatever is answered in this crowd is asked again, one at a time, of a worker that knows nothing of it: the texts must
be the same. A text without a token is none.
"""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image

from loadtests.chaos.kills import JobProgress
from loadtests.chaos.outcome import ChaosOutcome, inspect_job
from loadtests.installation import Installation, running_installation

_DATASET = "crowd"
_QUESTIONS = 4
_THREADS = 4
_SIDE = 512
_OVERFLOW = "word " * 2690
"""Fits the first model's context of 8192 tokens by itself, and not beside an image of 256."""
_MOST_TOKENS = 8
_LEFT_AFTER = (0.001, 0.06)
"""Seconds after which a client leaves: before, while and after its images are prepared."""
_READY = ": ready for"


class _ChatCrowd:
    """Threads that chat about the job's images until it is over, and keep what they were answered."""

    def __init__(self, url: str, models: Sequence[str], images: int) -> None:
        self._url = url
        self._models = models
        self._images = images
        self._over = threading.Event()
        self.answered: dict[str, str] = {}
        self.counts = Counter[str]()
        self.empty = 0
        self.faults: list[str] = []

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Chat for the length of a block."""
        threads = [threading.Thread(target=self._repeat, args=(seed,)) for seed in range(_THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def ask(self, body: str, http: httpx.Client) -> str | None:
        """Return what is answered to a body; nothing where it is refused as too long."""
        answer = http.post("/v1/chat/completions", content=body, headers={"Content-Type": "application/json"})
        if answer.status_code == httpx.codes.BAD_REQUEST and "context" in answer.text:
            return None
        told = answer.raise_for_status().json()
        self.empty += not told["usage"]["completion_tokens"]
        return json.dumps([told["choices"][0]["message"]["content"], told["choices"][0]["finish_reason"]])

    def _repeat(self, seed: int) -> None:
        draw = random.Random(seed)
        with httpx.Client(base_url=self._url, timeout=300) as http:
            while not self._over.is_set():
                kind = draw.choice(("answered", "answered", "too long", "left"))
                try:
                    self._step(kind, draw, http)
                    self.counts[kind] += 1
                except httpx.HTTPError as error:
                    told = error.response.text if isinstance(error, httpx.HTTPStatusError) else str(error)
                    self.faults.append(f"{kind}: {type(error).__name__} {told[:200]}")

    def _step(self, kind: str, draw: random.Random, http: httpx.Client) -> None:
        body = self._body(draw, "" if kind == "answered" else _OVERFLOW if kind == "too long" else "Leave. ")
        if kind == "left":
            with httpx.Client(base_url=self._url, timeout=draw.uniform(*_LEFT_AFTER)) as leaving:
                try:
                    self.ask(body, leaving)
                except httpx.TimeoutException:
                    return
                return
        text = self.ask(body, http)
        if (text is None) != (kind == "too long"):
            self.faults.append(f"{kind}: {text}")
        elif text is not None and self.answered.setdefault(body, text) != text:
            self.faults.append(f"answered {text} and {self.answered[body]} to the same")

    def _body(self, draw: random.Random, before: str) -> str:
        images = [draw.randrange(self._images) for _ in range(draw.choice((1, 1, 2, 3)))]
        urls = [{"type": "image_url", "image_url": {"url": f"gigavqa:{_DATASET}/images/{at}.png"}} for at in images]
        question = {"type": "text", "text": f"{before}What is here, seen {draw.randrange(5)} times?"}
        model = self._models[0] if before == _OVERFLOW else draw.choice(self._models)
        asked = {"model": model, "max_tokens": _MOST_TOKENS, "temperature": 0, "seed": 1}
        return json.dumps({**asked, "messages": [{"role": "user", "content": [*urls, question]}]})


def crowd(images: int, models: Sequence[str], *arguments: str) -> ChaosOutcome:
    """Play a job of four questions on each image and model in a crowd, its worker killed once, and all of it alone."""
    outcome = ChaosOutcome("a crowd of chats that overflow and leave", _QUESTIONS * images * len(models))
    named = [argument for model in models for argument in ("--model", model)]
    with running_installation(0) as installation:
        _write_dataset(installation.home / "data" / _DATASET, images)
        installation.add_worker("--engine", "vllm", "--lease", "3", *named, *arguments)
        installation.until(lambda: _READY in installation.workers[0].log, "the worker")
        met, began = _ChatCrowd(installation.url, models, images), time.monotonic()
        with met.asking():
            disturbed = _play(installation, outcome, models, kill=True)
        outcome.seconds = time.monotonic() - began
        _restart(installation)
        alone = _play(installation, ChaosOutcome("alone"), models, kill=False)
        _compare(met, disturbed, alone, outcome)
    return outcome


def _play(installation: Installation, outcome: ChaosOutcome, models: Sequence[str], *, kill: bool) -> dict[str, Any]:
    """Play the job; returns what was answered to each of its requests."""
    cells = [{"protocol": "direct", "condition": "V2"}]
    spec = {"dataset": _DATASET, "models": list(models), "cells": cells, "seed": 7}
    job_id = installation.submit_spec({**spec, "sampling": {"temperature": 0, "max_tokens": _MOST_TOKENS}})
    progress = JobProgress(installation, job_id)
    total = installation.ask(f"/v1/jobs/{job_id}")["request_counts"]["total"]
    if kill:
        installation.until(lambda: progress.look() >= total // 3, "a third of the job")
        _restart(installation)
        outcome.hurt["SIGKILL worker"] += 1
    installation.until(lambda: progress.look() >= total, "the job's last response")
    found = inspect_job(installation, job_id, outcome, parts=False)
    for turn in (turn for response in found for turn in response["turns"]):
        if not turn["usage"]["completion_tokens"]:
            outcome.missed.append(f"a text without a token, which ended by {turn['finish_reason']}")
    return {response["request_id"]: [turn["text"] for turn in response["turns"]] for response in found}


def _restart(installation: Installation) -> None:
    worker, lives = installation.workers[0], installation.workers[0].log.count(_READY)
    worker.kill()
    worker.start()
    installation.until(lambda: worker.log.count(_READY) > lives, "the next worker")


def _compare(met: _ChatCrowd, disturbed: dict[str, Any], alone: dict[str, Any], outcome: ChaosOutcome) -> None:
    outcome.hurt += Counter({f"{kind} chat": met.counts[kind] for kind in ("too long", "left")})
    outcome.why += met.faults
    outcome.failed += len(met.faults)
    other = sum(disturbed[name] != alone[name] for name in alone)
    with httpx.Client(base_url=met._url, timeout=300) as http:
        other_chats = sum(met.ask(body, http) != text for body, text in met.answered.items())
    if other or other_chats:
        outcome.missed.append(f"{other} answers of the job and {other_chats} chats are others than alone")
    if met.empty:
        outcome.missed.append(f"{met.empty} chats were answered without a token")
    outcome.notes.append(f"{len(alone):,} answers of the job and {len(met.answered):,} chats asked again alone")


def _write_dataset(folder: Path, images: int) -> None:
    """Write questions about images of random blocks."""
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "questions"\n')
    draw = np.random.default_rng(7)
    for number in range(images):
        blocks = draw.integers(0, 255, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((_SIDE, _SIDE), Image.Resampling.NEAREST).save(folder / f"images/{number}.png")
    with (folder / "samples/all.jsonl").open("w") as lines:
        for number in range(images * _QUESTIONS):
            question = {
                "id": f"q-{number:04d}",
                "image": f"images/{number // _QUESTIONS}.png",
                "question": f"Which quadrant holds most people, seen at {number} o'clock?",
                "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
                "answer": "ABCD"[number % 4],
            }
            lines.write(json.dumps(question) + "\n")
