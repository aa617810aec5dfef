"""Find the memory that this process may use: a container's limit is not the machine's."""

from collections.abc import Iterator
from pathlib import Path

import psutil

_GROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def usable_bytes(groups: Path = _GROUPS, own: Path = _OWN) -> int:
    """Return the machine's memory, or what control groups (of either version) leave of it, where that is less."""
    machine: int = psutil.virtual_memory().total
    return min([machine, *_limits(groups, own)])


def _limits(groups: Path, own: Path) -> Iterator[int]:
    lines = own.read_text().splitlines() if own.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers == "":
            folder, name = groups, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        # Each group is bounded by those above it. In a container the root is its own group, and the path leads nowhere.
        group = folder / path.lstrip("/")
        for each in (group, *group.parents):
            if each.is_relative_to(folder) and (each / name).is_file():
                limit = (each / name).read_text().strip()
                if limit.isdecimal():  # else "max"
                    yield int(limit)
