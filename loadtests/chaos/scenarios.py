"""One fault each: memory, disk, store, clock, pictures, parts. A job is played meanwhile."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from PIL import Image

from gigavqa.client.retries import LineSplitter
from gigavqa.tiling.digest import content_digest
from loadtests.chaos.disk import FaultyDisk
from loadtests.chaos.kills import JobProgress
from loadtests.chaos.outcome import ChaosOutcome, inspect_job, parts_of, wait_until_sunk
from loadtests.chaos.power import power
from loadtests.installation import Installation, running_installation
from performance.installation import DATASET

_REQUESTS = 1000
_WORKERS = 2
_WORKER = ("--lease", "3", "--max-requests", "16", "--speed", "1")
_HOLD_SECONDS = 10.0
_REPLACED_SECONDS = 0.5
_MIXED = "samples were asked over different contents of a picture"
_FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class _FaultRun:
    """A job that is played while something is done to its installation."""

    def __init__(self, installation: Installation, outcome: ChaosOutcome) -> None:
        self.installation = installation
        self.outcome = outcome
        self.job_id = installation.submit(outcome.requests)
        self.progress = JobProgress(installation, self.job_id)
        self._began = time.monotonic()
        self.until(outcome.requests // 10)

    def until(self, recorded: int) -> None:
        self.installation.until(lambda: self.progress.look() >= recorded, f"response {recorded}")

    def mended(self) -> None:
        """Take the time until the next response."""
        before, began = self.progress.look(), time.monotonic()
        self.installation.until(
            lambda: self.progress.look() > before or before == self.outcome.requests, "the next response"
        )
        self.outcome.recoveries.append(time.monotonic() - began)

    def end(self) -> list[dict[str, Any]]:
        """Wait for the last response, and look at all of them."""
        self.until(self.outcome.requests)
        self.outcome.seconds = time.monotonic() - self._began
        return inspect_job(self.installation, self.job_id, self.outcome)


def _memory() -> ChaosOutcome:
    """Return the server's memory is full for a while."""
    outcome = ChaosOutcome("server out of memory", _REQUESTS)
    with running_installation(_WORKERS, *_WORKER) as installation:
        run, client = _FaultRun(installation, outcome), installation.client()
        client.config_set("maxmemory", max(1, client.info("memory")["used_memory"] - 1_000_000))
        outcome.hurt["full memory"] += 1
        time.sleep(_HOLD_SECONDS)
        client.config_set("maxmemory", 0)
        run.mended()
        run.end()
    return outcome


def _disk() -> ChaosOutcome:
    """Return the disk of the server's append-only file is full for a while."""
    outcome = ChaosOutcome("server's disk full", _REQUESTS)
    with _small_disk() as disk:
        if disk is None:
            outcome.skipped = "a small file system cannot be mounted here"
            return outcome
        with running_installation(_WORKERS, *_WORKER, server_folder=disk / "server") as installation:
            run, filler = _FaultRun(installation, outcome), disk / "filler"
            _fill(filler)
            outcome.hurt["full disk"] += 1
            installation.until(
                lambda: installation.client().info("persistence")["aof_last_write_status"] == "err", "it"
            )
            time.sleep(_HOLD_SECONDS)
            filler.unlink()
            run.mended()
            run.end()
    return outcome


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


