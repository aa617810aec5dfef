"""The desk of reviewers: samples to be answered blind, what is told once they were, and the verdicts on them."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Literal

from cachetools import LRUCache
from pydantic import BaseModel, Field

from gigavqa.evaluation.capabilities import AnswerForms, DatasetFiles, SampleDisplay
from gigavqa.evaluation.dataset_settings import REVIEWS
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import EvaluationError, ReviewRefusedError
from gigavqa.evaluation.evidence_views import plain_settings, sample_evidence, shows_evidence
from gigavqa.evaluation.expansion import ChatSettings
from gigavqa.evaluation.label_files import write_reviewed_answers
from gigavqa.evaluation.review_export import awaited_answers, check_answer, check_mend
from gigavqa.evaluation.review_files import ReviewLog, digests_in, review_files
from gigavqa.evaluation.reviews import ReviewEntry, Reviews, ReviewState, SampleReview, sample_digest
from gigavqa.evaluation.samples import Sample
from gigavqa.service.errors import DataRootUnwritableError, SampleChangedError, SampleNotFoundError
from gigavqa.service.http.freshness import StampedCache
from gigavqa.service.operations.dataset_contents import find_sample
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.image_headers import ImageHeaders, ImageInfo
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.views import View

_KEPT_LOGS = 100
_KEPT_DATASETS = 16
ReviewFilter = Literal["all", ReviewState]
DigestOf = Callable[[str], str | None]


class ReviewImage(BaseModel):
    """A picture of a sample, as a deep zoom is drawn of it."""

    name: str = Field(description="relative to the data set's folder")
    width: int | None = Field(default=None, description="level-0 pixels, in the oriented frame")
    height: int | None = None
    show: str = Field(default="", description="how its samples become colours, where that is declared")
    error: str | None = Field(default=None, description="why it cannot be served")


class BlindSample(BaseModel):
    """A sample as a reviewer answers it: without its truth, its evidence, and what others say."""

    id: str
    digest: str = Field(description="what a verdict names, so that it is on this sample and no later one")
    position: int = Field(description="in the data set, from 1")
    images: tuple[ReviewImage, ...]
    question: str
    options: dict[str, str] | None = None
    kind: str = Field(description="how it is answered, in a word", examples=["choice"])
    possible: tuple[str, ...] = Field(default=(), description="all answers that can be given, where they are few")
    groups: dict[str, str]
    mine: SampleReview | None = Field(default=None, description="the caller's own verdict that counts")


class EvidenceBox(BaseModel):
    """A region that answers a sample: left, top, right and bottom in pixels of one of its pictures."""

    image: int = Field(description="its number among the sample's pictures, from 0")
    box: tuple[int, int, int, int]


class RevealedSample(BlindSample):
    """A sample with its truth, for whoever has answered it."""

    truth: str = Field(description="the true answer; empty where it is not known")
    evidence: tuple[EvidenceBox, ...] = ()
    told: tuple[str, ...] = Field(default=(), description="what else its benchmark tells of it")
    reviews: dict[str, SampleReview] = Field(description="verdicts by reviewer that the caller may see")


class ReviewDesk:
    """Reads and writes the reviews of data sets; blocks. What was read of files is kept, in bounded number."""

    def __init__(self, datasets: Datasets, headers: ImageHeaders) -> None:
        self._datasets = datasets
        self._headers = headers
        self._lock = threading.Lock()
        self._logs = LRUCache[tuple[str, str], ReviewLog](_KEPT_LOGS)
        self._digests = StampedCache[DigestOf](_KEPT_DATASETS)
        self._reviews = StampedCache[Reviews](_KEPT_DATASETS)
        self._settings = StampedCache[ChatSettings](_KEPT_DATASETS)

    def load(self, name: str) -> Dataset:
        """Load a data set. Raises DatasetNotFoundError and DatasetInvalidError."""
        return self._datasets.load(name)

    def reviews(self, dataset: Dataset) -> Reviews:
        """Return all verdicts that count on a data set. Raises DatasetInvalidError for a line that is none."""
        files = review_files(self._datasets.locate(dataset.name))
        lines = {reviewer: self._log(dataset.name, reviewer).lines() for reviewer in files}
        ends = tuple((reviewer, len(told), told[-1].id if told else "") for reviewer, told in lines.items())
        digest_of = self._digests.get(dataset.name, dataset.digest, lambda: digests_in(dataset))
        return self._reviews.get(dataset.name, (dataset.digest, ends), lambda: Reviews.of(lines, digest_of))

    def record(self, dataset: Dataset, reviewer: str, entry: ReviewEntry) -> SampleReview:
        """Write a verdict, and return it once it is on the disk; the same entry again is not written twice.

        Raises SampleNotFoundError, SampleChangedError, ReviewRefusedError and DataRootUnwritableError.
        """
        log = self._log(dataset.name, reviewer)
        with _writing(dataset.name):
            is_known = log.knows(entry.id)
        if not is_known and entry.verdict != "undo":
            self._check(dataset, entry)
        with _writing(dataset.name):
            line = log.append(entry)
            self._write_awaited(dataset)
            return line

    def _write_awaited(self, dataset: Dataset) -> None:
        """Write the answers that reviews give to samples which await them, where the benchmark reads such a file."""
        files = DatasetFiles.found_in(dataset.benchmark)
        if files and files.awaited:
            answers = awaited_answers(dataset, self.reviews(dataset))
            write_reviewed_answers(self._datasets.locate(dataset.name), files.awaited, answers)

    def _check(self, dataset: Dataset, entry: ReviewEntry) -> None:
        sample = find_sample(dataset, entry.sample)
        if sample_digest(dataset.benchmark, sample) != entry.digest:
            raise SampleChangedError(f"the sample '{sample.id}' is another one since it was seen: look at it again")
        if entry.answer is not None:
            check_answer(dataset.benchmark, sample, entry.answer)
        if entry.fields is None:
            return
        if entry.fields.boxes:
            self._check_boxes(dataset, sample, entry.fields.boxes)
        check_mend(dataset.benchmark, sample, entry.fields)

    def _check_boxes(self, dataset: Dataset, sample: Sample, boxes: Sequence[Sequence[float]]) -> None:
        if len(sample.images) != 1:
            raise ReviewRefusedError("fields: boxes of a sample of several pictures are mended in its record")
        image = self._images(dataset, sample)[0]
        if image.width is None or image.height is None:
            raise ReviewRefusedError(f"fields: boxes lie in {image.name}, which cannot be served: {image.error}")
        for box in boxes:
            if box[2] > image.width or box[3] > image.height:
                told = f"{image.width} x {image.height}"
                raise ReviewRefusedError(f"fields: the box {list(box)} reaches beyond {image.name} of {told}")

    def _log(self, name: str, reviewer: str) -> ReviewLog:
        path = self._datasets.locate(name) / REVIEWS / f"{reviewer}.jsonl"
        with self._lock:
            return self._logs.setdefault((name, reviewer), ReviewLog(path))

    def blind(self, dataset: Dataset, sample: Sample, mine: SampleReview | None) -> BlindSample:
        """Return a sample as a reviewer answers it."""
        form = AnswerForms.of(dataset.benchmark).answer_form(sample)
        digest = self._digests.get(dataset.name, dataset.digest, lambda: digests_in(dataset))(sample.id)
        return BlindSample(
            id=sample.id,
            digest=digest or "",
            position=dataset.positions[sample.id] + 1,
            images=self._images(dataset, sample),
            question=sample.question,
            options=sample.options,
            kind=form.kind,
            possible=tuple(sorted(form.possible or (), reverse=True)) if not sample.options else (),
            groups=dict(sample.groups),
            mine=mine,
        )

    def revealed(self, dataset: Dataset, sample: Sample, reviews: dict[str, SampleReview], own: str) -> RevealedSample:
        """Return a sample with its truth and evidence."""
        blind = self.blind(dataset, sample, reviews.get(own))
        settings = self._settings.get(dataset.name, dataset.digest, lambda: plain_settings(dataset))
        display = SampleDisplay.of(dataset.benchmark)
        told = [*display.describe(sample), *display.evidence(sample, settings.shared).lines]
        boxes: Sequence[EvidenceBox] = ()
        try:
            boxes = list(self._evidence(dataset, sample, blind.images, settings))
        except (TilingError, EvaluationError) as error:
            told.append(f"its evidence cannot be drawn: {error}")
        return RevealedSample(
            **blind.model_dump(),
            truth=sample.truth,
            evidence=tuple(boxes),
            told=tuple(dict.fromkeys(told)),
            reviews=reviews,
        )

    def _evidence(
        self, dataset: Dataset, sample: Sample, images: Sequence[ReviewImage], settings: ChatSettings
    ) -> Iterator[EvidenceBox]:
        names = [dataset.image_of(image.name) for image in images]
        found = self._headers.survey(names, lambda name: dataset.show_of(name, sample=sample))
        sizes = {name: one.size for name, one in found.items() if isinstance(one, ImageInfo)}
        if not shows_evidence(dataset) or len(sizes) < len(set(names)):
            return
        views: Sequence[View] = sample_evidence(dataset, sample, sizes.__getitem__, settings)
        for view in views:
            at = resolve_region(view.region, sizes[view.image])
            box = (at.x, at.y, at.x + at.width, at.y + at.height)
            yield EvidenceBox(image=names.index(view.image), box=box)

    def _images(self, dataset: Dataset, sample: Sample) -> tuple[ReviewImage, ...]:
        names = {image: dataset.image_of(image) for image in sample.images}
        shows = {name: dataset.show_of(name, sample=sample) for name in names.values()}
        found = self._headers.survey(names.values(), shows.__getitem__)
        return tuple(_image(image, found[names[image]], shows[names[image]]) for image in sample.images)


@contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataRootUnwritableError(
            f"the gateway cannot write reviews ({error.strerror}): let its user write {name}/{REVIEWS} of the data "
            "root, and make room there"
        ) from error


def _image(name: str, found: ImageInfo | str, show: str) -> ReviewImage:
    if isinstance(found, str):
        return ReviewImage(name=name, show=show, error=found)
    return ReviewImage(name=name, show=show, width=found.size.width, height=found.size.height)


def choose_samples(
    dataset: Dataset, wanted: Callable[[str], bool], *, after: str | None, before: str | None, most: int
) -> list[Sample]:
    """Return the samples that are wanted behind one of the data set, or before one, the nearest first.

    Raises SampleNotFoundError.
    """
    for named in (after, before):
        if named is not None and named not in dataset.positions:
            raise SampleNotFoundError(f"the data set '{dataset.name}' has no sample '{named}'")
    if before is not None:
        places = range(dataset.positions[before] - 1, -1, -1)
    else:
        places = range(0 if after is None else dataset.positions[after] + 1, len(dataset.samples))
    return list(islice((one for one in map(dataset.samples.__getitem__, places) if wanted(one.id)), most))
