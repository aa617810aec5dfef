"""Plan what each worker of `gigavqa up` gets of the machine besides GPUs: cores of their NUMA node, and bounds.

Bounds that the operator sets are the machine's, and are divided among its workers; so are the defaults that grow with
the machine.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher import gpu_checks, preflight
from gigavqa.launcher.errors import DevicesTooSmallError, ExtraMissingError
from gigavqa.launcher.machine import HostMachine, NumaNode, format_cpus, read_machine, require_no_mig
from gigavqa.launcher.placement import WorkerPlan, devices_needed, fill_devices, place_on_devices, plans_for_models
from gigavqa.workers.engines.vllm.division import require_divided
from gigavqa.workers.engines.vllm.memory import shortage
from gigavqa.workers.settings import WorkerSettings

_OFFLOAD = "kv_offloading_size"
_MEMORY_SHARES = {"sleep_bytes": 2, "ahead_bytes": 8, "round_bytes": 8, "cache_bytes": 16}
"""By bound: of the machine's memory, one part in so many is the most that all workers together take unless told."""
_MOST_RENDER_THREADS = 8  # decision 0007


@dataclass(frozen=True)
class PlacementOptions:
    """The command line's options of workers, GPUs and engine."""

    num_workers: int | None = None
    gpus: str | None = None
    engine: str = "vllm"
    skip_checks: bool = False


def plan_workers(
    entries: Sequence[CatalogueEntry], wanted: PlacementOptions, chosen: Mapping[str, Any]
) -> tuple[WorkerPlan, ...]:
    """Return the workers for these models on this machine, each with its share of it.

    Raises SettingsInvalidError, CatalogueError, EngineArgumentError, ExtraMissingError, DevicesTooFewError,
    DevicesTooSmallError and DevicesUnusableError.
    """
    if wanted.engine == "vllm":
        for entry in entries:
            asked = entry.model_copy(update={"engine": {**entry.engine, **chosen}})
            preflight.require_weights(asked)
            require_divided(asked)
    is_for_gpus = wanted.engine == "vllm" and preflight.engine_package() == "vllm"
    if wanted.gpus is not None and wanted.engine == "vllm" and not is_for_gpus:
        raise ExtraMissingError(f"--gpus needs vLLM's build for GPUs: {preflight.gpu_build_advice()}")
    machine = read_machine(with_devices=is_for_gpus or wanted.gpus is not None)
    plans = plans_for_models([entry.id for entry in entries], wanted.num_workers)
    if is_for_gpus or wanted.gpus is not None:
        plans = place_workers(plans, entries, wanted, chosen, machine)
        if wanted.engine == "vllm":
            devices = [device for plan in plans for device in plan.devices]
            gpu_checks.require_servable(devices, skip_checks=wanted.skip_checks)
        if not wanted.skip_checks:
            require_usable(plans, entries, chosen, wanted.engine)
    # Arguments may say of quantization, a cache or a share what no entry knows.
    if is_for_gpus and not chosen and not wanted.skip_checks:
        require_memory(plans, entries)
    return add_shares(plans, machine, WorkerSettings.from_environment(), entries, chosen)