@contextmanager
def _small_disk() -> Iterator[Path | None]:
    with TemporaryDirectory(prefix="gigavqa-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def _store() -> ChaosOutcome:
    """Return the store of the parts cannot be reached for a while."""
    outcome = ChaosOutcome("results store away", _REQUESTS)
    with running_installation(_WORKERS, *_WORKER) as installation:
        run, aside = _FaultRun(installation, outcome), installation.home / "aside"
        installation.until(installation.results.exists, "the first part")
        installation.results.rename(aside)
        installation.results.touch()
        outcome.hurt["store away"] += 1
        run.until(_REQUESTS // 2)
        time.sleep(_HOLD_SECONDS)
        installation.results.unlink()
        aside.rename(installation.results)
        began = time.monotonic()
        run.until(_REQUESTS)
        wait_until_sunk(installation, run.job_id)
        outcome.recoveries.append(time.monotonic() - began)
        outcome.notes.append("until all was sunk")
        run.end()
    return outcome


def _slow_disk() -> ChaosOutcome:
    """Every synchronization of the server's append-only file takes 3 s, and what is written to it waits for that."""
    outcome = ChaosOutcome("slow disk under the server", _REQUESTS)
    with FaultyDisk.below_a_server(seconds=3) as disk:
        if disk is None:
            outcome.skipped = "there is no C compiler"
            return outcome
        with running_installation(
            _WORKERS, *_WORKER, "--speed", "0.1", server_environment=disk.environment
        ) as installation:
            run = _FaultRun(installation, outcome)
            outcome.hurt["fsync of 3 s, always"] += 1
            run.end()
            waited = installation.client().info("persistence")["aof_delayed_fsync"]
            outcome.notes.append(f"the server waited for its disk {waited} times")
            outcome.missed += [] if waited else ["the disk was not slow"]
    return outcome


def _clock() -> ChaosOutcome:
    """Return the clock of all processes steps an hour forward, and an hour back; a worker is killed after each step."""
    outcome = ChaosOutcome("clock steps", _REQUESTS)
    if _FAKETIME is None:
        outcome.skipped = "libfaketime is not installed (`apt-get install libfaketime`)"
        return outcome
    with TemporaryDirectory(prefix="gigavqa-clock-") as folder:
        clock = Path(folder) / "clock"
        clock.write_text("+0")
        fake = _fake_clock(clock)
        with running_installation(_WORKERS, *_WORKER, environment=fake, server_environment=fake) as installation:
            run = _FaultRun(installation, outcome)
            for at, step in ((0.3, "+3600"), (0.6, "+0")):
                clock.write_text(step)
                outcome.hurt["a step of an hour"] += 1
                installation.workers[0].kill()
                installation.workers[0].start()
                outcome.hurt["SIGKILL worker"] += 1
                run.mended()
                run.until(int(at * _REQUESTS))
            run.end()
    return outcome


def _fake_clock(clock: Path) -> Mapping[str, str]:
    return {
        "LD_PRELOAD": str(_FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def _images() -> ChaosOutcome:
    """Each picture is replaced when a question about it is answered, and again and again while others wait for it."""
    outcome = ChaosOutcome("pictures replaced", 3 * _REQUESTS)
    with running_installation(_WORKERS, *_WORKER, "--max-requests", "4") as installation:
        data = installation.home / "data"
        versions = {
            str(picture.relative_to(data)): [content_digest(picture)]
            for picture in (data / DATASET / "images").glob("*.png")
        }
        run, replaced_at = _FaultRun(installation, outcome), dict.fromkeys(versions, 0.0)
        for number, image in enumerate(_answered_images(installation, run.job_id)):
            if time.monotonic() - replaced_at[image] > _REPLACED_SECONDS:
                versions[image].append(_replace_image(data / image, number))
                replaced_at[image] = time.monotonic()
                outcome.hurt["picture"] += 1
        for response in run.end():
            shown = [(raster["view"]["image"], raster["digest"]) for raster in response["rasters"]]
            if not response.get("failure") and not all(digest in versions[image] for image, digest in shown):
                outcome.missed.append(f"{response['request_id']} names a version that never was")
        report = installation.ask(f"/v1/jobs/{run.job_id}/report?format=json", 300)
        told = [text for text in _strings(report) if _MIXED in text]
        outcome.notes += [f"the report says: {text.split(':')[0]}" for text in told[:1]]
        outcome.missed += [] if told else ["the report does not say that samples were shown different pictures"]
    return outcome


def _answered_images(installation: Installation, job_id: str) -> Iterator[str]:
    """Yield the picture of each response, as soon as it is recorded."""
    with httpx.stream("GET", f"{installation.url}/v1/jobs/{job_id}/results?follow=true", timeout=300) as answer:
        cut = LineSplitter()
        for line in chain.from_iterable(map(cut.take, answer.iter_bytes())):
            for raster in json.loads(line).get("rasters", ())[:1]:
                yield raster["view"]["image"]


def _replace_image(picture: Path, number: int) -> str:
    """Put another picture in the place of one, and return its digest."""
    unfinished = picture.with_suffix(".new")
    Image.new("RGB", (64 + number % 3 * 8, 48), (number % 256, 2, 3)).save(unfinished, format="png")
    digest = content_digest(unfinished)
    unfinished.replace(picture)
    return digest


def _strings(told: object) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    parts = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
    for part in parts:
        yield from _strings(part)


def _parts() -> ChaosOutcome:
    """One part is cut short and one has a byte changed: their own responses are named, and no other is touched."""
    outcome = ChaosOutcome("parts damaged", _REQUESTS)
    with running_installation(_WORKERS, *_WORKER) as installation:
        run = _FaultRun(installation, outcome)
        run.end()
        cut, changed, *_ = parts = parts_of(installation, run.job_id)
        kept = {part: part.read_bytes() for part in parts}
        cut.write_bytes(kept[cut][:-20])
        changed.write_bytes(kept[changed][:50] + bytes([kept[changed][50] ^ 1]) + kept[changed][51:])
        outcome.hurt["part"] += 2
        found = inspect_job(installation, run.job_id, damaged := ChaosOutcome("damaged"), parts=False)
        named = sum("unreadable" in response for response in found)
        outcome.lost += damaged.lost
        outcome.notes.append(f"{named} responses named as unreadable, {len(found) - named} read, {len(parts)} parts")
        for part in (cut, changed):
            part.write_bytes(kept[part])
        began = time.monotonic()
        inspect_job(installation, run.job_id, outcome)
        outcome.recoveries.append(time.monotonic() - began)
    return outcome


SCENARIOS: dict[str, Callable[[], ChaosOutcome]] = {
    "memory": _memory,
    "disk": _disk,
    "store": _store,
    "slow-disk": _slow_disk,
    "power": power,
    "clock": _clock,
    "pictures": _images,
    "parts": _parts,
}
"""By name, what is done to an installation."""
