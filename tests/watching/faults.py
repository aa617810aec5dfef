"""By alert, the fault that it is for: each does it, and puts it right when it is told to go on."""

import io
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pytest
from PIL import Image
from redis import Redis

from tests.flow.jobs import MODEL, submit
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until
from tests.watching.watched import Watched
from tests.workers.remote_server import Elsewhere, serving

Fault = Callable[[Watched], Iterator[None]]

QUEUE_REQUESTS = 20_000
"""What the queue takes."""

_MIB = 2**20
_UNSERVED, _HANGING, _SLOW, _FULL = "glm-4.5v", "qwen3-vl-8b", "gemma-4-26b", "internvl3.5-38b"
_SILENT = "qwen3-vl-32b"
_IN_ITS_OWN_NETWORK = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


def settings(folder: Path) -> dict[str, str]:
    """What the faults need of the gateway and of workers; the folder's disks are below `disk`."""
    uploads, audit = str(folder / "disk" / "uploads"), str(folder / "disk" / "audit.log")
    return {"GIGAVQA_QUEUE_REQUESTS": str(QUEUE_REQUESTS), "GIGAVQA_UPLOADS": uploads, "GIGAVQA_AUDIT_LOG": audit}


def mount_disk(at: Path, size: int) -> bool:
    """Mount a disk of so many bytes, in memory; False where that is not allowed, as outside `unshare --mount`."""
    at.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(at)]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


def gateway_down(watched: Watched) -> Iterator[None]:
    """The gateway is killed."""
    watched.gateway.kill()
    yield
    watched.gateway = watched.installation.start_gateway()


def server_away(watched: Watched) -> Iterator[None]:
    """The state store is killed."""
    watched.installation.kill_server()
    yield
    watched.installation.start_server()


def server_full(watched: Watched) -> Iterator[None]:
    """The state store may use less memory than it does."""
    with _server(watched) as server:
        server.config_set("maxmemory", 1)
        yield
        server.config_set("maxmemory", 0)


def server_memory_high(watched: Watched) -> Iterator[None]:
    """The state store uses 93 % of what it may."""
    with _server(watched) as server:
        server.config_set("maxmemory", int(server.info("memory")["used_memory"] / 0.93))
        yield
        server.config_set("maxmemory", 0)


def server_unsafe(watched: Watched) -> Iterator[None]:
    """The state store writes no append-only file any more."""
    with _server(watched) as server:
        server.config_set("appendonly", "no")
        yield
        server.config_set("appendonly", "yes")


def worker_gone(watched: Watched) -> Iterator[None]:
    """A worker is killed with bundles in its hands."""
    with _job(watched, repeats=20):
        _until_leased(watched, MODEL)
        for worker in watched.workers:
            worker.kill()
        watched.workers = [watched.start_worker(MODEL) for _ in watched.workers]
        yield


def worker_unreachable(watched: Watched) -> Iterator[None]:
    """A worker is in a network of its own, and reaches the server by its socket."""
    worker = watched.start_worker(MODEL, within=_IN_ITS_OWN_NETWORK)
    yield
    _end(worker)


def no_worker(watched: Watched) -> Iterator[None]:
    """A job is for a model that nobody serves."""
    with _job(watched, models=[_UNSERVED]):
        yield
        watched.start_worker(_UNSERVED, "--speed", "0")


def queue_stuck(watched: Watched) -> Iterator[None]:
    """The only worker of a model is ready, claims, and its engine hangs."""
    worker = watched.start_worker(_HANGING, "--max-requests", "1", "--speed", "0.000001")
    with _job(watched, models=[_HANGING], repeats=2):
        yield
        worker.kill()
        watched.start_worker(_HANGING, "--speed", "0")
        wait_until(lambda: not _bundles(watched, _HANGING, "waiting"), timeout=120, what="an empty queue")


def queue_full(watched: Watched) -> Iterator[None]:
    """Jobs are sent until no more are taken."""
    job_ids = []
    for repeats in (10, 1):
        with suppress(AssertionError):  # the refusal
            while len(job_ids) < QUEUE_REQUESTS:
                job_ids.append(submit(watched.url, models=[_FULL], repeats=repeats))
    yield
    for job_id in job_ids:
        _cancel(watched, job_id)


