"""Machines described as data, and a driver that lists such GPUs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gigavqa.launcher.machine import GpuDevice, HostMachine, NumaNode
from tests.cli.installation import Installation

GIB = 2**30
H100 = "NVIDIA H100 80GB HBM3"
DRIVER = "580.95.05"


@dataclass(frozen=True)
class WithDriver(Installation):
    """An installation on a machine whose driver lists GPUs."""

    @property
    def environment(self) -> dict[str, str]:
        """As ever, with the driver's folder first on the path."""
        return super().environment | {"PATH": f"{self.home.parent}:{os.environ['PATH']}"}


def machine(
    gpus_of_node: Sequence[int], cores_of_node: int, *, threads: int = 2, split: Sequence[int] = ()
) -> HostMachine:
    """GPUs by NUMA node, with so many cores a node, numbered as Linux does: second threads after all cores."""
    nodes = len(gpus_of_node)
    cores = nodes * cores_of_node
    places = [node for node, number in enumerate(gpus_of_node) for _ in range(number)]
    return HostMachine(
        tuple(
            GpuDevice(str(number), f"GPU-{number:04d}-uuid", H100, 81559, node, number in split, DRIVER, "9.0")
            for number, node in enumerate(places)
        ),
        tuple(
            NumaNode(
                node,
                tuple(
                    tuple(core + thread * cores for thread in range(threads))
                    for core in range(node * cores_of_node, (node + 1) * cores_of_node)
                ),
            )
            for node in range(nodes)
        ),
        1024 * GIB,
    )


DGX = machine([4, 4], 56)
"""Two sockets of 56 cores with two threads each, and four GPUs at each."""


def write_driver(folder: Path, lines: Sequence[str], status: int = 0) -> None:
    """Put an `nvidia-smi` into a folder that prints these lines, and knows nothing of repairs, use and processes."""
    text = "\n".join(lines)
    unknown = "--query-remapped-rows=*|--query-compute-apps=*|--query-gpu=uuid,*"
    asked = f'case "$1" in {unknown}) exit 2 ;; esac'
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{asked}\ncat <<'END'\n{text}\nEND\nexit {status}\n")
    (folder / "nvidia-smi").chmod(0o755)


def write_asked_driver(folder: Path, answers: Mapping[str, str], *, driver: str = DRIVER) -> None:
    """Put an `nvidia-smi` of two GPUs into a folder, with the command that answers each question beginning so."""
    gpus = (f"'{n}, GPU-{n}, {H100}, 81559, 00000000:F{n}:00.0, [N/A], {driver}, 9.0'" for n in range(2))
    cases = [f"{question}*) {answer} ;;" for question, answer in answers.items()]
    cases += [f"--query-gpu=index*) printf '%s\\n' {' '.join(gpus)} ;;", "*) exit 2 ;;"]
    (folder / "nvidia-smi").write_text("\n".join(["#!/bin/sh", 'case "$1" in', *cases, "esac", ""]))
    (folder / "nvidia-smi").chmod(0o755)


def write_kernel(folder: Path, nodes: Sequence[str], gpus: Sequence[tuple[str, int]]) -> Path:
    """Write what Linux shows below /sys: CPU lists of nodes, and by PCI address the node of a GPU."""
    for number, cpus in enumerate(nodes):
        place = folder / f"devices/system/node/node{number}"
        place.mkdir(parents=True)
        (place / "cpulist").write_text(f"{cpus}\n")
    for address, node in gpus:
        place = folder / "bus/pci/devices" / address
        place.mkdir(parents=True)
        (place / "numa_node").write_text(f"{node}\n")
    return folder
