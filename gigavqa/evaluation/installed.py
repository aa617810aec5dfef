"""Find the benchmarks that are installed, and refuse those that are not whole."""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import CAPABILITIES, Capability, PaperSettings
from gigavqa.evaluation.errors import BenchmarkUnknownError
from gigavqa.runtime.extras import plugin_advice
from gigavqa.runtime.plugins import plugin_points
from gigavqa.runtime.suggestions import did_you_mean

ENTRY_POINTS = "gigavqa.benchmarks"
log = logging.getLogger(__name__)


def find_benchmark(name: str) -> Benchmark[Any, Any]:
    """Return an installed benchmark; raises BenchmarkUnknownError naming those that there are."""
    known, broken = _load_plugins()
    if name in broken:
        raise BenchmarkUnknownError(f"benchmark '{name}' cannot be loaded: {broken[name]}")
    if name not in known:
        close = did_you_mean(name, known)
        raise BenchmarkUnknownError(
            f"benchmark '{name}' is not known{close or ';'} known: {', '.join(known)}; {plugin_advice()}"
        )
    return known[name]


def installed_benchmarks() -> Mapping[str, Benchmark[Any, Any]]:
    """Return all benchmarks that are installed and can be loaded, by name, in order of their names."""
    return _load_plugins()[0]


@cache
def models_of_papers() -> Mapping[str, Sequence[str]]:
    """Return the ids of the models that papers ask, by the benchmark of each, as far as benchmarks say it."""
    found = ((name, PaperSettings.of(benchmark).paper_models) for name, benchmark in installed_benchmarks().items())
    return {name: models for name, models in found if models}


@cache
def _load_plugins() -> tuple[Mapping[str, Benchmark[Any, Any]], Mapping[str, str]]:
    """Return what the entry points name, each a Benchmark class.

    Those that can be loaded, and why the others cannot.
    """
    known: dict[str, Benchmark[Any, Any]] = {}
    broken: dict[str, str] = {}
    for point in plugin_points(ENTRY_POINTS).values():
        try:
            benchmark = point.load()()
            _require_whole(benchmark)
            if benchmark.name in known:
                raise ValueError(f"its name '{benchmark.name}' is that of another")
            known[benchmark.name] = benchmark
        except Exception as error:  # noqa: BLE001 - whatever a package raises, other benchmarks can be asked without it
            broken[point.name] = f"{point.value}: {type(error).__name__}: {error}"
            log.warning("benchmark '%s' cannot be loaded: %s", point.name, broken[point.name])
    return dict(sorted(known.items())), broken


def _require_whole(benchmark: Benchmark[Any, Any]) -> None:
    """Refuse what would be silently left out: raises TypeError in one sentence.

    Of a benchmark that lacks what it must say, has what its class line does not offer, or a member of earlier releases.
    """
    guest = type(benchmark)
    offered = [Benchmark, *(one for one in CAPABILITIES if one.found_in(benchmark))]
    if lacking := [name for one in offered for name in one.__annotations__ if not hasattr(benchmark, name)]:
        raise TypeError(f"{guest.__name__} says no {', '.join(lacking)}")
    own = {name for one in guest.__mro__ if one not in _HOSTS for name in vars(one)} | set(vars(benchmark))
    if gone := sorted(own & _RENAMED.keys()):
        told = "; ".join(f"`{name}` is now {_RENAMED[name]}" for name in gone)
        raise TypeError(f"{guest.__name__} is written for an earlier release: {told}")
    unnamed = {one: found for one in CAPABILITIES if one not in offered and (found := sorted(own & _members(one)))}
    if unnamed:
        members = ", ".join(f"`{name}`" for found in unnamed.values() for name in found)
        names = ", ".join(one.__name__ for one in unnamed)
        raise TypeError(
            f"{guest.__name__} has {members}, which its class line does not offer: write "
            f"`class {guest.__name__}(Benchmark[...], {names})`, from {Capability.__module__.rpartition('.')[0]}"
        )


def _members(capability: type[Capability]) -> set[str]:
    return {name for name in {*vars(capability), *capability.__annotations__} if not name.startswith("_")}


_HOSTS = frozenset({Benchmark, *Benchmark.__mro__, *(one for kind in CAPABILITIES for one in kind.__mro__)})
_RENAMED: Mapping[str, str] = {
    "checklist": "part of `check`",
    "compare": "part of `check`",
    "settled": "`configured`",
    "settled_in": "part of `configured`, which is given the folder",
    "unfit": "told by `applies`",
    "admit": "`validate`",
    "doubts": "`warnings`",
    "described": "`read_config`",
    "recorded": "`read_result`",
}
"""Members that benchmarks had before, and what is asked of them since."""
