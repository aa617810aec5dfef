"""What a recipe is. Packages bring their own by the entry point group `gigavqa.recipes`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.bundles import Bundle
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection

RECIPE_GROUP = "gigavqa.recipes"


@dataclass(frozen=True)
class CategoryNames:
    """What a category is called in questions, one of it and several: "ship", "ships".

    Where nobody gave both, `object labelled "ship"` and `objects labelled "ship"`: a plural is never guessed.
    """

    one: str
    many: str

    @classmethod
    def of_label(cls, category: str) -> "CategoryNames":
        """Return what a category is called that nobody named."""
        return cls(f'object labelled "{category}"', f'objects labelled "{category}"')


@dataclass(frozen=True)
class RecipeContext:
    """What recipes know beside an image: names of categories, the whole build's categories and attribute values.

    `names` has an entry for each category of `categories`. `attributes` are the values of each attribute by category,
    sorted: what else an answer could have been.
    """

    names: Mapping[str, CategoryNames]
    categories: tuple[str, ...]
    attributes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    bundles: tuple[Bundle, ...] = ()

    def bundles_of(self, categories: Iterable[str]) -> list[Bundle]:
        """Return the bundles of objects of some categories: those that were given, or one for each category."""
        own = self.bundles or tuple(Bundle(self.names[name].many, name) for name in sorted(self.names))
        wanted = frozenset(categories)
        return [bundle for bundle in own if bundle.category in wanted]


class RecipeQuota(NamedTuple):
    """Questions of a recipe at most, where nobody says otherwise: of one image, and of a build; 0 is no bound."""

    per_image: int = 0
    per_build: int = 0


class QuestionRecipe(Protocol):
    """One kind of question. Pure: the same image, context and stream give the same candidates on every machine."""

    benchmark: str
    """Whose records it makes. A build has recipes of one benchmark."""
    forms: frozenset[str]
    """Of annotations, whose images it is about; empty: any. For annotations of other forms it must be named."""
    quota: RecipeQuota
    name: str
    """As `--recipes` takes it: `count`."""
    title: str
    version: str
    """Changes whenever candidates or words change: `count/1`."""
    reasons: Mapping[str, str]
    """Why a selection is rejected: each reason's word, and what it says to people."""

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield what questions can be about in an image, and what was looked at and rejected; both bounded."""

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return a candidate in words, options in a drawn order unless it is fixed."""

    def record(self, candidate: Candidate, text: QuestionText) -> dict[str, Any]:
        """Return the record of a question, as its benchmark reads it; its `id` is the candidate's.

        Whatever the benchmark, `image` is the picture's name, `boxes` the evidence in pixels, `objects` the ids of what
        the truth rests on, and `choices` or `options` are what is offered, as a list or by letter.
        """


@runtime_checkable
class AdjustableRecipe(Protocol):
    """A recipe of which something can be chosen: `parameters` has each choice's name, and what it says to people."""

    parameters: Mapping[str, str]

    def adjusted(self, chosen: Mapping[str, str]) -> Self:
        """Return the recipe with what is chosen of its parameters; its version tells it. Raises BuildError."""


@runtime_checkable
class GuessableRecipe(Protocol):
    """A recipe of a form that gives itself away, made where somebody asks for it: its scores tell, and all stay."""

    is_guessable: bool


class Composite(NamedTuple):
    """A picture that was composed, as an annotated image, and how, as JSON."""

    image: AnnotatedImage
    document: Mapping[str, Any]


@runtime_checkable
class ComposingRecipe(Protocol):
    """A recipe whose questions are about pictures that it composes of the annotated ones."""

    composition: str
    """Changes whenever other pictures are composed of the same ones."""

    def takes(self, picture: AnnotatedImage) -> bool:
        """Return whether an annotated picture is one of those that it composes pictures of."""

    def compose(
        self, pictures: Iterable[AnnotatedImage], images: Path, folder: Path, omissions: Omissions, seed: int
    ) -> Iterator[Composite]:
        """Write pictures into `folder`, each whole, and yield them; what is there already is not written again.

        Raises BuildError where none can be.
        """
