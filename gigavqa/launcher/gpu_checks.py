"""Refuse GPUs on which an engine would fail: a repair is pending, the driver is too old, or others hold their memory.

vLLM says the same half a minute later, in words of its own; `gigavqa up --skip-gpu-checks` leaves it to that.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher.driver import ask_driver_if_known
from gigavqa.launcher.errors import DevicesUnusableError
from gigavqa.launcher.machine import GpuDevice, memory_by_size, require_no_mig
from gigavqa.launcher.placement import WorkerPlan
from gigavqa.workers.engines.vllm.device_support import capability_fault, driver_fault

_REMAPS = ("gpu_uuid", "remapped_rows.pending", "remapped_rows.failure")
_PAGES = ("uuid", "retired_pages.pending", "ecc.errors.uncorrected.volatile.total")
_MEMORY = ("uuid", "memory.used", "memory.total")
_PROCESSES = ("gpu_uuid", "pid")
_SHARE = "gpu_memory_utilization"
_ENGINE_SHARE = 0.92  # vLLM's own, of all memory, which has to be free when an engine starts
_LEAST_SHARE = 0.3  # less holds no model that wants a GPU
_OTHERWISE = "or choose others with --gpus; --skip-gpu-checks takes it all the same"


@dataclass(frozen=True)
class GpuRepairs:
    """By number, GPUs whose repair is pending or whose memory is beyond it, and errors that were not corrected."""

    pending: tuple[str, ...]
    beyond: tuple[str, ...]
    errors: Mapping[str, int]
    num_told: int


def read_repairs(devices: Sequence[GpuDevice]) -> GpuRepairs:
    """Ask the driver, which is there, of these GPUs' memory; one that does not know the question tells of none."""
    numbers = {device.id: device.number for device in devices}
    remaps = {numbers.get(row.text("gpu_uuid")): row for row in ask_driver_if_known(_REMAPS, of="remapped-rows")}
    pages = {numbers.get(row.text("uuid")): row for row in ask_driver_if_known(_PAGES)}
    told = [number for number in numbers.values() if number in remaps or number in pages]
    waits = [(number, row.flag("remapped_rows.pending")) for number, row in remaps.items()]
    waits += [(number, row.flag("retired_pages.pending")) for number, row in pages.items()]
    errors = {number: row.number("ecc.errors.uncorrected.volatile.total") for number, row in pages.items()}
    return GpuRepairs(
        pending=tuple(dict.fromkeys(number for number, waiting in waits if number is not None and waiting)),
        beyond=tuple(number for number, row in remaps.items() if number and row.flag("remapped_rows.failure")),
        errors={number: count for number, count in errors.items() if number is not None and count},
        num_told=len(told),
    )


def repair_advice(number: str) -> str:
    """Say how a GPU is made to repair its memory."""
    return f"stop what uses it and `nvidia-smi -i {number} --gpu-reset`, or restart the machine"


def require_repaired(devices: Sequence[GpuDevice]) -> None:
    """Raise DevicesUnusableError for a GPU whose memory waits for a repair, or is beyond one."""
    repairs = read_repairs(devices)
    if repairs.beyond:
        raise DevicesUnusableError(
            f"GPU {', '.join(repairs.beyond)}: its memory cannot be repaired any more: have it replaced, {_OTHERWISE}"
        )
    if repairs.pending:
        raise DevicesUnusableError(
            f"GPU {', '.join(repairs.pending)}: a repair of its memory is pending: "
            f"{repair_advice(repairs.pending[0])}, {_OTHERWISE}"
        )


def require_servable(devices: Sequence[GpuDevice], *, skip_checks: bool = False) -> None:
    """Raise DevicesUnusableError for GPUs on which vLLM serves nothing: slices of MIG, old ones, an old driver's."""
    require_no_mig(devices)
    require_supported(devices)
    if not skip_checks:
        require_driver(devices)


def servable_memory(devices: Sequence[GpuDevice]) -> list[int]:
    """Return the bytes of each GPU, the largest first, of those that `gigavqa up` would take.

    Raises DevicesUnusableError where it would take none, or the memory of one is unknown.
    """
    require_servable(devices)
    return memory_by_size(devices)


def require_supported(devices: Sequence[GpuDevice]) -> None:
    """Raise DevicesUnusableError for a GPU that vLLM has no kernels for, which nothing makes it have."""
    for device in devices:
        if fault := capability_fault(device.label, device.capability):
            raise DevicesUnusableError(fault)


def require_driver(devices: Sequence[GpuDevice]) -> None:
    """Raise DevicesUnusableError for a driver that is older than vLLM's CUDA needs."""
    if fault := next(filter(None, (driver_fault(device.driver) for device in devices)), None):
        raise DevicesUnusableError(
            f"{fault}; with NVIDIA's libraries of forward compatibility, --skip-gpu-checks goes on without"
        )


def require_unused(plans: Sequence[WorkerPlan], entries: Sequence[CatalogueEntry], chosen: Mapping[str, Any]) -> None:
    """Raise DevicesUnusableError for a GPU of whose memory others hold what its worker's engine takes."""
    memory = read_use()
    for plan in plans:
        share = max(_share(entry, chosen) for entry in entries if entry.id in plan.models)
        for device in plan.devices:
            if fault := use_fault(device, memory, share):
                raise DevicesUnusableError(f"{fault}, {_lower_share(*memory[device.id])}{_OTHERWISE}")


def read_use() -> dict[str, tuple[int, int]]:
    """Ask the driver, which is there, for the MiB in use and the MiB of each GPU by its UUID, as far as it tells."""
    rows = ask_driver_if_known(_MEMORY)
    told = {row.text("uuid"): (row.number("memory.used"), row.number("memory.total")) for row in rows}
    return {name: (used, total) for name, (used, total) in told.items() if used is not None and total is not None}


def use_fault(device: GpuDevice, memory: Mapping[str, tuple[int, int]], share: float = _ENGINE_SHARE) -> str | None:
    """Say that others hold memory of a GPU of which an engine takes a share, and what to do; None where they do not."""
    used, total = memory.get(device.id, (0, 0))
    if used <= (1 - share) * total:
        return None
    return (
        f"GPU {device.number}: {used:,} of its {total:,} MiB are in use{_holders(device)}, and an engine takes "
        f"{share:.0%}: end what holds them"
    )


def _lower_share(used: int, total: int) -> str:
    left = math.floor(20 * (1 - used / total)) / 20  # in steps of 5 %
    return f"lower the share by `--engine-arg {_SHARE}={left:g}`, " if left >= _LEAST_SHARE else ""


def _share(entry: CatalogueEntry, chosen: Mapping[str, Any]) -> float:
    return float(chosen.get(_SHARE) or entry.engine.get(_SHARE) or _ENGINE_SHARE)


def _holders(device: GpuDevice) -> str:
    rows = ask_driver_if_known(_PROCESSES, of="compute-apps")
    processes = [row.text("pid") or "unknown" for row in rows if row.text("gpu_uuid") == device.id]
    return f" by process {', '.join(processes)}" if processes else ""
