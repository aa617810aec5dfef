"""What the product itself has for building a benchmark's records: modules of `gigavqa.construction.<benchmark>`."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from gigavqa.evaluation.installed import installed_benchmarks

_ROOM = "gigavqa.construction"


def benchmark_modules(name: str) -> Iterator[ModuleType]:
    """Yield the modules of a name, of the benchmarks that have one, in order of the benchmarks' names."""
    for benchmark in installed_benchmarks():
        folder = f"{_ROOM}.{benchmark}"
        if find_spec(folder) and find_spec(f"{folder}.{name}"):
            yield import_module(f"{folder}.{name}")
