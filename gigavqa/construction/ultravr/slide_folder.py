"""A folder of what is known of whole slides: tables of experts and of reports, WSI-VQA, areas, and experts' steps.

Findings come from the source that is trusted most: `experts.csv`, then `reports.csv`, then `wsivqa.json`. What one
source says twice and differently is used of none.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from gigavqa.benchmarks.ultravr.schemas import WSI_FORMATS
from gigavqa.benchmarks.ultravr.taxonomy import CATEGORIES
from gigavqa.construction.annotations import AnnotatedImage, Omission, Omissions, attribute_text
from gigavqa.construction.errors import AnnotationFileError
from gigavqa.construction.readers.qupath import QuPathReader
from gigavqa.construction.readers.reader import ImageIndex, ImageOnDisk, ReaderOptions
from gigavqa.construction.readers.wsivqa import WsiVqaReader
from gigavqa.construction.ultravr.slide_findings import LEANING, slide_table
from gigavqa.construction.ultravr.slide_workflows import read_step, step_label

_EXPERTS, _REPORTS, _STEPS = "experts.csv", "reports.csv", "steps.csv"
_ASKED, _AREAS = "wsivqa.json", "regions"
_SLIDE, _CATEGORY = "slide", "category"
_TRUSTED = (_EXPERTS, _REPORTS, _ASKED)


class _Row(NamedTuple):
    """One row of a table: where it stands, the slide that it is about, and its filled fields."""

    place: str
    slide: ImageOnDisk
    fields: Mapping[str, str]


class SlideFolderReader:
    """Reads a folder with any of `experts.csv`, `reports.csv`, `wsivqa.json`, `steps.csv` and `regions/*.geojson`."""

    name = "slides"
    title = "Tables and areas of slides"

    def recognises(self, source: Path) -> bool:
        """Return whether a folder holds a table of slides, or WSI-VQA by its name."""
        if not source.is_dir():
            return False
        tables = [source / name for name in (_EXPERTS, _REPORTS, _STEPS)]
        asked = source / _ASKED
        return any(path.is_file() and _SLIDE in _header(path) for path in tables) or (
            asked.is_file() and WsiVqaReader().recognises(asked)
        )

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield slides by name, with the labels of all sources and the areas."""
        reading = _Reading(source, images, omissions)
        for name in (_EXPERTS, _REPORTS):
            reading.read_findings(name)
        reading.read_answers(options)
        reading.read_steps()
        areas = source / _AREAS
        marked = QuPathReader().read(areas, images, omissions, ReaderOptions()) if areas.is_dir() else iter(())
        return reading.slides(marked)


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return [name.strip() for name in next(csv.reader(file), [])]


