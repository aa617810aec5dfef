"""Builds: from a file of annotations and a folder of images to checked questions, stage by stage.

A stage whose inputs, settings and versions are those of the last time is not done again, so that a build that was
interrupted goes on, and one that is asked for again costs a look.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from gigavqa.construction.additions import read_attributes, read_landmarks, with_additions
from gigavqa.construction.annotation_lines import Vocabulary, image_line, read_image_line
from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.build_folder import BuildFolder, canonical_json, digest_file
from gigavqa.construction.build_settings import SETTINGS, BuildSettings
from gigavqa.construction.bundles import Bundle, read_bundles
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.construction.calls.estimates import StageForecast
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.composites import COMPOSITE_FILES, Composites
from gigavqa.construction.draws import stream
from gigavqa.construction.errors import BuildError
from gigavqa.construction.examples import set_apart
from gigavqa.construction.guessing.guessing import rebalance
from gigavqa.construction.images import FolderImages
from gigavqa.construction.inquiries import InquiryScope
from gigavqa.construction.inquiry_stage import INQUIRY_FILES, InquiryStage
from gigavqa.construction.question_records import blind_question
from gigavqa.construction.readers.reader import AnnotationReader
from gigavqa.construction.readers.registry import find_reader
from gigavqa.construction.recipes.recipe import (
    CategoryNames,
    GuessableRecipe,
    QuestionRecipe,
    RecipeContext,
)
from gigavqa.construction.recipes.registry import choose_recipes
from gigavqa.construction.rejections import RejectionCounts
from gigavqa.construction.selection import CAUSES, Quotas, SelectionResult, order_options, select
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.work_progress import counted

_FILES: Mapping[str, Sequence[str]] = {
    "annotations": ("annotations.jsonl", "vocabulary.json", "omissions.json", "inputs.json"),
    "composites": COMPOSITE_FILES,
    "calls": INQUIRY_FILES,
    "candidates": ("candidates.jsonl", "rejections.json"),
    "samples": ("samples.jsonl", "selection.json", "guessing.json"),
}
"""What each stage writes."""
_PER_IMAGE = 12


class Build:
    """One build, as far as its questions; `run` does what is not done yet."""

    def __init__(self, folder: BuildFolder, settings: BuildSettings) -> None:
        self.folder = folder
        self.settings = settings
        self._images = FolderImages(settings.images)

    @cached_property
    def recipes(self) -> Sequence[QuestionRecipe]:
        """The recipes of this build, in the order of the installed ones.

        Raises BuildError for a name that none has, and for a benchmark or form of which none makes records.
        """
        settings = self.settings
        return choose_recipes(settings.benchmark, settings.recipes, settings.parameters, self._reader)

    @cached_property
    def context(self) -> RecipeContext:
        """What the recipes know of the whole build."""
        vocabulary = self.folder.read_json("vocabulary.json")
        categories = tuple(vocabulary["categories"])
        if unknown := [name for name in self.settings.names if name not in categories]:
            told = did_you_mean(unknown[0], categories)
            raise BuildError(f"--call: no annotation is of the category '{unknown[0]}'{told}: {', '.join(categories)}")
        names = {name: self.settings.names.get(name) or CategoryNames.of_label(name) for name in categories}
        called = Counter(both.one.casefold() for both in names.values())
        if twice := next((one for one, number in called.items() if number > 1), ""):
            raise BuildError(f"--call: two categories are called '{twice}'; name them apart")
        attributes = {
            category: {name: tuple(values) for name, values in by_name.items()}
            for category, by_name in vocabulary["attributes"].items()
        }
        return RecipeContext(names, categories, attributes, self._bundles(vocabulary))

    def _bundles(self, vocabulary: Mapping[str, Any]) -> tuple[Bundle, ...]:
        if self.settings.bundles is None:
            return ()
        known = {category: vocabulary["attributes"].get(category, {}) for category in vocabulary["categories"]}
        return read_bundles(self.settings.bundles, known)

    @property
    def quotas(self) -> Quotas:
        """The quotas: those that are given, and where none is, those of the recipes, or 12 questions of an image."""
        per_image, per_recipe = self.settings.per_image, self.settings.per_recipe
        own = {recipe.name: recipe.quota for recipe in self.recipes}
        if per_recipe is not None:
            own = {name: quota._replace(per_build=0) for name, quota in own.items()}
        if per_image is not None:
            own = {name: quota._replace(per_image=0) for name, quota in own.items()}
        elif not any(quota.per_image for quota in own.values()):
            per_image = _PER_IMAGE
        return Quotas(per_image=per_image or 0, per_recipe=per_recipe or 0, own=own)

    @property
    def form(self) -> str:
        """The form of the annotations, as people call it."""
        return self._reader.title

    def why_left_out(self, candidate: Candidate) -> str:
        """Return in a sentence why a candidate is no question."""
        guessable = self.folder.read_json("selection.json")["guessable"]
        if candidate.id in guessable:
            return f"dropped: questions of its kind can be guessed ({guessable[candidate.id]})"
        cause = self._selection.cause_of(candidate.id)
        group = f": {candidate.wider or candidate.balance}" if cause in ("alone", "outnumbered") else ""
        return f"{CAUSES[cause]}{group}"

    def forecast(self, desk: CallDesk | None) -> list[StageForecast]:
        """Return what the calls of a build that asks a model will take; reads annotations, and asks nothing."""
        self._stage("annotations", self._annotation_inputs, self._read_annotations)
        if not (self._inquiries and desk):
            raise BuildError("--dry-run: this build asks no model; say --ask MODEL")
        return self._inquiries.forecast(desk, self._annotated, self._inquiry_scope(desk))

    def run(self, desk: CallDesk | None = None) -> None:
        """Do every stage that is not done for these inputs and settings; `desk` asks, where a model is asked."""
        self._stage("annotations", self._annotation_inputs, self._read_annotations)
        if made := self._composites:
            digest, seed = self.folder.digest_of("annotations"), self.settings.seed
            composites = {"annotations": digest, "composition": made.version, "seed": seed}
            work = partial(made.compose, self._annotated(), self.settings.images, seed)
            self._stage("composites", composites, work, made.are_there)
        names = {category: [both.one, both.many] for category, both in self.context.names.items()}
        asked = self._inquiries
        self.folder.write_json(SETTINGS, self.settings.document())
        if asked:
            self._ask(asked, desk, names)
        candidates = {
            "annotations": self.folder.digest_of("composites" if made else "calls" if asked else "annotations"),
            "recipes": [recipe.version for recipe in self.recipes],
            "names": names,
            "bundles": [bundle.document() for bundle in self.context.bundles],
            "seed": self.settings.seed,
        }
        self._stage("candidates", candidates, self._find_candidates)
        samples = {
            "candidates": self.folder.digest_of("candidates"),
            "quotas": asdict(self.quotas),
            "examples": self.settings.examples,
            "seed": self.settings.seed,
        }
        self._stage("samples", samples, self._make_samples)

    def _ask(self, asked: InquiryStage, desk: CallDesk | None, names: Mapping[str, Sequence[str]]) -> None:
        if desk is None:
            raise BuildError(f"this build asks {self.settings.ask}; `gigavqa build {self.folder.name}` does")
        calls = {
            "annotations": self.folder.digest_of("annotations"),
            "model": self.settings.ask,
            "inquiries": asked.versions,
            "names": names,
        }
        work = partial(asked.ask, desk, self._annotated, self._inquiry_scope(desk))
        self._stage("calls", calls, work, asked.is_complete)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the questions as they are put into the data set."""
        return self.folder.read_lines("samples.jsonl")

    def images(self) -> Iterator[AnnotatedImage]:
        """Yield the annotated images, in the order of their names."""
        if self._composites:
            return self._composites.images()
        asked = self._inquiries
        return asked.images() if asked and asked.is_there() else self._annotated()

    @property
    def image_folder(self) -> Path:
        """Where the images lie that questions are about: the annotated ones, or those that were composed of them."""
        return self._composites.path if self._composites else self.settings.images

    @property
    def omissions(self) -> dict[str, Any]:
        """What was left out of annotations, of what was composed of them, and of what a model said, as JSON."""
        parts = [self.folder.read_json("omissions.json")]
        if self._composites:
            parts.append(self._composites.omissions())
        if (asked := self._inquiries) and asked.is_there():
            parts.append(asked.omissions())
        counts = sum((Counter(part["counts"]) for part in parts), Counter[str]())
        return {"counts": dict(counts), "sentences": [one for part in parts for one in part["sentences"]]}

    @cached_property
    def _composites(self) -> Composites | None:
        first = next(self._annotated(), None)
        return Composites.wanted(self.folder, self.recipes, first) if first else None

    @cached_property
    def _inquiries(self) -> InquiryStage | None:
        if not self.settings.ask:
            return None
        return InquiryStage.wanted(self.folder, self.recipes, self.settings.benchmark)

    def _inquiry_scope(self, desk: CallDesk) -> InquiryScope:
        entry = desk.entry_of(self.settings.ask)
        return InquiryScope(entry, self._images, self.folder.file("calls/pictures"), self.context)

    def _annotated(self) -> Iterator[AnnotatedImage]:
        return map(read_image_line, self.folder.read_lines("annotations.jsonl"))

    def candidates(self) -> Iterator[Candidate]:
        """Yield all candidates, image by image."""
        return map(Candidate.from_line, self.folder.read_lines("candidates.jsonl"))

    def propose(self, image: AnnotatedImage) -> Iterator[Candidate | Rejection]:
        """Yield what every recipe finds in an image, and what it rejects: each time the same."""
        for recipe in self.recipes:
            yield from recipe.candidates(image, self.context, self._stream(recipe.name, image.image))

    def _stage(
        self,
        name: str,
        inputs: Mapping[str, Any],
        work: Callable[[], None],
        is_there: Callable[[], bool] = lambda: True,
    ) -> None:
        key = canonical_json(inputs)
        if not (self.folder.is_current(name, key) and is_there()):
            work()
            self.folder.finish(name, key, _FILES[name])

    @cached_property
    def _annotation_inputs(self) -> dict[str, Any]:
        added = {"landmarks": self.settings.landmarks, "attributes": self.settings.attributes}
        return {
            "files": _digests(self.settings.source),
            "added": {name: _digests(source) for name, source in added.items() if source},
            "reader": self._reader.name,
            "options": asdict(self.settings.options),
            "images": [self._images.version_of(name) for name in self._images.names()],
        }

    @cached_property
    def _reader(self) -> AnnotationReader:
        return find_reader(self.settings.source, self.settings.form)

    def _read_annotations(self) -> None:
        vocabulary, omissions = Vocabulary(), Omissions()
        read = self._reader.read(self.settings.source, self._images, omissions, self.settings.options)
        images = vocabulary.counting(self._with_additions(counted(read, "annotated images read")))
        if not self.folder.write_lines("annotations.jsonl", map(image_line, images)):
            told = "; ".join(omission.sentence for omission in omissions) or "it names no image"
            raise BuildError(f"{self.settings.source} annotates no image of {self.settings.images}: {told}")
        if alike := vocabulary.alike():
            told = f"categories '{alike[0]}' and '{alike[1]}' are written alike"
            raise BuildError(f"{self.settings.source}: {told}; make them one there, or name them apart")
        self.folder.write_json("vocabulary.json", vocabulary.document())
        self.folder.write_json("omissions.json", omissions.document())
        self.folder.write_json("inputs.json", self._annotation_inputs)

    def _with_additions(self, images: Iterable[AnnotatedImage]) -> Iterable[AnnotatedImage]:
        landmarks, attributes = self.settings.landmarks, self.settings.attributes
        if not (landmarks or attributes):
            return images
        marks = read_landmarks(landmarks, self._images) if landmarks else {}
        return with_additions(images, marks, read_attributes(attributes) if attributes else {})

    def _find_candidates(self) -> None:
        rejections = RejectionCounts()
        found = (
            each.line()
            for image in counted(self.images(), "images searched for questions")
            for each in rejections.leaving_out(self.propose(image))
        )
        self.folder.write_lines("candidates.jsonl", found)
        self.folder.write_json("rejections.json", rejections.document())

    def _make_samples(self) -> None:
        chosen = self._selection
        taken = [one.offering(chosen.offers[one.id]) for one in self.candidates() if one.id in chosen.offers]
        texts = [order_options(one, self._word(one), self.settings.seed) for one in taken]
        worded = list(zip(taken, texts, strict=True))
        spared = frozenset(
            recipe.name for recipe in self.recipes if isinstance(recipe, GuessableRecipe) and recipe.is_guessable
        )
        scored = [each for each in worded if each[1].answer != ""]
        balanced = rebalance([blind_question(*each) for each in scored], spared)
        dropped = dict(balanced.dropped)
        records = (self._recipe(one).record(one, text) for one, text in worded if one.id not in dropped)
        self.folder.write_lines("samples.jsonl", set_apart(records, self.settings.examples, self.settings.seed))
        self.folder.write_json(
            "selection.json", {"superseded": chosen.superseded, "causes": chosen.causes, "guessable": dropped}
        )
        scores = {"before": balanced.before, "after": balanced.after}
        documents = {when: [score.document() for score in each] for when, each in scores.items()}
        self.folder.write_json("guessing.json", documents)

    @cached_property
    def _selection(self) -> SelectionResult:
        return select(self.candidates(), self.quotas, self.settings.seed)

    def _word(self, candidate: Candidate) -> QuestionText:
        return self._recipe(candidate).word(candidate, self.context, self._stream(candidate.id))

    def _recipe(self, candidate: Candidate) -> QuestionRecipe:
        return next(recipe for recipe in self.recipes if recipe.name == candidate.recipe)

    def _stream(self, *words: str) -> np.random.Generator:
        return stream(self.settings.seed, *words)


def _digests(source: Path) -> dict[str, str]:
    """Return the digests of a file, or of all files below a folder, by their paths."""
    paths = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
    return {path.relative_to(source.parent).as_posix(): digest_file(path) for path in paths}