def sink_failing(watched: Watched) -> Iterator[None]:
    """A file stands where the folder of results was."""
    results, away = watched.installation.home / "results", watched.installation.home / "results-away"
    with _job(watched, repeats=5):
        wait_until(results.exists, timeout=60, what="the first part")
        results.rename(away)
        results.write_text("a file where a folder should be")
        yield
        results.unlink()
        away.rename(results)


def gpu_idle_with_work(watched: Watched) -> Iterator[None]:
    """Large PNG files for an engine that takes no time, and one thread to render them."""
    _draw_large(watched.installation.home / "data" / "large", pictures=200)
    rendering = ("--render-threads", "1", "--cache-bytes", "0", "--max-requests", "1", "--speed", "0")
    watched.start_worker(_SLOW, *rendering)
    cells = [{"protocol": "S0", "condition": "V2"}]
    with _job(watched, dataset="large", models=[_SLOW], cells=cells):
        yield


def engine_restarts(watched: Watched) -> Iterator[None]:
    """The process of vLLM's engine is killed three times."""
    worker = watched.installation.start_worker("--model", MODEL, "--max-requests", "4")
    with _job(watched, repeats=20):
        for times in range(3):
            wait_until(lambda: _engine_of(worker), timeout=400, what="an engine")
            _engine_of(worker)[0].kill()
            wait_until(partial(_restarted, watched, times + 1), timeout=400, what="another engine")
        yield
        _end(worker)


def requests_fail(watched: Watched) -> Iterator[None]:
    """Pictures are gone when their turn comes."""
    folder = draw_dataset(watched.installation.home / "data" / "vanishing", images=16, questions=10)
    cells = [{"protocol": "S0", "condition": condition} for condition in ("V0", "V2")]
    with _job(watched, dataset="vanishing", cells=cells, repeats=50):
        _until_leased(watched, MODEL)
        shutil.move(folder / "images", folder / "images-away")
        yield
    shutil.move(folder / "images-away", folder / "images")


def empty_answers(watched: Watched) -> Iterator[None]:
    """A server elsewhere ends every answer before its first token."""
    with serving(Elsewhere(model=_SILENT, is_silent=True)) as there:
        remote = ("--model", _SILENT, "--engine", "remote", "--endpoint", there.url, "--max-requests", "1")
        worker = watched.installation.start_worker(*remote)
        with _job(watched, models=[_SILENT], repeats=20):
            yield
            there.is_silent = False
        _end(worker)


def disk_full(watched: Watched) -> Iterator[None]:
    """The disk of uploads is 97 % full."""
    yield from _filled(watched.folder / "disk", 0.97)


def worker_disk_full(watched: Watched) -> Iterator[None]:
    """The disk of a worker's home has less than 4 GiB left."""
    disk, home = watched.folder / "workers-disk", watched.installation.home
    if not mount_disk(disk, 4200 * _MIB):
        pytest.skip("no disk may be mounted here; see `make alerts`")
    worker = watched.start_worker(MODEL, "--home", str(disk), "--data", str(home / "data"))
    filled = _filled(disk, 200 / 4200)
    yield from filled
    _end(worker)


def background_failing(watched: Watched) -> Iterator[None]:
    """An entry of the installation's own catalogue is no TOML."""
    entry = watched.installation.home / "catalogue" / "ours.toml"
    entry.parent.mkdir(exist_ok=True)
    entry.write_text("weights = ")
    yield
    entry.unlink()


def audit_failing(watched: Watched) -> Iterator[None]:
    """The disk of the audit log is full."""
    filled = _filled(watched.folder / "disk", 1)
    next(filled)
    for _ in range(20):  # until the file's last page is full, too
        httpx.post(f"{watched.url}/v1/jobs/none/cancel", timeout=30)
    yield
    next(filled, None)


def gpu_xid(watched: Watched) -> Iterator[None]:
    """The exporter tells that a GPU has fallen off its bus."""
    watched.exporter.report("DCGM_FI_DEV_XID_ERRORS", 79)
    yield
    watched.exporter.report("DCGM_FI_DEV_XID_ERRORS", 0)


