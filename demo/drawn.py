"""The data sets that can be drawn: one folder of this package each, named like its benchmark."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import demo
from demo.errors import DemoUnknownError

DEFAULT = "ultravr"
"""The benchmark whose data set is drawn when none is named."""
ALL = "all"


@dataclass(frozen=True)
class Drawn:
    """One data set that is drawn: its folder in the data root, and the plan that asks all of it.

    `build` makes it in a folder; it takes `seed` and `progress`, and leaves what is complete. `sampling` overrides the
    decoding of its job, so that a small model answers within its context.
    """

    name: str
    plan: str
    build: Callable[..., Path]
    sampling: Mapping[str, float | int] = field(default_factory=dict)


def benchmarks_drawn() -> tuple[str, ...]:
    """The benchmarks that have a drawn data set, the default first."""
    found = {module.name for module in pkgutil.iter_modules(demo.__path__) if module.ispkg}
    return (DEFAULT, *sorted(found - {DEFAULT}))


def drawn_of(benchmark: str) -> tuple[Drawn, ...]:
    """The data set of a benchmark, or of all of them for `all`; raises DemoUnknownError naming those that there are."""
    known = benchmarks_drawn()
    if benchmark not in (*known, ALL):
        raise DemoUnknownError(f"no data set is drawn for '{benchmark}'; there are {', '.join(known)} and {ALL}")
    return tuple(importlib.import_module(f"demo.{name}.dataset").DRAWN for name in known if benchmark in (name, ALL))
