"""Looks at a data set's folder as closely as its files allow, before any model is asked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.datasets import Dataset, load_dataset, placed_samples
from evaluation.errors import DatasetInvalidError, EvidenceMissingError, Problem
from evaluation.ultravr.checks import check_sample
from evaluation.ultravr.conditions import Scene, show
from evaluation.ultravr.samples import Sample
from tiling.errors import TilingError
from tiling.geometry import Size

SizeOf = Callable[[str], Size]
"""Reads an image's size from its header, by its name in the data set's folder; raises TilingError."""


@dataclass
class Inspection:
    """What was found: the data set where it can be loaded at all, and every problem by file and record."""

    dataset: Dataset | None = None
    problems: list[Problem] = field(default_factory=list)


def inspect_dataset(folder: Path, size_of: SizeOf, *, checklists: bool = True) -> Inspection:
    """Check every record, every image's header, evidence inside the image, and the paper's checklists (appendix F).

    Without `checklists`, only what keeps a sample from being asked and scored is a problem.
    """
    found = Inspection()
    try:
        found.dataset = load_dataset(folder)
    except DatasetInvalidError as error:
        found.problems.extend(error.problems)
    sizes = _Sizes(size_of)
    for file, line, sample in placed_samples(folder):
        messages = [*_of_images(sample, sizes), *(check_sample(sample) if checklists else ())]
        found.problems.extend(Problem(file, line, sample.id, message) for message in messages)
    return found


class _Sizes:
    """Sizes that are read once an image, and what is wrong with the others."""

    def __init__(self, size_of: SizeOf) -> None:
        self._size_of = size_of
        self._known: dict[str, Size | str] = {}

    def of(self, image: str) -> Size | str:
        """Return an image's size, or what is wrong with it."""
        if image not in self._known:
            try:
                self._known[image] = self._size_of(image)
            except TilingError as error:
                self._known[image] = str(error)
        return self._known[image]


def _of_images(sample: Sample, sizes: _Sizes) -> Iterator[str]:
    found = {image: sizes.of(image) for image in sample.images}
    wrong = {image: message for image, message in found.items() if isinstance(message, str)}
    yield from (f"{image}: {message}" for image, message in wrong.items())
    if sample.images and not wrong:
        yield from _of_evidence(sample, {image: size for image, size in found.items() if isinstance(size, Size)})


def _of_evidence(sample: Sample, sizes: dict[str, Size]) -> Iterator[str]:
    try:
        show(Scene(sample, sample.images, sizes.__getitem__, seed="inspection"), "V3")
    except EvidenceMissingError as error:
        yield str(error).removeprefix(f"sample '{sample.id}': ")
