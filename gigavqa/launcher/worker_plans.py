"""What each worker of `gigavqa up` gets of the machine besides GPUs: cores of their NUMA node, and bounds.

Bounds that the operator sets are the machine's, and are divided among its workers; so are the defaults that grow with
the machine.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher import preflight
from gigavqa.launcher.errors import DevicesTooSmallError
from gigavqa.launcher.machine import HostMachine, NumaNode, format_cpus, read_machine, require_no_mig
from gigavqa.launcher.placement import WorkerPlan, devices_needed, fill_devices, place_on_devices, plans_for_models
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.extras import install_advice
from gigavqa.workers.settings import WorkerSettings

_OFFLOAD = "kv_offloading_size"
_MEMORY_SHARES = {"sleep_bytes": 2, "ahead_bytes": 8, "round_bytes": 8, "cache_bytes": 16}
"""By bound: of the machine's memory, one part in so many is the most that all workers together take unless told."""
_MOST_RENDER_THREADS = 8


@dataclass(frozen=True)
class PlacementOptions:
    """What the command line says of workers, of GPUs and of the engine."""

    num_workers: int | None = None
    gpus: str | None = None
    engine: str = "vllm"


def plan_workers(
    entries: Sequence[CatalogueEntry], wanted: PlacementOptions, chosen: Mapping[str, Any]
) -> tuple[WorkerPlan, ...]:
    """Return the workers for these models on this machine, each with its share of it.

    Raises SettingsInvalidError, CheckpointUnavailableError, DevicesTooFewError, DevicesTooSmallError and
    DevicesUnusableError.
    """
    if wanted.engine == "vllm":
        for entry in entries:
            preflight.require_weights(entry)
    is_for_gpus = wanted.engine == "vllm" and preflight.engine_package() == "vllm"
    if wanted.gpus is not None and wanted.engine == "vllm" and not is_for_gpus:
        raise SettingsInvalidError(f"--gpus needs vLLM's build for GPUs: {install_advice('gpu')}")
    machine = read_machine(with_devices=is_for_gpus or wanted.gpus is not None)
    crews = plans_for_models([entry.id for entry in entries], wanted.num_workers)
    if is_for_gpus or wanted.gpus is not None:
        crews = place_workers(crews, entries, wanted, chosen, machine)
    if is_for_gpus and not chosen:  # which may say of quantization, a cache or a share what no entry knows
        require_memory(crews, entries)
    return add_shares(crews, machine, WorkerSettings.from_environment(), entries, chosen)


def place_workers(
    crews: Sequence[WorkerPlan],
    entries: Sequence[CatalogueEntry],
    wanted: PlacementOptions,
    chosen: Mapping[str, Any],
    machine: HostMachine,
    environment: Mapping[str, str] = os.environ,
) -> tuple[WorkerPlan, ...]:
    """Give each worker GPUs of the machine, and make more workers where `--gpus` alone says how many there are.

    Raises SettingsInvalidError, DevicesTooFewError, DevicesUnusableError.
    """
    visible = machine.visible(environment)
    devices = machine.chosen(wanted.gpus, environment) if wanted.gpus is not None else visible
    needs = {entry.id: devices_needed(entry, chosen) for entry in entries}
    fills = wanted.gpus is not None and wanted.num_workers is None
    placed = fill_devices(crews, needs, devices) if fills else place_on_devices(crews, needs, devices)
    require_no_mig(device for crew in placed for device in crew.devices)
    return placed


def require_memory(crews: Sequence[WorkerPlan], entries: Sequence[CatalogueEntry]) -> None:
    """Raise DevicesTooSmallError for GPUs that do not hold what their worker serves, as far as both are known."""
    for crew, entry in ((crew, entry) for crew in crews for entry in entries if entry.id in crew.models):
        # GPUs beyond those that the model is spread over are another model's of the same worker.
        devices = crew.devices[: devices_needed(entry, {})]
        if entry.gpus and devices and all(device.memory_mib for device in devices):
            lack = entry.gpus.lack(entry.id, sum(device.memory_mib for device in devices))
            if lack:
                numbers = ", ".join(device.number for device in devices)
                raise DevicesTooSmallError(f"GPU {numbers}: {lack} (any --engine-arg turns this check off)")


