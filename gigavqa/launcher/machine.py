"""Resources of a machine that workers share: GPUs, the NUMA nodes that they hang at, cores, memory."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gigavqa.launcher.driver import ask_driver, has_driver
from gigavqa.launcher.errors import DevicesUnusableError
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.memory import usable_bytes

VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"
DEVICE_ORDER = "CUDA_DEVICE_ORDER"
_FIELDS = (
    "index",
    "uuid",
    "name",
    "memory.total",
    "pci.bus_id",
    "mig.mode.current",
    "driver_version",
    "compute_cap",
)
_SYS = Path("/sys")


@dataclass(frozen=True)
class GpuDevice:
    """One GPU: what the driver calls it, what CUDA_VISIBLE_DEVICES calls it, and the NUMA node that it hangs at.

    Where no driver can be asked, all that is known is how the operator named it.
    """

    number: str
    id: str
    title: str = ""
    memory_mib: int | None = None
    node: int | None = None
    is_split: bool = False
    driver: str = ""
    capability: str = ""

    @property
    def memory_bytes(self) -> int | None:
        """Its memory as the driver tells it; None where none does."""
        return None if self.memory_mib is None else self.memory_mib << 20

    @property
    def label(self) -> str:
        """What people call it."""
        return f"GPU {self.number} ({self.title})"

    @property
    def memory(self) -> str:
        """Its memory in words."""
        return "memory unknown" if self.memory_mib is None else f"{self.memory_mib} MiB"


@dataclass(frozen=True)
class NumaNode:
    """A NUMA node: its cores, each with the CPUs (hardware threads) that this process may use of it."""

    number: int
    cores: tuple[tuple[int, ...], ...]

    @property
    def cpus(self) -> tuple[int, ...]:
        """All CPUs of the node, in order."""
        return tuple(sorted(cpu for core in self.cores for cpu in core))


@dataclass(frozen=True)
class HostMachine:
    """GPUs in the driver's order, NUMA nodes that have CPUs, and memory."""

    devices: tuple[GpuDevice, ...]
    nodes: tuple[NumaNode, ...]
    memory_bytes: int

    def visible(self, environment: Mapping[str, str]) -> tuple[GpuDevice, ...]:
        """GPUs that CUDA_VISIBLE_DEVICES leaves, in its order; all without it. Raises DevicesUnusableError."""
        if VISIBLE_DEVICES not in environment:
            return self.devices
        return tuple(_visible_devices(environment[VISIBLE_DEVICES], self.devices, environment.get(DEVICE_ORDER)))

    def chosen(self, asked: str, environment: Mapping[str, str]) -> tuple[GpuDevice, ...]:
        """GPUs that `--gpus` names: `all` that are visible, or numbers and UUIDs as the driver has them.

        Raises SettingsInvalidError and DevicesUnusableError.
        """
        visible = self.visible(environment)
        if not visible:
            hidden = (
                f"{VISIBLE_DEVICES} hides every GPU"
                if self.devices
                else "this machine has no GPU that its driver shows"
            )
            raise DevicesUnusableError(
                f"{hidden}, and --gpus {asked} asks for some; `gigavqa doctor` says what there is"
            )
        if asked == "all":
            return visible
        names = [name.strip() for name in asked.split(",")]
        devices = [self._called(name, visible) for name in names]
        if twice := [name for name, device in zip(names, devices, strict=True) if devices.count(device) > 1]:
            raise SettingsInvalidError(f"--gpus {asked} names GPU {twice[0]} twice")
        return tuple(devices)

    def _called(self, name: str, visible: Sequence[GpuDevice]) -> GpuDevice:
        for device in _matching_devices(name, self.devices or visible):
            if device in visible:
                return device
            raise SettingsInvalidError(
                f"GPU {device.number} is hidden by {VISIBLE_DEVICES}; visible are {_numbers(visible)}"
            )
        if name.isdecimal() or name.startswith("GPU-"):
            raise SettingsInvalidError(f"there is no GPU {name}; this machine shows {_numbers(visible)}")
        raise SettingsInvalidError(
            f"--gpus takes `all`, or numbers and UUIDs as `nvidia-smi -L` lists them; '{name}' is neither"
        )


