"""`gigavqa up --gpus`: real processes, with the GPUs, CPUs and bounds that the machine's description gives each."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.checks import hardware
from gigavqa.launcher.errors import DevicesTooSmallError
from gigavqa.launcher.placement import WorkerPlan
from gigavqa.launcher.worker_plans import require_memory
from gigavqa.runtime.memory import usable_bytes
from gigavqa.workers.engines.encoder_cache import encoder_cache_tokens
from gigavqa.workers.engines.simulation.roofline import Roofline
from tests.cli.conftest import Service, start_service, stop_service
from tests.cli.installation import MODEL, Installation
from tests.launcher.machines import DGX, DRIVER, H100, machine, write_driver

NUM_GPUS = 2


@dataclass(frozen=True)
class WithDriver(Installation):
    """An installation on a machine whose driver lists GPUs."""

    @property
    def environment(self) -> dict[str, str]:
        """As ever, with the driver's folder first on the path."""
        return super().environment | {"PATH": f"{self.home.parent}:{os.environ['PATH']}"}


@pytest.fixture
def with_driver(installation: Installation) -> WithDriver:
    """An installation on a machine whose driver lists two GPUs, the first of which is split where `mig` says so."""
    write_gpus(installation.home.parent, ["[N/A]"] * NUM_GPUS)
    return WithDriver(installation.home)


def write_gpus(folder: Path, mig: list[str]) -> None:
    """A driver that lists as many GPUs at addresses where this machine has none."""
    lines = [
        f"{n}, GPU-{n}-uuid, {H100}, 81559, 00000000:{n + 240:X}:00.0, {each}, {DRIVER}, 9.0"
        for n, each in enumerate(mig)
    ]
    write_driver(folder, lines)


@pytest.fixture
def service(with_driver: WithDriver) -> Iterator[Service]:
    """A service with a worker on each GPU."""
    running = start_service(with_driver, options=("--gpus", "all"))
    yield running
    stop_service(running)


def test_each_worker_runs_with_its_own_gpu_cores_and_bounds(service: Service) -> None:
    """What the kernel says of the processes is what was announced, and their jobs complete."""
    told = service.ready["workers"]
    workers = [psutil.Process(pid) for pid in service.ready["worker_pids"]]
    seen = [worker.environ() for worker in workers]
    assert [each["gpus"] for each in told] == [["GPU-0-uuid"], ["GPU-1-uuid"]]
    assert [each["CUDA_VISIBLE_DEVICES"] for each in seen] == ["GPU-0-uuid", "GPU-1-uuid"]
    assert [each["OMP_NUM_THREADS"] for each in seen] == [os.environ.get("OMP_NUM_THREADS", "1")] * NUM_GPUS
    whole = usable_bytes() // 2
    assert [int(each["GIGAVQA_WORKER_SLEEP_BYTES"]) for each in seen] == [whole // NUM_GPUS] * NUM_GPUS
    mine = os.sched_getaffinity(0)
    cpus = [os.sched_getaffinity(worker.pid) for worker in workers]
    assert set().union(*cpus) == mine
    assert len(mine) < NUM_GPUS or not cpus[0] & cpus[1]
    assert all(
        os.sched_getaffinity(thread.id) == own
        for worker, own in zip(workers, cpus, strict=True)
        for thread in worker.threads()
    )
    log = (service.installation.home / "up.log").read_text()
    assert f"devices  GPU 0 -> worker-{MODEL} -> {MODEL} (CPUs " in log
    service.installation.ok("submit", "-d", "tiny", "-m", MODEL, "--watch")


def test_the_first_worker_is_ready_before_the_next_one_starts(service: Service) -> None:
    """The second process is created after the first one's engine was ready."""
    logs = [
        (service.installation.home / "logs" / f"worker-{MODEL}{end}.log").read_text().splitlines() for end in ("", "-2")
    ]
    ready = next(line for line in logs[0] if ": ready for " in line)
    assert ready[:23] < logs[1][0][:23]  # the times of the log's lines


def test_gpus_that_the_machine_lacks_end_up_with_a_sentence(with_driver: WithDriver) -> None:
    """Asked for more than there are, for what is split, and on a machine without any."""
    up = ("up", "--engine", "simulated", "--port", "0", "--model", MODEL, "--gpus")
    more = with_driver.run(*up, "0,1,2")
    assert (more.returncode, "there is no GPU 2; this machine shows 0, 1" in more.stderr) == (2, True)
    write_gpus(with_driver.home.parent, ["Enabled", "Disabled"])
    split = with_driver.run(*up, "all")
    assert (split.returncode, "GPU 0 is split by MIG" in split.stderr) == (1, True)
    write_driver(with_driver.home.parent, ["NVIDIA-SMI has failed"], status=9)
    broken = with_driver.run(*up, "all")
    assert (broken.returncode, "NVIDIA-SMI has failed" in broken.stderr) == (1, True)


def test_the_doctor_tells_what_each_gpu_would_get() -> None:
    """GPUs, nodes and CPUs; a warning for too few CPUs, and for what MIG has split."""
    good = hardware.describe_gpus(DGX, DGX.devices)
    assert good.status == "ok"
    assert f"8 x {H100} (81559 MiB)" in good.found
    assert "GPU 4: node 1, CPUs 56-69,168-181" in good.found
    few = machine([4], 4)
    assert hardware.describe_gpus(few, few.devices).status == "warn"
    split = machine([2], 16, split=[1])
    assert "MIG" in hardware.describe_gpus(split, split.devices).advice


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"driver": "575.57.08"}, "driver 580 or later"),
        ({"capability": "7.5"}, "GPU 0, 1 cannot reckon in bfloat16"),
    ],
)
def test_the_doctor_warns_of_what_vllm_does_not_start_on(changes: dict[str, str], told: str) -> None:
    """A driver before CUDA 13, and GPUs without bfloat16; what the driver does not tell is no reason."""
    old = [replace(device, **changes) for device in DGX.devices[:2]]
    said = hardware.describe_gpus(DGX, old)
    assert (said.status, told in said.advice) == ("warn", True)
    silent = [replace(device, driver="[N/A]", capability="") for device in DGX.devices]
    assert hardware.describe_gpus(DGX, silent).status == "ok"


