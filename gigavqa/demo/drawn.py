"""The data sets that can be drawn: a folder of this package with a `dataset` each, and what plugins bring.

Each is named like its benchmark. A package brings one by the entry point group `gigavqa.drawn_datasets`, which names
a `DrawnDataset`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from gigavqa import demo
from gigavqa.demo.errors import DemoUnknownError
from gigavqa.runtime.extras import plugin_advice
from gigavqa.runtime.plugins import load_plugin, load_plugins, plugin_points

DEFAULT = "ultravr"
"""The benchmark whose data set is drawn when none is named."""
ALL = "all"
ENTRY_POINTS = "gigavqa.drawn_datasets"
UNTRAINED = "demo-qwen3-vl"
"""The model of a demo where none of the data sets has one of its own."""


@dataclass(frozen=True)
class DrawnDataset:
    """One data set that is drawn: its folder in the data root, and the plan that asks all of it.

    `build` makes it in a folder; it takes `seed` and `progress`, and leaves what is complete. `sampling` overrides the
    decoding of its job, so that a small model answers within its context; `options` are its choices of conditions.
    `model` is the small model of the catalogue that was trained for it, if there is one.
    """

    name: str
    plan: str
    build: Callable[..., Path]
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    options: Mapping[str, int] = field(default_factory=dict)
    model: str = ""


def benchmarks_drawn() -> tuple[str, ...]:
    """Return the benchmarks that have a drawn data set, the default first."""
    return (DEFAULT, *sorted((_own() | plugin_points(ENTRY_POINTS).keys()) - {DEFAULT}))


def drawn_of(benchmark: str) -> tuple[DrawnDataset, ...]:
    """Return the data set of a benchmark, or of all of them for `all`.

    Raises DemoUnknownError naming those that there are, and PluginInvalidError.
    """
    known = benchmarks_drawn()
    if benchmark not in (*known, ALL):
        raise DemoUnknownError(
            f"no data set is drawn for '{benchmark}'; there are {', '.join(known)} and {ALL}; {plugin_advice()}"
        )
    return tuple(_load(name) for name in known if benchmark in (name, ALL))


def drawn_to_show(benchmark: str | None) -> tuple[str, tuple[DrawnDataset, ...]]:
    """Return the model of a demo, and what it is asked: what is named; without a name its own data set and the default.

    A model that a plugin has trained for its data set is asked that one first.
    """
    own = [one for one in load_plugins(ENTRY_POINTS).values() if one.model][:1]
    model = own[0].model if own else UNTRAINED
    if benchmark not in (None, ALL):
        return model, drawn_of(benchmark)
    shown = (*own, *drawn_of(benchmark or DEFAULT))
    return model, tuple({one.name: one for one in shown}.values())


def _load(name: str) -> DrawnDataset:
    if name not in _own():
        return cast(DrawnDataset, load_plugin(ENTRY_POINTS, name))
    drawn: DrawnDataset = importlib.import_module(f"{demo.__name__}.{name}.dataset").DRAWN
    return drawn


def _own() -> set[str]:
    """Return the benchmarks whose data set this package draws."""
    folders = (module.name for module in pkgutil.iter_modules(demo.__path__) if module.ispkg)
    return {name for name in folders if find_spec(f"{demo.__name__}.{name}.dataset")}
