"""`gigavqa up` restarts what dies and leaves nothing behind, whatever ends it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
import tomli_w

from gigavqa.catalogue.load import load_catalogue
from tests.cli.conftest import Service, start_service, stop_service
from tests.cli.installation import MODEL, Installation
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def running(installation: Installation) -> Iterator[Service]:
    """A service for one test alone."""
    service = start_service(installation)
    yield service
    stop_service(service)


def test_a_viewer_runs_beside_the_gateway_whose_pages_link_to_it(installation: Installation) -> None:
    """It shows the data root's pictures; killed, it is started again at the same address."""
    service = start_service(installation, options=("--viewer",))
    try:
        url = service.ready["viewer_url"]
        submit(service)
        page = service.installation.ok("report", "--format", "html")
        assert f'"viewer":"{url}"' in page
        viewer = find(service, "viewer")
        assert viewer
        assert service.ready["viewer_pids"] == [viewer.pid]
        viewer.kill()
        wait_until(lambda: (new := find(service, "viewer")) and new.pid != viewer.pid, what="a new viewer")
        wait_until(lambda: shows(f"{url}/iiif/3/tiny%2Fimages%2Fplaza.png/info.json"), what="its answer")
    finally:
        stop_service(service)


def shows(address: str) -> bool:
    """Whether a viewer describes this picture."""
    try:
        return httpx.get(address).is_success
    except httpx.TransportError:
        return False


def second_model(installation: Installation) -> str:
    """Add the demo's model to the catalogue under another id."""
    entry = load_catalogue()[MODEL].model_dump(mode="json", exclude_none=True) | {"id": "second"}
    (installation.home / "catalogue").mkdir()
    (installation.home / "catalogue" / "second.toml").write_text(tomli_w.dumps(entry))
    return "second"


def find(service: Service, module: str) -> psutil.Process | None:
    """The process of `python -m gigavqa.MODULE` of a service, if it runs."""
    for process in service.descendants():
        try:
            if f"-m gigavqa.{module} " in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                return process
        except psutil.NoSuchProcess:
            continue
    return None


def server_of(service: Service) -> psutil.Process | None:
    """The embedded server of a service, if it runs."""
    for process in service.descendants():
        try:
            if "server.sock" in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                return process
        except psutil.NoSuchProcess:
            continue
    return None


def submit(service: Service) -> None:
    """Run a small job to its end; fails unless every request is answered."""
    service.installation.ok("submit", "-d", "tiny", "-m", MODEL, "--watch")


def kill(process: psutil.Process | None) -> int:
    """End a process as a power cut would; returns its id."""
    assert process is not None
    process.kill()
    return process.pid


def test_killed_processes_are_replaced_and_jobs_go_on(running: Service) -> None:
    """Worker, gateway and server are killed one after the other; after each a new job completes."""
    worker = kill(find(running, "workers"))
    submit(running)
    assert (replaced := find(running, "workers")) is not None and replaced.pid != worker
    gateway = kill(find(running, "service"))
    wait_until(lambda: (new := find(running, "service")) and new.pid != gateway, what="a new gateway")
    wait_until(lambda: running.installation.run("jobs").returncode == 0, what="the gateway's answer")
    server = kill(server_of(running))
    wait_until(lambda: (new := server_of(running)) and new.pid != server, what="a new server")
    submit(running)


def test_sigterm_ends_everything(running: Service) -> None:
    """`up` ends with status 0, and none of its processes runs."""
    processes = running.descendants()
    running.process.terminate()
    assert running.process.wait(60) == 0
    assert [process for process in processes if process.is_running()] == []


def test_watching_goes_on_when_the_gateway_was_away(running: Service) -> None:
    """The gateway is killed while a job runs; the watcher takes the events up again and sees the job's end."""
    arguments = running.installation.command("submit", "-d", "tiny", "-m", MODEL, "--repeats", "60", "--watch")
    with (running.installation.home / "watch.log").open("w+") as log:
        watcher = subprocess.Popen(arguments, env=running.installation.environment, stdout=log, stderr=log)
        wait_until(lambda: "in_progress: " in Path(log.name).read_text(), what="progress")
        kill(find(running, "service"))
        assert watcher.wait(60) == 0
    assert "completed 480 of 480 requests answered" in Path(log.name).read_text()


def test_nothing_outlives_a_killed_up(running: Service) -> None:
    """SIGKILL leaves `up` no chance to end anything; the kernel tells its children."""
    processes = running.descendants()
    assert processes
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait(60)
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert alive == []


def test_one_worker_serves_all_models_when_it_is_asked_to(installation: Installation) -> None:
    """A job over two models completes with a single worker process, which is shown with the one that it has loaded."""
    models = (MODEL, second_model(installation))
    service = start_service(installation, *models, options=("--workers", "1"))
    try:
        assert len(service.ready["worker_pids"]) == 1
        service.installation.ok("submit", "-d", "tiny", "-m", models[0], "-m", models[1], "--watch")
        probe = f"{service.ready['url']}/readyz"
        wait_until(lambda: sum(httpx.get(probe).json()["loaded"].values()) == 1, what="one loaded model")
        assert set(httpx.get(probe).json()["workers"]) == set(models)
    finally:
        stop_service(service)


def test_up_says_why_a_model_cannot_be_served(installation: Installation) -> None:
    """A checkpoint of no supported family ends in a line that names the families."""
    folder = installation.home / "weights"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    (folder / "preprocessor_config.json").write_text("{}")
    run = installation.run("up", "--engine", "simulated", "--model", str(folder), "--port", "0")
    assert run.returncode == 2
    assert "gpt2" in run.stderr and "qwen3_vl" in run.stderr
