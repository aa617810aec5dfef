"""The batch scripts of deploy/slurm on a real Slurm: jobs that are taken away and cut off lose nothing."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import psutil
import pytest

from gigavqa.runtime.embedded_store import start_store
from tests.deploy.manifests import ROOT
from tests.deploy.slurm import SlurmCluster, lack
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL, job, recorded, responses, submit
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until

SCRIPTS = ROOT / "deploy" / "slurm"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(lack()), reason=f"no real Slurm: {lack()}"),
    pytest.mark.timeout(480),
]
EACH_GPU = [("n1", "0"), ("n1", "1"), ("n2", "0"), ("n2", "1")]
WORKER = {
    "GIGAVQA_WORKER_MODELS": MODEL,
    "GIGAVQA_WORKER_ENGINE": "simulated",
    "GIGAVQA_WORKER_LEASE_SECONDS": "3",
    "GIGAVQA_WORKER_GRACE_SECONDS": "5",
    "GIGAVQA_WORKER_MAX_REQUESTS": "4",
    "GIGAVQA_PYTHON": sys.executable,
    "PYTHONPATH": os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SlurmCluster]:
    """Two nodes of two GPUs each; every job and daemon ends with the test."""
    cluster = SlurmCluster(tmp_path / "slurm")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


class Service:
    """A submitted `service.sbatch` below a home folder, and what its gateway says while it runs."""

    def __init__(self, cluster: SlurmCluster, home: Path, options: Sequence[str], words: Sequence[str]) -> None:
        self.home = home
        self._cluster = cluster
        environ = WORKER | {"GIGAVQA_HOME": str(home), "GIGAVQA_CONFIG": str(home / "settings.toml")}
        resources = ("--parsable", "--cpus-per-task=1", "--mem=1G", f"--output={home}/slurm.log", *options)
        self.number = cluster.run("sbatch", *resources, "service.sbatch", *words, environ=environ, cwd=SCRIPTS)

    @property
    def recorded(self) -> int:
        """Responses of all jobs that have one; -1 while no gateway says."""
        place = self.home / "slurm" / "address"
        if not place.exists():
            return -1
        said = dict(word.split("=", 1) for word in place.read_text(encoding="utf-8").split()[1:])
        headers = {"Authorization": f"Bearer {said['GIGAVQA_API_KEY']}"}
        try:
            found = httpx.get(f"{said['GIGAVQA_URL']}/v1/jobs", headers=headers, timeout=10).raise_for_status().json()
        except httpx.HTTPError:
            return -1
        counts = [job["request_counts"] for job in found["data"]]
        return sum(count["completed"] + count["failed"] for count in counts)

    @property
    def state(self) -> str:
        """Slurm's word for it."""
        return self._cluster.job(self.number)["JobState"]

    @property
    def starts(self) -> int:
        """How often Slurm has started it again."""
        return int(self._cluster.job(self.number)["Restarts"])

    @property
    def log(self) -> str:
        """What the batch script said."""
        return (self.home / "slurm.log").read_text(encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a data set of 8 images and 40 samples."""
    draw_dataset(tmp_path / "home" / "data" / "plazas", images=8, questions=5)
    return tmp_path / "home"


def _kept(home: Path) -> tuple[str, list[str]]:
    """Of the one job that a service has left on its disk: the status, and the request of every response."""
    installation = Installation(home)
    installation.server = start_store(home / "slurm" / "store")
    try:
        installation.start_gateway()
        (found,) = httpx.get(f"{installation.url}/v1/jobs", timeout=30).raise_for_status().json()["data"]
        return found["status"], [response["request_id"] for response in responses(installation.url, found["id"])]
    finally:
        installation.stop()


def test_a_job_that_is_preempted_and_cut_by_its_time_limit_is_played_once(cluster: SlurmCluster, home: Path) -> None:
    """Two nodes of two workers; a job of a better partition takes the nodes, then the time is over: 200 of 200."""
    cells = [f"--cell=S0:V{number}" for number in range(5)]
    options = ("--nodes=2", "--ntasks-per-node=2", "--time=30", "--signal=B:USR1@40")
    _set_speed(home, 0.003)
    service = Service(cluster, home, options, ("-d", "plazas", "-m", MODEL, *cells))
    wait_until(lambda: service.recorded >= 10, timeout=120, what="response 10")
    wait_until(lambda: sorted(_gpus_of_tasks(service.number).values()) == EACH_GPU, what="a GPU for each worker")
    taking = ("--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 600")
    urgent = cluster.run("sbatch", "--parsable", *taking)
    wait_until(lambda: cluster.job(urgent)["JobState"] == "RUNNING", what="the preemption")
    cluster.run("scancel", urgent)
    wait_until(lambda: service.starts == 1 and service.recorded > 0, timeout=120, what="the second start")
    begun = service.recorded
    wait_until(lambda: service.recorded > begun, timeout=120, what="a response after it")
    _set_speed(home, 0)  # of the workers to come
    cluster.run("scontrol", "update", f"JobId={service.number}", "TimeLimit=1")
    wait_until(lambda: service.starts == 2, timeout=180, what="the requeue after the time limit")
    cluster.run("scontrol", "update", f"JobId={service.number}", "TimeLimit=30")
    wait_until(lambda: service.state in {"COMPLETED", "FAILED", "TIMEOUT"}, timeout=120, what="the end")
    assert service.state == "COMPLETED", service.log
    status, requests = _kept(home)
    assert status == "completed"
    assert len(requests) == len(set(requests)) == 200


def test_each_task_of_an_array_has_a_gpu_of_its_own_and_one_that_is_requeued_loses_nothing(
    cluster: SlurmCluster, home: Path
) -> None:
    """Four workers on two nodes for a gateway elsewhere; the one that comes back plays the rest: 200 of 200."""
    elsewhere = Installation(home)
    elsewhere.start_server()
    try:
        elsewhere.start_gateway()
        _set_speed(home, 0.02)
        job_id = submit(elsewhere.url)
        array = _submit_array(cluster, elsewhere)
        wait_until(lambda: len(_gpus_of_tasks(array)) == 4, timeout=60, what="four workers")
        assert sorted(_gpus_of_tasks(array).values()) == EACH_GPU
        wait_until(lambda: recorded(elsewhere.url, job_id) >= 10, timeout=60, what="response 10")
        _set_speed(home, 0)  # of the worker to come
        cluster.run("scontrol", "requeue", f"{array}_2")
        wait_until(lambda: "2" not in _gpus_of_tasks(array), timeout=60, what="the end of task 2")
        assert recorded(elsewhere.url, job_id) < 200
        wait_until(lambda: job(elsewhere.url, job_id)["status"] == "completed", timeout=90, what="the job's end")
        requests = [response["request_id"] for response in responses(elsewhere.url, job_id)]
        assert len(requests) == len(set(requests)) == 200
        states = "squeue", "-h", "-t", "all", "-j", array, "-o", "%K %T"
        wait_until(lambda: _words(cluster.run(*states)) == {"COMPLETED"}, timeout=60, what="idle workers' end")
        assert cluster.job(f"{array}_2")["Restarts"] == "1"
    finally:
        elsewhere.stop()


def _submit_array(cluster: SlurmCluster, elsewhere: Installation) -> str:
    assert elsewhere.server is not None
    places = {"REDIS_URL": elsewhere.server.url, "GIGAVQA_HOME": str(elsewhere.home)}
    environ = (
        WORKER | places | {"GIGAVQA_CONFIG": f"{elsewhere.home}/settings.toml", "GIGAVQA_WORKER_IDLE_SECONDS": "2"}
    )
    options = ("--array=0-3", "--cpus-per-task=1", "--mem=1G", f"--output={elsewhere.home}/%a.log")
    return cluster.run("sbatch", "--parsable", *options, "workers.sbatch", environ=environ, cwd=SCRIPTS)


def _gpus_of_tasks(job: str) -> dict[str, tuple[str, str]]:
    """Node and GPU of each worker of a job that runs, by its task, as its process has them."""
    found = {}
    for process in psutil.process_iter():
        try:
            environ = process.environ() if "gigavqa.workers" in process.cmdline() else {}
        except psutil.Error:
            continue
        if job == environ.get("SLURM_ARRAY_JOB_ID", environ.get("SLURM_JOB_ID")):
            task = environ.get("SLURM_ARRAY_TASK_ID", environ["SLURM_PROCID"])
            found[task] = environ["SLURMD_NODENAME"], environ["CUDA_VISIBLE_DEVICES"]
    return found


def _words(lines: str) -> set[str]:
    return {line.split()[1] for line in lines.splitlines()}


def _set_speed(home: Path, speed: float) -> None:
    (home / "settings.toml").write_text(f"[worker]\nspeed = {speed}\n", encoding="utf-8")