def read_machine(folder: Path = _SYS, *, with_devices: bool = True) -> HostMachine:
    """Ask the driver for GPUs, and the kernel's `folder` for nodes. Raises DevicesUnusableError."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    nodes = tuple(_nodes(folder, allowed))
    devices = tuple(_list_devices(folder)) if with_devices else ()
    if not {device.node for device in devices} <= {node.number for node in nodes}:
        # Of some the node is unknown, or its CPUs are not for this process: none is nearer than another then.
        devices = tuple(replace(device, node=None) for device in devices)
    return HostMachine(devices, nodes, usable_bytes())


def shown_devices(environment: Mapping[str, str] = os.environ) -> tuple[GpuDevice, ...]:
    """Return the visible GPUs that the driver knows; none without a driver. Raises DevicesUnusableError."""
    machine = read_machine()
    return machine.visible(environment) if machine.devices else ()


def require_no_mig(devices: Iterable[GpuDevice]) -> None:
    """Raise DevicesUnusableError for a GPU that MIG has split: its slices have no NVLink, and no shares of a node."""
    if split := [device.number for device in devices if device.is_split]:
        raise DevicesUnusableError(
            f"GPU {', '.join(split)} is split by MIG, and workers take whole GPUs: undo it "
            f"(`nvidia-smi -i {split[0]} -mig 0`), choose others with --gpus, "
            "or start `python -m gigavqa.workers` by hand"
        )


def memory_by_size(devices: Iterable[GpuDevice]) -> list[int]:
    """Return the bytes of each GPU, the largest first. Raises DevicesUnusableError for one of unknown memory."""
    known, unknown = list[int](), list[str]()
    for device in devices:
        if device.memory_bytes is None:
            unknown.append(device.number)
        else:
            known.append(device.memory_bytes)
    if unknown:
        raise DevicesUnusableError(
            f"GPU {', '.join(unknown)}: memory unknown, for the driver does not tell it, and so not which models fit; "
            f"`gigavqa plan MODEL` says what a model needs, and {VISIBLE_DEVICES} can leave this GPU out"
        )
    return sorted(known, reverse=True)


def format_cpus(cpus: Iterable[int]) -> str:
    """CPUs as the kernel lists them: `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _list_devices(folder: Path) -> Iterator[GpuDevice]:
    for row in ask_driver(_FIELDS) if has_driver() else ():
        yield GpuDevice(
            number=row.name("index"),
            id=row.name("uuid"),
            title=row.text("name") or "NVIDIA GPU",
            memory_mib=row.number("memory.total"),
            node=_node_of(row.text("pci.bus_id"), folder),
            is_split=row.flag("mig.mode.current") or False,
            driver=row.version("driver_version"),
            capability=row.version("compute_cap"),
        )


def _node_of(bus: str, folder: Path) -> int | None:
    """Return the NUMA node of a PCI address as the driver writes it: `00000000:0F:00.0`."""
    place = folder / "bus/pci/devices" / bus.lower()[-len("0000:00:00.0") :] / "numa_node"
    node = int(place.read_text()) if place.exists() else -1
    return node if node >= 0 else None  # the kernel says -1 where the firmware does not tell


def _nodes(folder: Path, allowed: Collection[int]) -> Iterator[NumaNode]:
    lists = {int(path.parent.name[4:]): path for path in folder.glob("devices/system/node/node[0-9]*/cpulist")}
    texts = {number: path.read_text() for number, path in sorted(lists.items())}
    for number, text in (texts or {0: format_cpus(allowed)}).items():
        cpus = [cpu for cpu in _read_cpus(text) if cpu in allowed]
        if cpus:
            yield NumaNode(number, tuple(dict.fromkeys(_core_of(cpu, cpus, folder) for cpu in cpus)))


def _core_of(cpu: int, cpus: Collection[int], folder: Path) -> tuple[int, ...]:
    siblings = folder / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    return tuple(each for each in _read_cpus(siblings.read_text()) if each in cpus) if siblings.exists() else (cpu,)


def _read_cpus(text: str) -> list[int]:
    spans = re.findall(r"(\d+)(?:-(\d+))?", text)
    return [cpu for first, last in spans for cpu in range(int(first), int(last or first) + 1)]


def _visible_devices(variable: str, devices: Sequence[GpuDevice], order: str | None) -> Iterator[GpuDevice]:
    for name in (part.strip() for part in variable.split(",")):
        if name.startswith("MIG-"):
            raise DevicesUnusableError(
                f"{VISIBLE_DEVICES} names a slice of a GPU ({name}), and workers take whole GPUs"
            )
        if not name or name.startswith("-"):
            return  # CUDA, too, reads no further
        if not devices:
            yield GpuDevice(name, name)
            continue
        if name.isdecimal() and order != "PCI_BUS_ID" and len({device.title for device in devices}) > 1:
            raise DevicesUnusableError(
                f"{VISIBLE_DEVICES}={variable} numbers GPUs of several kinds by their speed: "
                f"set {DEVICE_ORDER}=PCI_BUS_ID, which numbers them as the driver does, or name UUIDs"
            )
        found = _matching_devices(name, devices)
        if not found:
            return
        yield found[0]


def _matching_devices(name: str, devices: Sequence[GpuDevice]) -> list[GpuDevice]:
    """Devices of this number, or whose UUID begins so."""
    by_id = name.startswith("GPU-")
    return [each for each in devices if each.number == name or (by_id and each.id.startswith(name))]


def _numbers(devices: Sequence[GpuDevice]) -> str:
    return ", ".join(device.number for device in devices)
