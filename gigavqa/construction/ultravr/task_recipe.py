"""What the recipes of CCTV and RS share: candidates in quadrants, the fixed texts of appendix F, and records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, SUBCATEGORIES, Category, Domain
from gigavqa.benchmarks.ultravr.wording import Slots, task_steps, task_wording
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.records import CATEGORY_QUOTA, ultravr_record


def the_quadrant(name: str) -> str:
    """Name a quadrant in a sentence."""
    return f"the {name} quadrant"


class TaskRecipe:
    """A recipe of one category of CCTV or RS.

    A program holds what the texts say, what the steps' truths rest on under the names that the paper prints, the
    `quadrants` of its evidence, and `options`: the answers that are offered, in the order of the fixed texts.
    """

    benchmark = "ultravr"
    quota = CATEGORY_QUOTA
    domain: Domain
    category: Category
    name: str

    def candidate(
        self,
        image: AnnotatedImage,
        program: Mapping[str, Any],
        truth: str,
        objects: Iterable[Annotation],
        text: Sequence[str],
    ) -> Candidate:
        """Return a candidate; `text` is all that its question and options say, and so the group of its balance."""
        shown = tuple(objects)
        ids, boxes = tuple(one.id for one in shown), tuple(one.box for one in shown)
        return Candidate(self.name, image.image, program, truth, ids, boxes, "/".join((self.name, *text)))

    def rejection(self, image: AnnotatedImage, reason: str, about: str) -> Rejection:
        """Return a rejection for one of the recipe's reasons."""
        return Rejection(self.name, image.image, reason, about)

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return the fixed texts of a candidate, each option under its letter."""
        wording, slots = task_wording(self.domain, self.category), self.slots(candidate.program)
        options = [*wording.lettered(slots).values()]
        right = options[candidate.program["options"].index(candidate.truth)]
        return QuestionText(wording.question(slots), "choice", right, options, has_fixed_order=True)

    def record(self, candidate: Candidate, text: QuestionText) -> dict[str, Any]:
        """Return a record of UltraVR with its steps."""
        steps = task_steps(self.domain, self.category, self.slots(candidate.program), self.truths(candidate))
        subcategory = SUBCATEGORIES[self.domain, self.category]
        kind: dict[str, str] = {"domain": self.domain, "category": self.category, "subcategory": subcategory}
        named = candidate.program["quadrants"]
        return ultravr_record(candidate, text, kind, steps, {"quadrants": [one for one in QUADRANTS if one in named]})

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return what stands in the slots of the texts."""
        raise NotImplementedError

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return the truth of each step, by its id."""
        raise NotImplementedError
