"""Which GPUs each worker of `gigavqa up` gets: none is shared, and none is taken that the operator has hidden."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from catalogue.entry import CatalogueEntry
from cli.errors import DevicesTooFewError

VISIBLE = "CUDA_VISIBLE_DEVICES"
_PARALLEL = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")


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
