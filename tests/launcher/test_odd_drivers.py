"""What `gigavqa up` and `gigavqa doctor` say of drivers that answer oddly: each in one sentence, or they go on."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.checks import Diagnosis, hardware
from gigavqa.cli.commands.doctor import check_one
from gigavqa.cli.model_selection import HERE, ModelFilters
from gigavqa.launcher import preflight
from gigavqa.launcher.errors import DevicesUnusableError, LaunchError
from gigavqa.launcher.worker_plans import PlacementOptions, describe_plan, plan_workers
from tests.launcher.machines import DRIVER, H100, write_asked_driver

MODEL = "demo-qwen3-vl"


def row(
    *,
    index: str = "0",
    uuid: str = "GPU-0",
    name: str = H100,
    memory: str = "81559",
    mig: str = "Disabled",
    driver: str = DRIVER,
    capability: str = "9.0",
) -> str:
    """A line of nvidia-smi about a GPU, most of it as of an H100."""
    return f"{index}, {uuid}, {name}, {memory}, 00000000:F0:00.0, {mig}, {driver}, {capability}"


@dataclass(frozen=True)
class OddDriver:
    """A driver: what it prints, and its status; what `up` ends with, and what the doctor says.

    Where `up` goes on, it is a pattern of what it says of its plan.
    """

    prints: str
    up: str
    doctor: str
    status: int = 0
    goes_on: bool = False
    more: tuple[tuple[str, str], ...] = ()


def going_on(prints: str, up: str, doctor: str, *more: tuple[str, str]) -> OddDriver:
    """A driver on whose GPUs a worker starts."""
    return OddDriver(prints, up, doctor, goes_on=True, more=more)


def failing(prints: str, gpu: str, value: str, field: str) -> OddDriver:
    """A driver that lists a GPU with an error in place of a value."""
    said = f"{gpu}: nvidia-smi says '{value}' for its {field}: {LOST}"
    return OddDriver(prints, said, said)


UNKNOWN = r"\(CPUs [\d,-]+, memory unknown\)$"
KNOWN = r"\(CPUs [\d,-]+\)$"
H100_KNOWN = f"1 x {H100} (81559 MiB)"
H100_UNKNOWN = f"1 x {H100} (memory unknown)"
LOST = "look at `dmesg` for lines of NVRM or Xid, and restart the machine"
OLD_GPU = "and vLLM's build for CUDA 13 has kernels from 7.5 on: take another GPU (--gpus and"
LISTS_NONE = "the driver does not list its GPUs; nvidia-smi: "
USED = "--query-gpu=uuid,memory.used"
PAGES = "--query-gpu=uuid,retired"

DRIVERS = {
    "the memory that a GB10 shares": going_on(
        row(name="NVIDIA GB10", memory="[N/A]", mig="[N/A]", capability="12.1"), UNKNOWN, "NVIDIA GB10 (memory unknown)"
    ),
    "memory that a vGPU does not tell": going_on(row(memory="[Not Supported]"), UNKNOWN, H100_UNKNOWN),
    "memory that others may not see": going_on(row(memory="[Insufficient Permissions]"), UNKNOWN, H100_UNKNOWN),
    "memory of an unknown error": failing(row(memory="[Unknown Error]"), "GPU 0", "[Unknown Error]", "memory.total"),
    "memory of an error": failing(row(memory="ERR!"), "GPU 0", "ERR!", "memory.total"),
    "memory of a word in brackets": failing(row(memory="[Pending]"), "GPU 0", "[Pending]", "memory.total"),
    "memory that is left out": failing(row(memory=""), "GPU 0", "", "memory.total"),
    "one lost GPU of two": failing(f"{row()}\n1{', [GPU is lost]' * 7}", "GPU 1", "[GPU is lost]", "uuid"),
    "a GPU that asks for a reset": failing(row(name="[GPU requires reset]"), "GPU 0", "[GPU requires reset]", "name"),
    "memory with its unit": going_on(row(memory="81559 MiB"), KNOWN, H100_KNOWN),
    "memory that is no number": OddDriver(
        row(memory="much"),
        "nvidia-smi says 'much' for memory.total, which is no whole number",
        "nvidia-smi says 'much' for memory.total, which is no whole number",
    ),
    "a GPU without a UUID": OddDriver(
        row(uuid="[N/A]"), "nvidia-smi does not tell uuid of a GPU of which it tells 0, ", LOST
    ),
    "a GPU without a number": failing(row(index="ERR!"), "GPU GPU-0", "ERR!", "index"),
    "a GPU without a name": going_on(row(name="[N/A]"), KNOWN, "1 x NVIDIA GPU (81559 MiB)"),
    "an old driver": OddDriver(
        row(driver="575.57.08"),
        "NVIDIA's driver 575.57.08 is too old for vLLM's CUDA 13: install 580 or later; with NVIDIA's libraries",
        "NVIDIA's driver 575.57.08 is too old for vLLM's CUDA 13: install 580 or later",
    ),
    "a driver without a version": going_on(row(driver="[N/A]"), KNOWN, H100_KNOWN),
    "a driver of no version": OddDriver(
        row(driver="beta"),
        "nvidia-smi says 'beta' for driver_version, which is no version",
        "nvidia-smi says 'beta' for driver_version, which is no version",
    ),
    "a V100": OddDriver(
        row(name="Tesla V100-SXM2-32GB", capability="7.0"),
        f"GPU 0 (Tesla V100-SXM2-32GB) has compute capability 7.0, {OLD_GPU}",
        f"GPU 0 (Tesla V100-SXM2-32GB) has compute capability 7.0, {OLD_GPU}",
    ),
    "a Xavier": OddDriver(
        row(name="Xavier", capability="7.2"),
        f"GPU 0 (Xavier) has compute capability 7.2, {OLD_GPU}",
        f"GPU 0 (Xavier) has compute capability 7.2, {OLD_GPU}",
    ),
    "a P100": OddDriver(
        row(name="Tesla P100", capability="6.0"),
        f"GPU 0 (Tesla P100) has compute capability 6.0, {OLD_GPU}",
        f"GPU 0 (Tesla P100) has compute capability 6.0, {OLD_GPU}",
    ),
    "a T4": going_on(
        row(name="Tesla T4", capability="7.5"), KNOWN, "GPU 0 has no bfloat16, and vLLM takes float16 for it"
    ),
    "a capability that is unknown": going_on(row(capability="[N/A]"), KNOWN, H100_KNOWN),
    "a GPU in slices": OddDriver(
        row(mig="Enabled"), "GPU 0 is split by MIG, and workers take whole GPUs", "`up` takes no GPU that MIG has split"
    ),
    "slices of an unknown error": failing(row(mig="[Unknown Error]"), "GPU 0", "[Unknown Error]", "mig.mode.current"),
    "slices in no word": OddDriver(
        row(mig="maybe"),
        "nvidia-smi says 'maybe' for mig.mode.current, which is no yes or no",
        "nvidia-smi says 'maybe' for mig.mode.current, which is no yes or no",
    ),
    "no devices": OddDriver(
        "No devices were found", "this machine has no GPU that its driver shows", "the driver shows no GPU"
    ),
    "no devices, as an error": OddDriver(
        "No devices were found", "this machine has no GPU that its driver shows", "the driver shows no GPU", status=6
    ),
    "nothing at all": OddDriver("", "this machine has no GPU that its driver shows", "the driver shows no GPU"),
    "a driver before compute capabilities": OddDriver(
        'Field "compute_cap" is not a valid field to query.',
        "NVIDIA's driver is too old: nvidia-smi does not know compute_cap; install 580 or later",
        "NVIDIA's driver is too old: nvidia-smi does not know compute_cap; install 580 or later",
        status=2,
    ),
    "a driver that was updated": OddDriver(
        "Failed to initialize NVML: Driver/library version mismatch",
        f"{LISTS_NONE}Failed to initialize NVML: Driver/library version mismatch (a restart",
        f"{LISTS_NONE}Failed to initialize NVML: Driver/library version mismatch (a restart",
        status=18,
    ),
    "a GPU that fell off its bus": OddDriver(
        "Unable to determine the device handle for GPU0: 0000:F0:00.0: GPU is lost.",
        f"{LISTS_NONE}Unable to determine the device handle for GPU0",
        f"{LISTS_NONE}Unable to determine the device handle for GPU0",
        status=15,
    ),
    "an end without a word": OddDriver(
        "", f"{LISTS_NONE}it ended with status 255", f"{LISTS_NONE}it ended with status 255", status=255
    ),
    "a warning behind the rows": going_on(
        f"{row()}\nWARNING: infoROM is corrupted at gpu 0000:F0:00.0", KNOWN, H100_KNOWN
    ),
    "a value too many": OddDriver(
        f"{row()}, 1", "nvidia-smi lists a GPU in a way that is not understood: 0, GPU-0", "is not understood: 0, GPU-0"
    ),
    "memory in use that is unknown": going_on(row(), KNOWN, H100_KNOWN, (USED, "echo GPU-0, [N/A], 81559")),
    "no answer about memory in use": going_on(row(), KNOWN, H100_KNOWN, (USED, "echo '[Not Supported]'")),
    "memory in use that is no number": OddDriver(
        row(),
        "nvidia-smi says 'lots' for memory.used, which is no whole number",
        "nvidia-smi says 'lots' for memory.used, which is no whole number",
        more=((USED, "echo GPU-0, lots, 81559"),),
    ),
    "memory in use of an unknown error": OddDriver(
        row(),
        f"GPU GPU-0: nvidia-smi says '[Unknown Error]' for its memory.used: {LOST}",
        f"GPU GPU-0: nvidia-smi says '[Unknown Error]' for its memory.used: {LOST}",
        more=((USED, "echo 'GPU-0, [Unknown Error], 81559'"),),
    ),
    "repairs that nobody may ask of": going_on(
        row(), KNOWN, H100_KNOWN, (PAGES, "echo 'GPU-0, [N/A], [Insufficient Permissions]'")
    ),
    "repairs of an unknown error": OddDriver(
        row(),
        f"GPU GPU-0: nvidia-smi says 'ERR!' for its retired_pages.pending: {LOST}",
        H100_KNOWN,
        more=((PAGES, "echo 'GPU-0, ERR!, 0'"),),
    ),
}


UNFIT = ("a GPU in slices", "a V100", "a Xavier", "an old driver", "one lost GPU of two", "memory of an error")


@pytest.fixture(params=DRIVERS)
def odd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OddDriver:
    """A driver of the list, on the path, of a machine with vLLM's build for GPUs."""
    driver: OddDriver = DRIVERS[request.param]
    (tmp_path / "printed").write_text(f"{driver.prints}\n")
    listed = f"cat {tmp_path}/printed; exit {driver.status}"
    write_asked_driver(tmp_path, dict(driver.more) | {"--query-gpu=index": listed})
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(preflight, "engine_package", lambda: "vllm")
    return driver


