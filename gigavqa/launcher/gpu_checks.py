"""Refuse GPUs on which an engine would fail: a repair is pending, the driver is too old, or others hold their memory.

vLLM says the same half a minute later, in words of its own; `gigavqa up --skip-gpu-checks` leaves it to that.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher.errors import DevicesUnusableError
from gigavqa.launcher.machine import GpuDevice, ask_driver
from gigavqa.launcher.placement import WorkerPlan

OLDEST_DRIVER = 580
"""CUDA 13, which vLLM's wheels are built with, needs it."""

_REMAPS = "--query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure"
_PAGES = "--query-gpu=uuid,retired_pages.pending,ecc.errors.uncorrected.volatile.total"
_MEMORY = "--query-gpu=uuid,memory.used,memory.total"
_PROCESSES = "--query-compute-apps=gpu_uuid,pid,used_memory"
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
    remaps, pages = ([row for row in _ask(query) if row[0] in numbers] for query in (_REMAPS, _PAGES))
    pending = dict.fromkeys(numbers[row[0]] for row in (*remaps, *pages) if _is_true(row[1]))
    beyond = tuple(numbers[row[0]] for row in remaps if _is_true(row[2]))
    errors = {numbers[row[0]]: int(row[2]) for row in pages if _is_true(row[2])}
    return GpuRepairs(tuple(pending), beyond, errors, len({row[0] for row in (*remaps, *pages)}))


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


def has_old_driver(device: GpuDevice) -> bool:
    """Say whether its driver is known to be older than vLLM's CUDA needs."""
    version = re.match(r"\d+", device.driver)
    return version is not None and int(version[0]) < OLDEST_DRIVER


def require_driver(devices: Sequence[GpuDevice]) -> None:
    """Raise DevicesUnusableError for a driver that is older than vLLM's CUDA needs."""
    if old := next(filter(has_old_driver, devices), None):
        raise DevicesUnusableError(
            f"NVIDIA's driver {old.driver} is too old for vLLM's CUDA 13: install {OLDEST_DRIVER} or later; with "
            "NVIDIA's libraries of forward compatibility, --skip-gpu-checks goes on without"
        )


def require_unused(plans: Sequence[WorkerPlan], entries: Sequence[CatalogueEntry], chosen: Mapping[str, Any]) -> None:
    """Raise DevicesUnusableError for a GPU of whose memory others hold what its worker's engine takes."""
    memory = {row[0]: (int(row[1]), int(row[2])) for row in _ask(_MEMORY) if row[1].isdecimal() and row[2].isdecimal()}
    for plan in plans:
        share = max(_share(entry, chosen) for entry in entries if entry.id in plan.models)
        for device in plan.devices:
            used, total = memory.get(device.id, (0, 0))
            if used > (1 - share) * total:
                raise DevicesUnusableError(
                    f"GPU {device.number}: {used:,} of its {total:,} MiB are in use{_holders(device)}, and an engine "
                    f"takes {share:.0%}: end what holds them, {_lower_share(used, total)}{_OTHERWISE}"
                )


def _lower_share(used: int, total: int) -> str:
    left = math.floor(20 * (1 - used / total)) / 20  # in steps of 5 %
    return f"lower the share by `--engine-arg {_SHARE}={left:g}`, " if left >= _LEAST_SHARE else ""


def _share(entry: CatalogueEntry, chosen: Mapping[str, Any]) -> float:
    return float(chosen.get(_SHARE) or entry.engine.get(_SHARE) or _ENGINE_SHARE)


def _holders(device: GpuDevice) -> str:
    processes = [row[1] for row in _ask(_PROCESSES) if row[0] == device.id]
    return f" by process {', '.join(processes)}" if processes else ""


def _ask(query: str) -> list[list[str]]:
    """Rows of three answers; none of a driver that does not know the question."""
    listed = ask_driver(query)
    return list(_rows(listed.stdout)) if listed.returncode == 0 else []


def _rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == 3:
            yield parts


def _is_true(answer: str) -> bool:
    return answer == "Yes" or (answer.isdecimal() and int(answer) > 0)
