"""Loads data sets: a folder with `dataset.toml`, `samples/` and `images/`; or just files of records, for scoring."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import DatasetFiles, JobOptions, ModelJudging
from gigavqa.evaluation.dataset_settings import (
    configure_benchmark,
    find_benchmark_of,
    read_dataset_settings,
    sidecar_files,
    sidecar_names,
)
from gigavqa.evaluation.errors import DatasetInvalidError, Problem
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.judgements import Panel
from gigavqa.evaluation.packed_samples import ChosenSamples, PackedSamples, SamplePlaces
from gigavqa.evaluation.reader_choice import best_reader
from gigavqa.evaluation.sample_columns import SampleColumns
from gigavqa.evaluation.sample_files import images_by_stem, list_pages, load_samples, record_files
from gigavqa.evaluation.samples import Sample
from gigavqa.tiling.displays.display_rules import ImageDisplays, image_displays
from gigavqa.tiling.remote.addresses import is_remote_name

_PIECE_BYTES = 1 << 20
_INDEX_BYTES = 400
"""Of a sample's place and image in indices."""


@dataclass(frozen=True)
class Dataset:
    """A named set of samples.

    `samples` are those that are asked; `examples` were set apart, and prompts may tell them. `digest` identifies by
    content what is asked (records, not images), `labels` what people said of replies since; '' where nobody did.
    `displays` say which of its images are shown otherwise than as they are, unless a record does.
    """

    name: str
    benchmark: Benchmark[Any, Any]
    title: str
    description: str
    samples: Sequence[Sample]
    digest: str
    labels: str = ""
    panel: Panel = field(default_factory=Panel)
    displays: ImageDisplays = field(default_factory=ImageDisplays)
    examples: Sequence[Sample] = ()

    def prepare(self, options: Any, seed: int) -> Any:
        """Make what asking the samples of a job shares, with the options that it chose of the benchmark."""
        return JobOptions.of(self.benchmark).prepare(self.samples, options, seed, self.examples)

    def judged_with(self, panel: Panel) -> "Dataset":
        """Return the data set whose replies are judged by what models said of them, where there is any judge."""
        if not panel.judges:
            return self
        panel = panel.called()
        judging = ModelJudging.found_in(self.benchmark)
        return replace(self, benchmark=judging.judged_with(panel) if judging else self.benchmark, panel=panel)

    def image_of(self, image: str) -> str:
        """Name of one of its images as views have it: relative to the data root, or the address of one elsewhere."""
        return image if is_remote_name(image) else f"{self.name}/{image}"

    def show_of(self, image: str, asked: str = "", sample: Sample | None = None) -> str:
        """Return how an image is shown, by its name as views have it; nothing where it is shown as it is.

        As is `asked` for; else as the `sample` declares, or the first one where none is given; else as the data set.
        """
        name = image.removeprefix(f"{self.name}/")
        own = sample.show_of(name) if sample else self.record_displays.get(name, ("",))[0]
        return asked or own or self.displays.show_of(name)

    def further_displays(self) -> Mapping[str, Sequence[str]]:
        """Return the images that records show in several ways, by each display beyond the one that `show_of` tells."""
        found: dict[str, list[str]] = {}
        for image, shows in self.record_displays.items():
            for show in shows[1:]:
                found.setdefault(show or self.displays.show_of(image), []).append(self.image_of(image))
        return found

    def by_image(self, samples: Sequence[Sample]) -> Mapping[str, Sequence[Sample]]:
        """Group samples by the name of their first image relative to the data root."""
        found: dict[str, array[int]] = {}
        for position, sample in enumerate(samples):
            found.setdefault(self.image_of(sample.images[0]), array("q")).append(position)
        return {image: ChosenSamples(samples, positions) for image, positions in found.items()}

    @property
    def num_bytes(self) -> int:
        """The memory that it takes, with the indices of its samples, as far as that is known."""
        own = self.samples.num_bytes if isinstance(self.samples, PackedSamples) else 0
        return own + _INDEX_BYTES * len(self.samples)

    @cached_property
    def image_counts(self) -> Sequence[tuple[str, int]]:
        """The images that samples are about, by name, and how many samples show each."""
        return sorted(Counter(image for sample in self.samples for image in set(sample.images)).items())

    @cached_property
    def columns(self) -> SampleColumns:
        """What tables sort its samples by."""
        return SampleColumns.of(self.samples)

    @cached_property
    def record_displays(self) -> Mapping[str, Sequence[str]]:
        """The displays of images of which some record declares one, by name: the records' own, in the order of samples,
        and last '' where another record leaves it to the data set.
        """
        samples = self.samples
        if isinstance(samples, PackedSamples) and not samples.says("show"):
            return {}
        found: dict[str, dict[str, None]] = {}
        for sample in samples:
            for image in sample.images:
                found.setdefault(image, {})[sample.show_of(image)] = None
        return {image: sorted(shows, key=lambda show: not show) for image, shows in found.items() if any(shows)}

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each sample stands, by its id."""
        return {sample.id: position for position, sample in enumerate(self.samples)}


@dataclass(frozen=True)
class DatasetReading:
    """What was read of a data set's folder: the data set where it can be used, else what of it is good.

    `samples` are all that were read, examples and those of which the benchmark has an error to tell included.
    """

    benchmark: Benchmark[Any, Any] | None
    samples: Sequence[Sample]
    places: SamplePlaces
    problems: Sequence[Problem]
    dataset: Dataset | None = None


def load_dataset(folder: Path) -> Dataset:
    """Load and check a data set's folder. Raises DatasetInvalidError listing every problem by file and line.

    Names of images are checked for where they point, not for whether the files exist.
    """
    found = read_dataset(folder)
    if found.dataset is None:
        raise DatasetInvalidError(found.problems)
    return found.dataset


def load_head(folder: Path) -> Dataset:
    """Load what is said of a data set, without its samples. Raises DatasetInvalidError."""
    problems: list[Problem] = []
    settings = read_dataset_settings(folder, problems)
    benchmark = configure_benchmark(find_benchmark_of(settings, problems), folder, problems)
    if benchmark is None or problems:
        raise DatasetInvalidError(problems)
    return _make_dataset(settings, benchmark, ())


def _make_dataset(
    settings: Mapping[str, Any],
    benchmark: Benchmark[Any, Any],
    samples: Sequence[Sample],
    digests: tuple[str, str] = ("", ""),
) -> Dataset:
    name, description = settings["name"], settings.get("description", "")
    displays = image_displays(settings.get("show", {}))
    asked, examples = set_examples_apart(samples)
    title = settings.get("title", name)
    return Dataset(name, benchmark, title, description, asked, *digests, displays=displays, examples=examples)


def set_examples_apart(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Return the samples that are asked, and those that are examples."""
    if isinstance(samples, PackedSamples) and not samples.says("split"):
        return samples, ()
    kinds = ([one for one in samples if (one.split is None) is asked] for asked in (True, False))
    asked, examples = map(PackedSamples[Any], kinds)
    return asked, examples


