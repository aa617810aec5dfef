"""Looks at a data set's folder as closely as its files allow, before any model is asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gigavqa.evaluation.capabilities import AnswerForms, CellRules
from gigavqa.evaluation.chats import Scene, SizeOf
from gigavqa.evaluation.datasets import Dataset, read_dataset
from gigavqa.evaluation.errors import FileProblem, Problem
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.truth_checks import (
    count_answer_kinds,
    find_letters_without_options,
    find_unread_truths,
    unreachable_truths,
)
from gigavqa.runtime.work_progress import counted
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.geometry import Size


@dataclass
class Inspection:
    """The result of a check: the data set where it can be loaded at all, and problems by file and record.

    `kinds` counts samples by the kind of answer that they ask for.
    `errors` keep a sample from being asked; `warnings` let it be asked, and keep it from a condition or a table.
    """

    dataset: Dataset | None = None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    kinds: Mapping[str, int] = field(default_factory=dict)


ImageRemarks = Callable[[str, str], Sequence[str]]
"""What a person should know of an image's file, shown as a record itself declares, in sentences that go on from its
name."""


ShownSizeOf = Callable[[str, str], Size]
"""Returns an image's size, as a record itself declares that it is shown, '' where it does not."""


def inspect_dataset(
    folder: Path,
    size_of: ShownSizeOf,
    *,
    checklists: bool = True,
    remarks_on: ImageRemarks = lambda image, show: (),
    look_ahead: Callable[[Iterable[str]], None] = lambda images: None,
) -> Inspection:
    """Check every record, every image, evidence inside the image, and the benchmark's own checklists.

    Without `checklists`, only what keeps a sample from being asked, or from being shown, is told. `look_ahead` hears of
    all images before the first is looked at.
    """
    reading = read_dataset(folder)
    look_ahead(image for sample in reading.samples for image in sample.images)
    found, places = Inspection(reading.dataset, [*reading.problems]), reading.places
    if reading.benchmark:
        sizes, rules, forms = _SizeReader(size_of), CellRules.of(reading.benchmark), AnswerForms.of(reading.benchmark)
        for sample in counted(reading.samples, "questions checked"):
            file, line = places[sample.id]
            own_sizes = sizes.for_sample(sample)
            wrong = [*_check_images(sample, own_sizes), *unreachable_truths(sample, forms.answer_form(sample))]
            found.errors.extend(Problem(file, line, sample.id, message) for message in wrong)
            scene = Scene(sample.images, own_sizes, seed="inspection")
            warnings = [] if wrong else [*rules.warnings(sample, scene)]
            remarks = ((one, remarks_on(one, sample.show_of(one))) for one in (() if wrong else sample.images))
            warnings += [f"{one}: {remark}" for one, told in remarks for remark in told]
            found.warnings.extend(Problem(file, line, sample.id, message) for message in warnings)
    if found.dataset:
        form_of = AnswerForms.of(found.dataset.benchmark).answer_form
        found.kinds = count_answer_kinds(found.dataset.samples, form_of)
        if letters := find_letters_without_options(reading.samples, form_of):
            found.errors.append(FileProblem(*places[letters[0].id], None, letters[1]))
        if truths := find_unread_truths(reading.samples, form_of):
            found.warnings.append(FileProblem(*places[truths[0].id], None, truths[1]))
    if checklists and found.dataset:
        findings = found.dataset.benchmark.check(reading.samples, places.describe)
        found.warnings.extend(Problem(*places[one.sample], one.sample, one.text) for one in findings)
    return found


class _SizeReader:
    """Sizes that are read once an image and display, and what is wrong with the others."""

    def __init__(self, size_of: ShownSizeOf) -> None:
        self._size_of = size_of
        self._known: dict[tuple[str, str], Size | TilingError] = {}

    def for_sample(self, sample: Sample) -> SizeOf:
        """Return what gives sizes of images as a sample shows them; it raises the same TilingError every time."""
        return lambda image: self._of(image, sample.show_of(image))

    def _of(self, image: str, show: str) -> Size:
        if (image, show) not in self._known:
            try:
                self._known[image, show] = self._size_of(image, show)
            except TilingError as error:
                self._known[image, show] = error
        known = self._known[image, show]
        if isinstance(known, TilingError):
            raise known
        return known


def _check_images(sample: Sample, size_of: SizeOf) -> Iterator[str]:
    for image in sample.images:
        try:
            size_of(image)
        except TilingError as error:
            yield str(error) if image in str(error) else f"{image}: {error}"
