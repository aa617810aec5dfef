"""Checks of what makes engines on GPUs fail later: repairs that a GPU's memory waits for, memory between processes."""

import shutil
from pathlib import Path

from gigavqa.cli.checks import Diagnosis
from gigavqa.launcher.driver import has_driver
from gigavqa.launcher.errors import DevicesUnusableError
from gigavqa.launcher.gpu_checks import GpuRepairs, read_repairs, repair_advice
from gigavqa.launcher.machine import read_machine
from gigavqa.runtime.plurals import count_noun

_SHARED = Path("/dev/shm")
_SHARED_BYTES = 5 * 2**30  # 4 GiB of rasters where several GPUs hold a model, and messages


def repairs() -> Diagnosis:
    """Return what the driver says of each GPU's memory: rows to remap, pages to retire, uncorrected errors."""
    try:
        devices = read_machine().devices
    except DevicesUnusableError:
        return Diagnosis("repairs", "warn", "the driver does not answer", "see what is said of the GPU")
    return describe_repairs(read_repairs(devices)) if devices else Diagnosis("repairs", "ok", "no GPU to ask")


def describe_repairs(repairs: GpuRepairs) -> Diagnosis:
    """Say which GPUs wait for a repair, and what to do."""
    found = [
        *(f"GPU {number}: its memory cannot be repaired any more" for number in repairs.beyond),
        *(f"GPU {number}: a repair of its memory is pending" for number in repairs.pending),
        *(f"GPU {number}: {count_noun(some, 'uncorrected memory error')}" for number, some in repairs.errors.items()),
    ]
    if not found:
        return Diagnosis("repairs", "ok", f"none pending on {count_noun(repairs.num_told, 'GPU')} that can say")
    if repairs.beyond:
        return Diagnosis("repairs", "warn", "; ".join(found), "have it replaced, and name the others by --gpus")
    first = next(iter([*repairs.pending, *repairs.errors]))
    return Diagnosis("repairs", "warn", "; ".join(found), repair_advice(first))


def shared_memory() -> Diagnosis:
    """Return the memory that an engine's processes pass messages through: containers have 64 MiB unless told."""
    if not _SHARED.is_dir() or not has_driver():
        return Diagnosis(str(_SHARED), "ok", "no GPUs whose processes would need it")
    free = shutil.disk_usage(_SHARED).free
    found = f"{free / 2**20:.0f} MiB free"
    if free >= _SHARED_BYTES:
        return Diagnosis(str(_SHARED), "ok", found)
    advice = "engines of several GPUs end with `Bus error` when it is full: docker's `--shm-size 16g`, or an emptyDir"
    return Diagnosis(str(_SHARED), "warn", found, advice)