class _Reading:
    """The labels of slides, gathered from one source after another."""

    def __init__(self, source: Path, images: ImageIndex, omissions: Omissions) -> None:
        self._source, self._images, self._omissions = source, images, omissions
        self._slides: dict[str, ImageOnDisk] = {}
        self._said: dict[str, defaultdict[tuple[str, str], set[str]]] = {
            name: defaultdict(set) for name in (*_TRUSTED, _STEPS)
        }

    def read_findings(self, name: str) -> None:
        """Take what a table says of findings; only experts may lean."""
        values = slide_table()["values"]
        for row in self._rows(name, {_SLIDE, *values}):
            for finding, text in row.fields.items():
                if finding == _SLIDE:
                    continue
                told = text.casefold()
                plain = told.removeprefix(LEANING) if name == _EXPERTS else told
                if plain not in values[finding]:
                    scale = ", ".join(values[finding])
                    self._omissions.add("off-scale", f"{row.place}: {finding}: '{text}' is none of {scale}")
                    continue
                self._said[name][row.slide.name, finding].add(told)

    def read_answers(self, options: ReaderOptions) -> None:
        """Take what WSI-VQA says."""
        path = self._source / _ASKED
        if path.is_file():
            for image in WsiVqaReader().read(path, self._images, self._omissions, options):
                self._slides[image.image] = ImageOnDisk(image.image, image.width, image.height)
                for finding, value in image.labels.items():
                    self._said[_ASKED][image.image, finding].add(attribute_text(value))

    def read_steps(self) -> None:
        """Take what experts answered to the steps of a category."""
        for row in self._rows(_STEPS, {_SLIDE, _CATEGORY, *WSI_FORMATS}):
            category = row.fields.get(_CATEGORY, "")
            if category not in CATEGORIES["wsi"]:
                told = f"category: '{category}' is none of {', '.join(CATEGORIES['wsi'])}"
                self._omissions.add("off-scale", f"{row.place}: {told}")
                continue
            for step, text in row.fields.items():
                if step not in WSI_FORMATS:
                    continue
                try:
                    read_step(step, text)
                except ValueError as error:
                    self._omissions.add("off-scale", f"{row.place}: {error}")
                else:
                    self._said[_STEPS][row.slide.name, step_label(category, step)].add(text)

    def _rows(self, name: str, known: set[str]) -> Iterator[_Row]:
        path = self._source / name
        if not path.is_file():
            return
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                table = csv.DictReader(file, strict=True)
                yield from self._checked_rows(name, table, known)
        except (csv.Error, UnicodeDecodeError) as error:
            raise AnnotationFileError(f"{name}: {error}; give a table in UTF-8, separated by commas") from error

    def _checked_rows(self, name: str, table: "csv.DictReader[str]", known: set[str]) -> Iterator[_Row]:
        columns = [column.strip() for column in table.fieldnames or ()]
        if _SLIDE not in columns or len(set(columns)) != len(columns):
            raise AnnotationFileError(f"{name}: its first line must name each column once, one of them `{_SLIDE}`")
        table.fieldnames = columns
        for column in columns:
            if column not in known:
                self._omissions.add("unknown-column", f"{name}: {column}: is none of {', '.join(sorted(known))}")
        for number, raw in enumerate(table, start=2):
            place = f"{name}: line {number}"
            if None in raw or None in raw.values():
                self._omissions.add("malformed", f"{place}: has not as many fields as the first line; mend it")
                continue
            fields = {key: text.strip() for key, text in raw.items() if key in known and text.strip()}
            found = self._images.find(fields.get(_SLIDE, ""), by_beginning=True)
            if isinstance(found, Omission):
                self._omissions.add(found.reason, f"{place}: slide: {found.sentence}")
                continue
            self._slides[found.name] = found
            yield _Row(place, found, fields)

    def slides(self, marked: Iterator[AnnotatedImage]) -> Iterator[AnnotatedImage]:
        """Yield every slide by name, with its areas where there are some."""
        labels = self._labels()
        waiting = sorted(self._slides)
        at = 0
        for image in chain(marked, (None,)):
            while at < len(waiting) and (image is None or waiting[at] <= image.image):
                slide = self._slides[waiting[at]]
                at += 1
                if image is None or slide.name != image.image:
                    yield AnnotatedImage(slide.name, slide.width, slide.height, labels=labels.get(slide.name, {}))
            if image is not None:
                yield AnnotatedImage(
                    image.image, image.width, image.height, image.annotations,
                    labels.get(image.image, {}), image.incomplete,
                )  # fmt: skip

    def _labels(self) -> dict[str, dict[str, str]]:
        """Return each slide's labels: of the most trusted source that says something, if that says one thing."""
        labels: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for slide, label in sorted({key for said in self._said.values() for key in said}):
            saying = {name: said[slide, label] for name, said in self._said.items() if (slide, label) in said}
            if torn := next((name for name, values in saying.items() if len(values) > 1), ""):
                told = " and ".join(f"'{value}'" for value in sorted(saying[torn]))
                self._omissions.add("conflict", f"{torn}: {slide}: {label}: says {told}; it is not used: mend one")
                continue
            (value,) = next(iter(saying.values()))
            labels[slide][label] = value
            for name, (other,) in saying.items():
                if other != value:
                    first = next(iter(saying))
                    told = f"{label}: says '{other}', and {first} '{value}', which is trusted more"
                    self._omissions.add("overruled", f"{name}: {slide}: {told}")
        return dict(labels)