def test_the_doctor_tells_which_models_the_gpus_hold() -> None:
    """All of the catalogue on eight of 80 GB; on one of 40 a few, and what a shorter context would bring."""
    entries = list(load_catalogue().values())
    wanting = [entry.id for entry in entries if entry.gpus]
    assert all(model in hardware.describe_models(entries, DGX.devices).found for model in wanting)
    small = hardware.describe_models(entries, [replace(DGX.devices[0], memory_mib=40536)])
    assert (small.status, small.found) == ("ok", "2 of 17 find GPUs here that hold them: minicpm-v-4.5, qwen2.5-vl-7b")
    assert "`gigavqa models add qwen3-vl-8b --context 65536`" in small.advice
    none = hardware.describe_models(entries, [replace(DGX.devices[0], memory_mib=16384)])
    assert none.status == "warn" and "larger GPUs" in none.advice


@pytest.mark.parametrize(
    ("mib", "told"),
    [
        (81559, None),
        (49140, "--context 98304"),
        (46068, "--context 98304"),
        (40960, "--context 65536"),
        (24564, "choose a smaller model"),
        (0, None),
    ],
)
def test_gpus_that_do_not_hold_a_model_are_refused_before_it_loads(mib: int, told: str | None) -> None:
    """With what to do; memory that the driver does not tell is no reason."""
    entry = load_catalogue()["qwen3-vl-8b"]
    crews = [WorkerPlan("worker", (entry.id,), (replace(DGX.devices[3], memory_mib=mib),))]
    if told is None:
        require_memory(crews, [entry])
        return
    with pytest.raises(DevicesTooSmallError, match=f"GPU 3: 'qwen3-vl-8b' wants 80 GiB.*{told}"):
        require_memory(crews, [entry])


@pytest.mark.parametrize(("gib", "context"), [(80, 131072), (48, 98304), (40, 65536)])
def test_the_contexts_of_qwen3_vl_8b_have_room(gib: int, context: int) -> None:
    """By arithmetic, on the smallest GPU sold as so large: weights, embeddings, one prompt, and 5 GB for a step."""
    entry, model = load_catalogue()["qwen3-vl-8b"], Roofline.of("h100", "8b").model
    device_bytes = int(0.9 * gib * 2**30)
    usable = device_bytes * entry.engine["gpu_memory_utilization"]
    served = entry.model_copy(update={"max_model_len": context})
    embeddings = encoder_cache_tokens(served, model.embedding_bytes, device_bytes) * model.embedding_bytes
    assert usable - 17.5e9 - embeddings - context * model.kv_bytes >= 5e9
