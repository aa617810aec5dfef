"""The server's machine loses power again and again, while clients submit jobs, chat and send batches."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from loadtests.chaos.disk import FaultyDisk
from loadtests.chaos.outcome import ChaosOutcome, inspect_job
from loadtests.installation import PATIENCE_SECONDS, Installation, running_installation
from performance.installation import DATASET, MODEL

_WORKERS = 2
_WORKER = ("--lease", "3", "--max-requests", "16", "--speed", "1")
_GATEWAY = {"GIGAVQA_RESUME_SECONDS": "3"}
_CUTS = 15
_PAUSE = (1.0, 5.0)
_FORGETTING = (-1.0, 3.0)
"""Seconds before a cut in which a client heard that something is accepted, which may be missing after the cut.

A gateway may pass on after the cut what it heard before; the server's file lags for two seconds."""
_LINES = 30
_FINAL = {"completed", "failed", "cancelled", "expired"}


@dataclass
class _AcceptedWork:
    """The work that a client was told is accepted: a job by its specification and key, or a batch."""

    path: str
    spec: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    at: float = field(default_factory=time.monotonic)


class _ClientThreads:
    """Clients of a gateway, each a thread that asks again and again."""

    def __init__(self, url: str, seed: int = 22) -> None:
        self._http = httpx.Client(base_url=url, timeout=120)
        self._draw = random.Random(seed)
        self._over = threading.Event()
        self.jobs: list[_AcceptedWork] = []
        self.batches: list[_AcceptedWork] = []
        self.chats: list[str] = []
        self.faults: list[str] = []

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask for the length of a block."""
        steps = [self._submit, self._send_batch, *[self._chat] * 4]
        threads = [threading.Thread(target=self._repeat, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def submit_again(self, forgotten: _AcceptedWork) -> _AcceptedWork:
        """Submit a job once more, as whoever misses it should."""
        told = self._http.post("/v1/jobs", json=forgotten.spec, headers={"Idempotency-Key": forgotten.key})
        return _AcceptedWork(f"/v1/jobs/{told.raise_for_status().json()['id']}", forgotten.spec, forgotten.key)

    def look(self, accepted: _AcceptedWork) -> dict[str, Any] | None:
        """Return what the gateway tells of a job or a batch; nothing where it is not found."""
        answer = self._http.get(accepted.path)
        return None if answer.status_code == httpx.codes.NOT_FOUND else dict(answer.raise_for_status().json())

    def _repeat(self, step: Callable[[], None]) -> None:
        while not self._over.is_set():
            try:
                step()
            except httpx.HTTPError as error:
                told = error.response.text if isinstance(error, httpx.HTTPStatusError) else str(error)
                self.faults.append(f"{step.__name__.strip('_')}: {type(error).__name__} {told[:200]}")

    def _submit(self) -> None:
        spec = {
            "dataset": DATASET,
            "models": [MODEL],
            "cells": [{"protocol": "direct", "condition": "V2"}],
            "samples": [f"q-{number:05d}" for number in range(self._draw.choice((5, 50, 400)))],
            "repeats": self._draw.choice((1, 3)),
            "seed": 7,
        }
        accepted = _AcceptedWork("", spec, key=f"job-{time.monotonic_ns()}")
        self.jobs.append(self.submit_again(accepted))
        self._over.wait(self._draw.uniform(0.0, 0.5))

    def _chat(self) -> None:
        answer = self._http.post("/v1/chat/completions", json=_question())
        self.chats.append(answer.raise_for_status().json()["id"])

    def _send_batch(self) -> None:
        lines = [
            {"custom_id": f"q{number}", "method": "POST", "url": "/v1/chat/completions", "body": _question()}
            for number in range(_LINES)
        ]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        file = self._http.post("/v1/files", files={"file": ("lines.jsonl", content)}, data={"purpose": "batch"})
        asked = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
        # A file of the last two seconds may be gone like a job.
        answer = self._http.post("/v1/batches", json={**asked, "input_file_id": file.raise_for_status().json()["id"]})
        if answer.status_code != httpx.codes.NOT_FOUND:
            self.batches.append(_AcceptedWork(f"/v1/batches/{answer.raise_for_status().json()['id']}"))
        self._over.wait(self._draw.uniform(0.0, 1.0))


def _question() -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 8, "messages": [{"role": "user", "content": f"{time.monotonic_ns()}?"}]}


def power() -> ChaosOutcome:
    """Cut the power while clients ask; all that is still known must end as if nothing had been."""
    outcome, draw = ChaosOutcome("power cuts under the server"), random.Random(22)
    with FaultyDisk.below_a_server() as disk:
        if disk is None:
            outcome.skipped = "there is no C compiler"
            return outcome
        with running_installation(
            _WORKERS, *_WORKER, environment=_GATEWAY, server_environment=disk.environment
        ) as installation:
            clients, began, cuts, lost = _ClientThreads(installation.url), time.monotonic(), list[float](), 0
            with clients.asking():
                for _ in range(_CUTS):
                    time.sleep(draw.uniform(*_PAUSE))
                    installation.kill_server()
                    cuts.append(time.monotonic())
                    lost += disk.lose_power(installation.server_folder)
                    installation.restart_server()
            outcome.hurt["power cut"] = len(cuts)
            outcome.notes.append(f"{lost:,} bytes of the server's file were lost")
            outcome.missed += [] if lost else ["no cut took anything"]
            outcome.seconds = time.monotonic() - began
            _inspect(installation, clients, cuts, outcome)
    return outcome


def _inspect(installation: Installation, clients: _ClientThreads, cuts: list[float], outcome: ChaosOutcome) -> None:
    outcome.why += clients.faults
    outcome.failed += len(clients.faults)
    known = [_is_remembered(clients, each, cuts, outcome) for each in (*clients.jobs, *clients.batches)]
    jobs = [job if is_known else clients.submit_again(job) for job, is_known in zip(clients.jobs, known, strict=False)]
    for job in jobs:
        _until_final(installation, clients, job)
        inspect_job(installation, job.path.rpartition("/")[2], outcome)
        outcome.requests += len(job.spec["samples"]) * job.spec["repeats"]
    batches = [batch for batch, is_known in zip(clients.batches, known[len(jobs) :], strict=True) if is_known]
    for batch in batches:
        ended = _until_final(installation, clients, batch)
        if not _lacks_its_file(ended):
            outcome.lost += _LINES - ended["request_counts"]["completed"]
            outcome.requests += _LINES
    outcome.requests += len(clients.chats)
    told = f"{len(clients.chats):,} chats, {len(jobs)} jobs, {len(batches)} batches"
    outcome.notes.append(f"{told}; {known.count(False)} that were accepted just before a cut were gone")


def _lacks_its_file(batch: dict[str, Any]) -> bool:
    """Return whether a batch says that its file is gone, which may have been of the last two seconds."""
    return any(fault["code"] == "invalid_file" for fault in (batch["errors"] or {"data": []})["data"])


def _is_remembered(clients: _ClientThreads, accepted: _AcceptedWork, cuts: list[float], outcome: ChaosOutcome) -> bool:
    if clients.look(accepted) is not None:
        return True
    earliest, latest = _FORGETTING
    if not any(earliest <= cut - accepted.at <= latest for cut in cuts):
        outcome.missed.append(f"{accepted.path} was forgotten though no cut followed soon")
    return False


def _until_final(installation: Installation, clients: _ClientThreads, accepted: _AcceptedWork) -> dict[str, Any]:
    told: list[dict[str, Any]] = []

    def is_final() -> bool:
        told[:] = [clients.look(accepted) or {"status": "not found"}]
        return told[0]["status"] in _FINAL

    installation.until(is_final, accepted.path, PATIENCE_SECONDS)
    return told[0]
