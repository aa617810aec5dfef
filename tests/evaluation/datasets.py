"""Makes data sets of samples that lie in no file."""

from collections.abc import Iterable

from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.samples import Sample


def dataset_of(samples: Iterable[Sample], name: str = "tiny", benchmark: str = "ultravr") -> Dataset:
    """A data set of samples of one benchmark."""
    return Dataset(name, find_benchmark(benchmark), "Tiny", "", tuple(samples), "0" * 64)