def describe_plan(crews: Sequence[WorkerPlan]) -> Iterator[str]:
    """Yield a line for each worker with GPUs: which, for what, where."""
    for crew in sorted(crews, key=lambda crew: [device.number.zfill(4) for device in crew.devices]):
        numbers = ", ".join(device.number for device in crew.devices)
        nodes = ", ".join(map(str, crew.nodes))
        node = f"node{'s' if len(crew.nodes) > 1 else ''} {nodes}, " if nodes else ""
        yield f"devices  GPU {numbers} -> {crew.name} -> {', '.join(crew.models)} ({node}CPUs {format_cpus(crew.cpus)})"


def add_shares(
    crews: Sequence[WorkerPlan],
    machine: HostMachine,
    settings: WorkerSettings,
    entries: Sequence[CatalogueEntry],
    chosen: Mapping[str, Any],
) -> tuple[WorkerPlan, ...]:
    """Give each worker its cores, and its part of what the operator's `settings` and `chosen` arguments allow."""
    cpus = divide_cores(crews, machine.nodes)
    return tuple(
        replace(
            crew,
            cpus=cpus[crew.name],
            variables=tuple(_variables(crew, cpus[crew.name], len(crews), machine, settings)),
            arguments=tuple(_offload(crew, len(crews), entries, chosen)),
        )
        for crew in crews
    )


def divide_cores(crews: Sequence[WorkerPlan], nodes: Sequence[NumaNode]) -> dict[str, tuple[int, ...]]:
    """Divide each node's cores among the GPUs in use there: by worker, its CPUs; none for a worker without GPUs.

    A core is never split between workers while there are as many cores as GPUs; with fewer CPUs than GPUs all share.
    """
    given: dict[str, set[int]] = {crew.name: set() for crew in crews}
    for node in nodes:
        at_node = [(crew, device) for crew in crews for device in crew.devices if device.node in (node.number, None)]
        for position, (crew, _) in enumerate(at_node):
            given[crew.name].update(_cpus_of_part(node, position, len(at_node)))
    return {name: tuple(sorted(cpus)) for name, cpus in given.items()}


def _cpus_of_part(node: NumaNode, position: int, parts: int) -> Iterator[int]:
    for units in (node.cores, tuple((cpu,) for cpu in node.cpus)):
        if len(units) >= parts:
            first, last = len(units) * position // parts, len(units) * (position + 1) // parts
            return (cpu for unit in units[first:last] for cpu in unit)
    return iter(node.cpus)


def _variables(
    crew: WorkerPlan, cpus: Sequence[int], num_workers: int, machine: HostMachine, settings: WorkerSettings
) -> Iterator[tuple[str, str]]:
    variables = {place.name: place.variable for place in WorkerSettings.places()}
    for name, part in _MEMORY_SHARES.items():
        bound = int(getattr(settings, name))
        if name not in settings.model_fields_set:
            bound = min(bound * num_workers, machine.memory_bytes // part)
        if num_workers > 1:
            yield variables[name], str(bound // num_workers)
    if "render_threads" in settings.model_fields_set:
        yield variables["render_threads"], str(max(1, settings.render_threads // num_workers))
    elif cpus:
        # The front end has one core, and each GPU's engine process, which spins, another.
        left = len(cpus) - 1 - len(crew.devices)
        yield variables["render_threads"], str(max(1, min(_MOST_RENDER_THREADS, left)))


def _offload(
    crew: WorkerPlan, num_workers: int, entries: Sequence[CatalogueEntry], chosen: Mapping[str, Any]
) -> Iterator[str]:
    """Pinned memory for evicted KV blocks, GiB: of the machine, whether the command line or an entry asks for it."""
    served = [entry for entry in entries if entry.id in crew.models]
    asked = {float(chosen.get(_OFFLOAD) or entry.engine.get(_OFFLOAD) or 0) for entry in served}
    if num_workers > 1 and len(asked) == 1 and (whole := asked.pop()):
        yield f"{_OFFLOAD}={whole / num_workers:g}"
