"""The workers of `gigavqa up`: which models each serves, and which GPUs it gets.

No GPU is shared, and none is taken that the operator has hidden.
"""

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catalogue.entry import CatalogueEntry
from cli.errors import DevicesTooFewError

VISIBLE = "CUDA_VISIBLE_DEVICES"
_PARALLEL = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")


@dataclass(frozen=True)
class Crew:
    """One worker: its name, the models that it serves, and the GPUs that it sees; without any it sees all."""

    name: str
    models: tuple[str, ...]
    devices: tuple[str, ...] = ()


def crews_of(models: Sequence[str], num_workers: int | None) -> tuple[Crew, ...]:
    """One worker for each model, or so many workers that each serve all of them in shifts."""
    if num_workers is not None:
        return tuple(Crew(f"worker-{number}", tuple(models)) for number in range(1, num_workers + 1))
    earlier = [list(models[:position]).count(model) for position, model in enumerate(models)]
    return tuple(
        Crew(f"worker-{model}-{count + 1}" if count else f"worker-{model}", (model,))
        for model, count in zip(models, earlier, strict=True)
    )


def with_devices(
    crews: Sequence[Crew], entries: Iterable[CatalogueEntry], chosen: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[Crew, ...]:
    """Give each worker the GPUs that the largest of its models needs; on a machine without GPUs there are none to give.

    Raises DevicesTooFewError.
    """
    visible = visible_devices(environment)
    if not visible:
        return tuple(crews)
    needed = {entry.id: devices_needed(entry, chosen) for entry in entries}
    devices = assign_devices([max(needed[model] for model in crew.models) for crew in crews], visible)
    return tuple(replace(crew, devices=given) for crew, given in zip(crews, devices, strict=True))


def visible_devices(environment: Mapping[str, str]) -> tuple[str, ...]:
    """GPUs as the driver numbers them, or those that CUDA_VISIBLE_DEVICES leaves; none without a driver."""
    if VISIBLE in environment:
        return _named(environment[VISIBLE])
    query = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    if shutil.which(query[0]) is None:
        return ()
    listed = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
    return tuple(listed.stdout.split()) if listed.returncode == 0 else ()


def devices_needed(entry: CatalogueEntry, chosen: Mapping[str, Any]) -> int:
    """GPUs over which vLLM spreads the model; `chosen` are engine arguments that go before the entry's."""
    arguments = {**entry.engine, **chosen}
    needed = 1
    for name in _PARALLEL:
        needed *= int(arguments.get(name) or 1)
    return needed


def assign_devices(needs: Sequence[int], visible: Sequence[str]) -> list[tuple[str, ...]]:
    """Give each worker as many GPUs as it needs, in order and without sharing any.

    Raises DevicesTooFewError.
    """
    if sum(needs) > len(visible):
        many = len(needs) > 1
        asked = f"{len(needs)} workers need {sum(needs)} GPUs" if many else f"the worker needs {sum(needs)} GPUs"
        remedy = "name fewer models, or let `--workers N` serve them in shifts" if many else "lower its parallel sizes"
        shown = f"this machine shows {len(visible)} ({', '.join(visible)})"
        raise DevicesTooFewError(f"{asked}, and {shown}: {remedy}; {VISIBLE} chooses among GPUs")
    left = iter(visible)
    return [tuple(next(left) for _ in range(need)) for need in needs]


def device_environment(devices: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that show a process these GPUs alone."""
    # CUDA numbers by speed where the driver numbers by slot; numbers of the operator's own are left as they are.
    order = {} if VISIBLE in environment else {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    return {VISIBLE: ",".join(devices), **order} if devices else {}


def _named(variable: str) -> tuple[str, ...]:
    named = []
    for name in (part.strip() for part in variable.split(",")):
        if not name or name.startswith("-"):
            break  # CUDA, too, reads no further
        named.append(name)
    return tuple(named)