def test_up_ends_with_one_sentence_or_goes_on(odd: OddDriver) -> None:
    """As much is known of the memory as the driver tells."""
    entries = [load_catalogue()[MODEL]]
    try:
        said = " ".join(describe_plan(plan_workers(entries, PlacementOptions(gpus="all"), {})))
    except LaunchError as error:
        assert (not odd.goes_on, odd.up in str(error), "\n" in str(error)) == (True, True, False), error
    else:
        assert (odd.goes_on, bool(re.search(odd.up, said))) == (True, True), said


def test_the_doctor_says_the_same_beforehand(odd: OddDriver) -> None:
    """In what it found or in its advice; none of its other checks stumbles over it."""
    found: list[Diagnosis] = [check_one(check, say=False) for check in (hardware.gpu, hardware.models)]
    assert odd.doctor in f"{found[0].found}; {found[0].advice}"
    assert not any("could not be checked" in each.found for each in found)


@pytest.mark.parametrize("odd", UNFIT, indirect=True)
def test_no_model_is_said_to_fit_gpus_that_up_refuses(odd: OddDriver) -> None:
    """In the words of `up`, by the doctor and by `gigavqa models --fits here`."""
    told = hardware.models()
    assert (told.status, odd.up.partition("; with")[0] in told.found) == ("warn", True), told
    with pytest.raises(DevicesUnusableError, match=re.escape(odd.up.partition("; with")[0])):
        ModelFilters(gpu=HERE).of(load_catalogue())


def test_models_are_not_said_to_fit_memory_that_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor to lack it."""
    write_asked_driver(tmp_path, {"--query-gpu=index": f"echo '{row(memory='[N/A]')}'"})
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    told = hardware.models()
    assert (told.status, told.found.startswith("GPU 0: memory unknown, for the driver does not tell it")) == (
        "warn",
        True,
    )


def test_a_machine_without_a_driver_has_no_gpu_to_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever CUDA_VISIBLE_DEVICES names there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert (hardware.models().status, hardware.models().found) == ("ok", "no GPU for those of the catalogue")
