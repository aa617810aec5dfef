"""The data sets that can be drawn: a folder of this package with a `dataset` each, named like its benchmark."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from gigavqa import demo
from gigavqa.demo.errors import DemoUnknownError

DEFAULT = "ultravr"
"""The benchmark whose data set is drawn when none is named."""
FIRST = "acuity"
"""The one that a demo begins with: what its small model was trained for."""
ALL = "all"


@dataclass(frozen=True)
class DrawnDataset:
    """One data set that is drawn: its folder in the data root, and the plan that asks all of it.

    `build` makes it in a folder; it takes `seed` and `progress`, and leaves what is complete. `sampling` overrides the
    decoding of its job, so that a small model answers within its context; `options` are its choices of conditions.
    """

    name: str
    plan: str
    build: Callable[..., Path]
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    options: Mapping[str, int] = field(default_factory=dict)


def benchmarks_drawn() -> tuple[str, ...]:
    """Return the benchmarks that have a drawn data set, the default first."""
    folders = (module.name for module in pkgutil.iter_modules(demo.__path__) if module.ispkg)
    found = {name for name in folders if find_spec(f"{demo.__name__}.{name}.dataset")}
    return (DEFAULT, *sorted(found - {DEFAULT}))


def drawn_of(benchmark: str) -> tuple[DrawnDataset, ...]:
    """Return the data set of a benchmark, or of all of them for `all`.

    Raises DemoUnknownError naming those that there are.
    """
    known = benchmarks_drawn()
    if benchmark not in (*known, ALL):
        raise DemoUnknownError(f"no data set is drawn for '{benchmark}'; there are {', '.join(known)} and {ALL}")
    return tuple(_load(name) for name in known if benchmark in (name, ALL))


def drawn_to_show(benchmark: str | None) -> tuple[DrawnDataset, ...]:
    """Return what a demo asks: what is named, of all the first one first; without a name that one and the default."""
    if benchmark not in (None, ALL):
        return drawn_of(benchmark)
    others = (DEFAULT,) if benchmark is None else benchmarks_drawn()
    return tuple(map(_load, dict.fromkeys((FIRST, *others))))


def _load(name: str) -> DrawnDataset:
    drawn: DrawnDataset = importlib.import_module(f"{demo.__name__}.{name}.dataset").DRAWN
    return drawn
