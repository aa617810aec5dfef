"""Builds: from a file of annotations and a folder of images to checked questions, stage by stage.

A stage whose inputs, settings and versions are those of the last time is not done again, so that a build that was
interrupted goes on, and one that is asked for again costs a look.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from gigavqa.construction.annotation_lines import Vocabulary, image_line, read_image_line
from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.build_folder import BuildFolder, canonical_json, digest_file
from gigavqa.construction.build_settings import SETTINGS, BuildSettings
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.errors import BuildError
from gigavqa.construction.examples import set_apart
from gigavqa.construction.guessing.guessing import rebalance
from gigavqa.construction.images import FolderImages
from gigavqa.construction.question_records import blind_question, question_record
from gigavqa.construction.readers.reader import AnnotationReader
from gigavqa.construction.readers.registry import find_reader
from gigavqa.construction.recipes.recipe import CategoryNames, QuestionRecipe, RecipeContext
from gigavqa.construction.recipes.registry import installed_recipes
from gigavqa.construction.rejections import RejectionCounts
from gigavqa.construction.selection import Quotas, balance_letters, select
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.work_progress import counted

_FILES: Mapping[str, Sequence[str]] = {
    "annotations": ("annotations.jsonl", "vocabulary.json", "omissions.json", "inputs.json"),
    "candidates": ("candidates.jsonl", "rejections.json"),
    "samples": ("samples.jsonl", "selection.json", "guessing.json"),
}
"""What each stage writes."""


class Build:
    """One build, as far as its questions; `run` does what is not done yet."""

    def __init__(self, folder: BuildFolder, settings: BuildSettings) -> None:
        self.folder = folder
        self.settings = settings
        self._images = FolderImages(settings.images)

    @cached_property
    def recipes(self) -> Sequence[QuestionRecipe]:
        """The recipes of this build, in the order of the installed ones. Raises BuildError for a name that none has."""
        installed = installed_recipes()
        wanted = self.settings.recipes or tuple(installed)
        if unknown := [name for name in wanted if name not in installed]:
            told = ", ".join(installed)
            raise BuildError(
                f"there is no recipe '{unknown[0]}'{did_you_mean(unknown[0], installed)}: recipes are {told}"
            )
        return [recipe for name, recipe in installed.items() if name in wanted]

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
        return RecipeContext(
            names,
            categories,
            {
                category: {name: tuple(values) for name, values in by_name.items()}
                for category, by_name in vocabulary["attributes"].items()
            },
        )

    @property
    def form(self) -> str:
        """The form of the annotations, as people call it."""
        return self._reader.title

    def why_left_out(self, candidate: str) -> str:
        """Return in a sentence why a candidate is no question."""
        guessable = self.folder.read_json("selection.json")["guessable"]
        if candidate in guessable:
            return f"dropped: questions of its kind can be guessed ({guessable[candidate]})"
        return "not needed: the quotas of its picture or recipe, or the balance of its truths, were full"

    def run(self) -> None:
        """Do every stage that is not done for these inputs and settings."""
        self._stage("annotations", self._annotation_inputs, self._read_annotations)
        candidates = {
            "annotations": self.folder.digest_of("annotations"),
            "recipes": [recipe.version for recipe in self.recipes],
            "names": {category: [both.one, both.many] for category, both in self.context.names.items()},
            "seed": self.settings.seed,
        }
        self.folder.write_json(SETTINGS, self.settings.model_dump(mode="json"))
        self._stage("candidates", candidates, self._find_candidates)
        samples = {
            "candidates": self.folder.digest_of("candidates"),
            "quotas": [self.settings.per_image, self.settings.per_recipe],
            "examples": self.settings.examples,
            "seed": self.settings.seed,
        }
        self._stage("samples", samples, self._make_samples)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the questions as they are put into the data set."""
        return self.folder.read_lines("samples.jsonl")

    def images(self) -> Iterator[AnnotatedImage]:
        """Yield the annotated images, in the order of their names."""
        return map(read_image_line, self.folder.read_lines("annotations.jsonl"))

    def candidates(self) -> Iterator[Candidate]:
        """Yield all candidates, image by image."""
        return map(Candidate.from_line, self.folder.read_lines("candidates.jsonl"))

    def propose(self, image: AnnotatedImage) -> Iterator[Candidate | Rejection]:
        """Yield what every recipe finds in an image, and what it rejects: each time the same."""
        for recipe in self.recipes:
            yield from recipe.candidates(image, self.context, self._stream(recipe.name, image.image))

    def _stage(self, name: str, inputs: Mapping[str, Any], work: Callable[[], None]) -> None:
        key = canonical_json(inputs)
        if not self.folder.is_current(name, key):
            work()
            self.folder.finish(name, key, _FILES[name])

    @cached_property
    def _annotation_inputs(self) -> dict[str, Any]:
        source = self.settings.source
        paths = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
        return {
            "files": {path.relative_to(source.parent).as_posix(): digest_file(path) for path in paths},
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
        images = vocabulary.counting(counted(read, "annotated images read"))
        if not self.folder.write_lines("annotations.jsonl", map(image_line, images)):
            told = "; ".join(omission.sentence for omission in omissions) or "it names no image"
            raise BuildError(f"{self.settings.source} annotates no image of {self.settings.images}: {told}")
        if alike := vocabulary.alike():
            told = f"categories '{alike[0]}' and '{alike[1]}' are written alike"
            raise BuildError(f"{self.settings.source}: {told}; make them one there, or name them apart")
        self.folder.write_json("vocabulary.json", vocabulary.document())
        sentences = [omission._asdict() for omission in omissions]
        self.folder.write_json("omissions.json", {"counts": dict(omissions.counts), "sentences": sentences})
        self.folder.write_json("inputs.json", self._annotation_inputs)

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
        quotas = Quotas(per_image=self.settings.per_image, per_recipe=self.settings.per_recipe)
        chosen = select(self.candidates(), quotas, self.settings.seed)
        accepted = frozenset(chosen.accepted)
        taken = [one for one in self.candidates() if one.id in accepted]
        texts = balance_letters(map(self._word, taken), self.settings.seed)
        worded = list(zip(taken, texts, strict=True))
        balanced = rebalance([blind_question(*each) for each in worded])
        kept = {question.id for question in balanced.kept}
        records = (question_record(*each) for each in worded if each[0].id in kept)
        self.folder.write_lines("samples.jsonl", set_apart(records, self.settings.examples, self.settings.seed))
        guessable = dict(balanced.dropped)
        self.folder.write_json("selection.json", {"superseded": dict(chosen.superseded), "guessable": guessable})
        scores = {"before": balanced.before, "after": balanced.after}
        documents = {when: [score.document() for score in each] for when, each in scores.items()}
        self.folder.write_json("guessing.json", documents)

    def _word(self, candidate: Candidate) -> QuestionText:
        recipe = next(recipe for recipe in self.recipes if recipe.name == candidate.recipe)
        return recipe.word(candidate, self.context, self._stream(candidate.id))

    def _stream(self, *words: str) -> np.random.Generator:
        """Return the stream of a part of the build: one part's draws move no other's."""
        return np.random.default_rng([self.settings.seed, zlib.crc32("/".join(words).encode())])