def read_dataset(folder: Path) -> DatasetReading:
    """Read a data set's folder, and tell every problem by file and line."""
    problems: list[Problem] = []
    places = SamplePlaces()
    settings = read_dataset_settings(folder, problems)
    benchmark = configure_benchmark(find_benchmark_of(settings, problems), folder, problems)
    if benchmark is None:
        return DatasetReading(None, (), places, problems)
    files = record_files(folder / "samples")
    samples = load_samples(
        benchmark, files, folder, problems,
        images=images_by_stem(folder), images_required=True, pages=partial(list_pages, folder), places=places,
        leave_out_bad=False,
    )  # fmt: skip
    problems.extend(_check_not_empty("samples", files, samples, problems))
    if problems:
        return DatasetReading(benchmark, samples, places, problems)
    digests = _digests(benchmark, folder, [folder / "dataset.toml"], files)
    dataset = _make_dataset(settings, benchmark, samples, digests)
    return DatasetReading(benchmark, samples, places, problems, dataset)


def load_for_scoring(path: Path, benchmark: str | None = None) -> Dataset:
    """Load records for scoring alone: a data set's folder, a folder of records, or one file; images are not needed.

    Without a name, the benchmark is that of `dataset.toml`, else the one that reads most of the records. Raises
    DatasetInvalidError as `load_dataset` does, and BenchmarkUnknownError.
    """
    if path.is_dir():
        base, files = path, record_files(path / "samples" if (path / "samples").is_dir() else path)
    else:
        base, files = path.parent, [path]
    settings = base / "dataset.toml" if path.is_dir() and (base / "dataset.toml").is_file() else None
    problems: list[Problem] = []
    if benchmark:
        chosen: Benchmark[Any, Any] | None = find_benchmark(benchmark)
    else:
        chosen = (
            find_benchmark_of(read_dataset_settings(base, problems), problems) if settings else best_reader(files, base)
        )
    chosen = configure_benchmark(chosen, base, problems) if settings else chosen
    if chosen is None:
        raise DatasetInvalidError(problems)
    problems.clear()
    samples = load_samples(
        chosen, [file for file in files if file.name not in sidecar_names(chosen)], base, problems,
        images=images_by_stem(path), pages=lambda name: list_pages(base, name) or None,
    )  # fmt: skip
    problems.extend(_check_not_empty(str(path), files, samples, problems))
    if problems:
        raise DatasetInvalidError(problems)
    digest, labels = _digests(chosen, base, [settings] if settings else [], files)
    asked, examples = set_examples_apart(samples)
    return Dataset(path.stem, chosen, path.stem, "", asked, digest, labels, examples=examples)


def _check_not_empty(
    place: str, files: Sequence[Path], samples: Sequence[Sample], problems: Sequence[Problem]
) -> Iterator[Problem]:
    if not files:
        yield Problem(place, None, None, "holds no file of records (.jsonl, .json, .csv, .tsv, .parquet)")
    elif samples and all(sample.split for sample in samples):
        told = 'holds examples alone: every record has `"split": "examples"`, and none is left to be asked'
        yield Problem(place, None, None, told)
    elif not samples and not problems:
        yield Problem(place, None, None, "holds no record: each is one JSON object, in a list or one a line")


def _digests(
    benchmark: Benchmark[Any, Any], folder: Path, settings: Sequence[Path], files: Sequence[Path]
) -> tuple[str, str]:
    """Name what is asked, and what people said of replies; without settings nothing beside the records counts."""
    beside, own = sidecar_files(benchmark, folder) if settings else [], DatasetFiles.found_in(benchmark)
    labels = [path for path in beside if own and path.name in own.labels]
    asked = [*settings, *(path for path in beside if path not in labels), *files]
    return _digest(asked, folder, own.content if own else ""), _digest(labels, folder) if labels else ""


def _digest(files: Iterable[Path], base: Path, content_beside: str = "") -> str:
    digest = hashlib.sha256(content_beside.encode())
    for path in files:
        digest.update(f"{path.relative_to(base).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as content:
            while piece := content.read(_PIECE_BYTES):
                digest.update(piece)
    return digest.hexdigest()