def place_workers(
    plans: Sequence[WorkerPlan],
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
    placed = fill_devices(plans, needs, devices) if fills else place_on_devices(plans, needs, devices)
    require_no_mig(device for plan in placed for device in plan.devices)
    return placed


def require_usable(
    plans: Sequence[WorkerPlan], entries: Sequence[CatalogueEntry], chosen: Mapping[str, Any], engine: str
) -> None:
    """Raise DevicesUnusableError for GPUs that workers were given and on which an engine would fail."""
    devices = [device for plan in plans for device in plan.devices if device.title]
    if devices:  # of others no driver can be asked
        gpu_checks.require_repaired(devices)
        if engine == "vllm":
            gpu_checks.require_unused(plans, entries, chosen)


def require_memory(plans: Sequence[WorkerPlan], entries: Sequence[CatalogueEntry]) -> None:
    """Raise DevicesTooSmallError for GPUs that do not hold what their worker serves, as far as both are known."""
    for plan, entry in ((plan, entry) for plan in plans for entry in entries if entry.id in plan.models):
        # GPUs beyond those that the model is spread over are another model's of the same worker.
        devices = plan.devices[: devices_needed(entry, {})]
        known = [device.memory_bytes for device in devices if device.memory_bytes is not None]
        if known and len(known) == len(devices) and (lack := shortage(entry, known)):
            numbers = ", ".join(device.number for device in devices)
            how = "any --engine-arg, or --skip-gpu-checks, turns this off"
            raise DevicesTooSmallError(f"GPU {numbers}: {lack} ({how})")


def lack_of_gpus(entry: CatalogueEntry, largest: Sequence[int]) -> str | None:
    """Say that one worker of `entry` has no room on these GPUs, told by their bytes, the largest first; None where it
    has.
    """
    number = devices_needed(entry, {})
    if len(largest) < number:
        return f"'{entry.id}' wants {number} GPUs"
    return shortage(entry, largest[:number])


def describe_plan(plans: Sequence[WorkerPlan]) -> Iterator[str]:
    """Yield a line for each worker with GPUs: which, for what, where."""
    for plan in sorted(plans, key=lambda plan: [device.number.zfill(4) for device in plan.devices]):
        numbers = ", ".join(device.number for device in plan.devices)
        nodes = ", ".join(map(str, plan.nodes))
        node = f"node{'s' if len(plan.nodes) > 1 else ''} {nodes}, " if nodes else ""
        memory = ", memory unknown" if any(device.memory_mib is None for device in plan.devices) else ""
        place = f"{node}CPUs {format_cpus(plan.cpus)}{memory}"
        yield f"devices  GPU {numbers} -> {plan.name} -> {', '.join(plan.models)} ({place})"


def add_shares(
    plans: Sequence[WorkerPlan],
    machine: HostMachine,
    settings: WorkerSettings,
    entries: Sequence[CatalogueEntry],
    chosen: Mapping[str, Any],
) -> tuple[WorkerPlan, ...]:
    """Give each worker its cores, and its part of what the operator's `settings` and `chosen` arguments allow."""
    cpus = divide_cores(plans, machine.nodes)
    return tuple(
        replace(
            plan,
            cpus=cpus[plan.name],
            variables=tuple(_variables(plan, cpus[plan.name], len(plans), machine, settings)),
            arguments=tuple(_offload(plan, len(plans), entries, chosen)),
        )
        for plan in plans
    )


def divide_cores(plans: Sequence[WorkerPlan], nodes: Sequence[NumaNode]) -> dict[str, tuple[int, ...]]:
    """Divide each node's cores among the GPUs in use there: by worker, its CPUs; none for a worker without GPUs.

    A core is never split between workers while there are as many cores as GPUs; with fewer CPUs than GPUs all share.
    """
    given: dict[str, set[int]] = {plan.name: set() for plan in plans}
    for node in nodes:
        at_node = [(plan, device) for plan in plans for device in plan.devices if device.node in (node.number, None)]
        for position, (plan, _) in enumerate(at_node):
            given[plan.name].update(_cpus_of_part(node, position, len(at_node)))
    return {name: tuple(sorted(cpus)) for name, cpus in given.items()}


def _cpus_of_part(node: NumaNode, position: int, parts: int) -> Iterator[int]:
    for units in (node.cores, tuple((cpu,) for cpu in node.cpus)):
        if len(units) >= parts:
            first, last = len(units) * position // parts, len(units) * (position + 1) // parts
            return (cpu for unit in units[first:last] for cpu in unit)
    return iter(node.cpus)


def _variables(
    plan: WorkerPlan, cpus: Sequence[int], num_workers: int, machine: HostMachine, settings: WorkerSettings
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
        left = len(cpus) - 1 - len(plan.devices)
        yield variables["render_threads"], str(max(1, min(_MOST_RENDER_THREADS, left)))


def _offload(
    plan: WorkerPlan, num_workers: int, entries: Sequence[CatalogueEntry], chosen: Mapping[str, Any]
) -> Iterator[str]:
    """Pinned memory for evicted KV blocks, GiB: of the machine, whether the command line or an entry asks for it."""
    served = [entry for entry in entries if entry.id in plan.models]
    asked = {float(chosen.get(_OFFLOAD) or entry.engine.get(_OFFLOAD) or 0) for entry in served}
    if num_workers > 1 and len(asked) == 1 and (whole := asked.pop()):
        yield f"{_OFFLOAD}={whole / num_workers:g}"
