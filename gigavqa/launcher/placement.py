"""The workers of `gigavqa up`: which models each serves, and which GPUs it gets.

No GPU is shared, and none is taken that the operator has hidden.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher.errors import DevicesTooFewError
from gigavqa.launcher.machine import VISIBLE_DEVICES, GpuDevice

_THREADS = "OMP_NUM_THREADS"
_PARALLEL = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")


@dataclass(frozen=True)
class WorkerPlan:
    """One worker: its name, the models that it serves, and its share of the machine.

    Without devices it sees all, without CPUs it runs on all. `variables` are the bounds that it is started with,
    `arguments` what its engines are told besides those of all, as `NAME=VALUE`.
    """

    name: str
    models: tuple[str, ...]
    devices: tuple[GpuDevice, ...] = ()
    cpus: tuple[int, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[int, ...]:
        """NUMA nodes of its devices, as far as they are known."""
        return tuple(sorted({device.node for device in self.devices if device.node is not None}))


def plans_for_models(models: Sequence[str], num_workers: int | None) -> tuple[WorkerPlan, ...]:
    """One worker for each model, or so many workers that each serve all of them in time slices."""
    if num_workers is not None:
        return tuple(WorkerPlan(f"worker-{number}", tuple(models)) for number in range(1, num_workers + 1))
    earlier = [list(models[:position]).count(model) for position, model in enumerate(models)]
    return tuple(
        WorkerPlan(f"worker-{model}-{before + 1}" if before else f"worker-{model}", (model,))
        for model, before in zip(models, earlier, strict=True)
    )


def place_on_devices(
    plans: Sequence[WorkerPlan], needs: Mapping[str, int], devices: Sequence[GpuDevice]
) -> tuple[WorkerPlan, ...]:
    """Give each worker the GPUs that the largest of its models needs; on a machine without GPUs there are none to give.

    Raises DevicesTooFewError.
    """
    if not devices:
        return tuple(plans)
    given = assign_devices([_devices_for(plan, needs) for plan in plans], devices)
    return tuple(replace(plan, devices=taken) for plan, taken in zip(plans, given, strict=True))


def fill_devices(
    plans: Sequence[WorkerPlan], needs: Mapping[str, int], devices: Sequence[GpuDevice]
) -> tuple[WorkerPlan, ...]:
    """Repeat the workers in turn for as long as there are GPUs for one more. Raises DevicesTooFewError."""
    placed = list(place_on_devices(plans, needs, devices))
    before = 0
    while len(placed) > before:
        before = len(placed)
        for plan in plans:
            taken = {device for each in placed for device in each.devices}
            free = [device for device in devices if device not in taken]
            if given := _choose_devices(_devices_for(plan, needs), free, devices):
                placed.append(WorkerPlan(_unused_name(placed, plan.models), plan.models, given))
    return tuple(placed)


def devices_needed(entry: CatalogueEntry, chosen: Mapping[str, Any]) -> int:
    """GPUs over which vLLM spreads the model; `chosen` are engine arguments that go before the entry's."""
    arguments = {**entry.engine, **chosen}
    needed = 1
    for name in _PARALLEL:
        needed *= int(arguments.get(name) or 1)
    return needed


def assign_devices(needs: Sequence[int], devices: Sequence[GpuDevice]) -> list[tuple[GpuDevice, ...]]:
    """Give each worker as many GPUs as it needs, of one NUMA node wherever that can be, and without sharing any.

    The largest choose first, each the node that it fills best. Raises DevicesTooFewError.
    """
    if sum(needs) > len(devices):
        raise DevicesTooFewError(_describe_shortage(needs, devices))
    free, given = list(devices), {}
    for position in sorted(range(len(needs)), key=lambda each: -needs[each]):
        need = needs[position]
        given[position] = _choose_devices(need, free, devices) or tuple(free[:need])
        free = [device for device in free if device not in given[position]]
    return [given[position] for position in range(len(needs))]


def device_environment(devices: Sequence[GpuDevice], environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that show a process these GPUs alone, and keep its tensor library from rendering's cores."""
    if not devices:
        return {}
    threads = {} if _THREADS in environment else {_THREADS: "1"}
    return {VISIBLE_DEVICES: ",".join(device.id for device in devices), **threads}


def _choose_devices(need: int, free: Sequence[GpuDevice], devices: Sequence[GpuDevice]) -> tuple[GpuDevice, ...]:
    """`need` free devices of one node, or of several where no node has so many; none when there are too few."""
    if max(Counter(device.node for device in devices).values()) < need:
        return tuple(free[:need]) if len(free) >= need else ()
    numbers = Counter(device.node for device in free)
    fitting = [node for node, number in numbers.items() if number >= need]
    if not fitting:
        return ()
    node = min(fitting, key=lambda each: numbers[each])  # of equals, the first
    return tuple([device for device in free if device.node == node][:need])


def _devices_for(plan: WorkerPlan, needs: Mapping[str, int]) -> int:
    return max(needs[model] for model in plan.models)


def _unused_name(placed: Sequence[WorkerPlan], models: Sequence[str]) -> str:
    names = {plan.name for plan in placed}
    stem = f"worker-{models[0]}" if len(models) == 1 else "worker"
    return next(name for number in count(2) if (name := f"{stem}-{number}") not in names)


def _describe_shortage(needs: Sequence[int], devices: Sequence[GpuDevice]) -> str:
    many = len(needs) > 1
    asked = f"{len(needs)} workers need {sum(needs)} GPUs" if many else f"the worker needs {sum(needs)} GPUs"
    remedy = "name fewer models, or let `--workers N` serve them in time slices" if many else "lower its parallel sizes"
    shown = f"there are {len(devices)} to take ({', '.join(device.number for device in devices)})"
    return f"{asked}, and {shown}: {remedy}; {VISIBLE_DEVICES} and --gpus choose among GPUs"
