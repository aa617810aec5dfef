"""Memory that a process may use, told by files as the kernel writes them."""

from pathlib import Path

import psutil
import pytest

from gigavqa.runtime.memory import usable_bytes

GIB = 2**30
MACHINE = psutil.virtual_memory().total


def told(tmp_path: Path, own: str, limits: dict[str, str]) -> int:
    """What is usable where the process's groups are `own`, and files below the groups' folder say these limits."""
    groups, mine = tmp_path / "cgroup", tmp_path / "self"
    for name, limit in limits.items():
        path = groups / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{limit}\n")
    mine.write_text(own)
    return usable_bytes(groups, mine)


@pytest.mark.parametrize(
    ("own", "limits"),
    [
        ("0::/\n", {"memory.max": str(GIB)}),
        ("0::/pod/worker\n", {"pod/worker/memory.max": "max", "pod/memory.max": str(GIB), "memory.max": "max"}),
        ("0::/kubepods/pod1\n", {"memory.max": str(GIB)}),
        ("4:memory:/box\n0::/\n", {"memory/box/memory.limit_in_bytes": str(GIB)}),
        ("4:memory:/docker/1\n", {"memory/memory.limit_in_bytes": str(GIB)}),
        ("0::/a\n", {"a/memory.max": str(GIB), "memory.max": str(2 * GIB)}),
    ],
)
def test_a_containers_limit_is_what_is_usable(tmp_path: Path, own: str, limits: dict[str, str]) -> None:
    """In either version of control groups, its own or that of one above it."""
    assert told(tmp_path, own, limits) == GIB


@pytest.mark.parametrize(
    ("own", "limits"),
    [
        ("", {}),
        ("0::/\n", {"memory.max": "max"}),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712"}),
        ("3:cpuset:/box\n", {"box/memory.max": str(GIB)}),
    ],
)
def test_without_a_limit_it_is_the_machines_memory(tmp_path: Path, own: str, limits: dict[str, str]) -> None:
    """As for a process that no group bounds."""
    assert told(tmp_path, own, limits) == MACHINE


def test_where_there_are_no_groups_it_is_the_machines_memory(tmp_path: Path) -> None:
    """On another system than Linux."""
    assert usable_bytes(tmp_path / "none", tmp_path / "neither") == MACHINE