def gpu_unrepairable(watched: Watched) -> Iterator[None]:
    """The exporter tells that a GPU has no spare row left."""
    watched.exporter.report("DCGM_FI_DEV_ROW_REMAP_FAILURE", 1)
    yield
    watched.exporter.report("DCGM_FI_DEV_ROW_REMAP_FAILURE", 0)


FAULTS: Mapping[str, tuple[Fault, str]] = {
    "GigavqaGatewayDown": (gateway_down, ""),
    "GigavqaServerAway": (server_away, ""),
    "GigavqaServerFull": (server_full, ""),
    "GigavqaServerMemoryHigh": (server_memory_high, ""),
    "GigavqaServerUnsafe": (server_unsafe, 'risk="append-only"'),
    "GigavqaWorkerGone": (worker_gone, f'model="{MODEL}"'),
    "GigavqaWorkerUnreachable": (worker_unreachable, ""),
    "GigavqaNoWorker": (no_worker, f'model="{_UNSERVED}"'),
    "GigavqaQueueStuck": (queue_stuck, f'model="{_HANGING}"'),
    "GigavqaQueueFull": (queue_full, ""),
    "GigavqaSinkFailing": (sink_failing, ""),
    "GigavqaGpuIdleWithWork": (gpu_idle_with_work, f'model="{_SLOW}"'),
    "GigavqaRequestsFail": (requests_fail, f'model="{MODEL}"'),
    "GigavqaEmptyAnswers": (empty_answers, f'model="{_SILENT}"'),
    "GigavqaDiskFull": (disk_full, 'place="uploads"'),
    "GigavqaWorkerDiskFull": (worker_disk_full, ""),
    "GigavqaBackgroundFailing": (background_failing, 'loop="lanes"'),
    "GigavqaAuditFailing": (audit_failing, ""),
    "GigavqaGpuXid": (gpu_xid, 'gpu="0"'),
    "GigavqaGpuUnrepairable": (gpu_unrepairable, 'gpu="0"'),
}
"""The fault, and of which series its alert has to fire."""


@contextmanager
def _job(watched: Watched, **spec: Any) -> Iterator[str]:
    job_id = submit(watched.url, **spec)
    yield job_id
    _cancel(watched, job_id)


def _cancel(watched: Watched, job_id: str) -> None:
    httpx.post(f"{watched.url}/v1/jobs/{job_id}/cancel", timeout=60).raise_for_status()


@contextmanager
def _server(watched: Watched) -> Iterator[Redis]:
    assert watched.installation.server is not None
    with Redis.from_url(watched.installation.server.url) as redis:
        yield redis


def _until_leased(watched: Watched, model: str) -> None:
    wait_until(lambda: _bundles(watched, model, "leased"), timeout=120, what="a bundle in a worker's hands")


def _bundles(watched: Watched, model: str, state: str) -> int:
    found = watched.ask(f'gigavqa_queue_bundles{{model="{model}",state="{state}"}}')
    return int(found[0]["value"][1]) if found else 0


def _restarted(watched: Watched, times: int) -> bool:
    return bool(watched.ask(f"gigavqa_worker_engine_restarts_total >= {times}"))


def _engine_of(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    children = psutil.Process(worker.pid).children(recursive=True)
    return [child for child in children if "EngineCore" in child.name() or "spawn_main" in " ".join(child.cmdline())]


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    worker.wait(timeout=60)


def _filled(disk: Path, share: float) -> Iterator[None]:
    """Fill so much of a disk that is mounted for it, and free it."""
    if not disk.is_mount():
        pytest.skip("no disk may be mounted here; see `make alerts`")
    filler, usage = disk / "filler", shutil.disk_usage(disk)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, min(usage.free, int(share * usage.total)))
    yield
    filler.unlink()


def _draw_large(folder: Path, *, pictures: int) -> None:
    """A data set of large PNG files, whose pixels are alike and whose bytes differ."""
    draw_dataset(folder, images=pictures, questions=1, size=(80, 80))
    blocks = np.random.default_rng(11).integers(0, 255, (90, 120, 3), dtype=np.uint8)
    whole = io.BytesIO()
    Image.fromarray(blocks).resize((12_000, 9_000), Image.Resampling.NEAREST).save(whole, "PNG", compress_level=1)
    for number in range(pictures):
        (folder / "images" / f"{number}.png").write_bytes(whole.getvalue() + b"%d" % number)
