"""CCTV comparison: which of four claims on the counts of two bundles is true (appendix F.1)."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.benchmarks.ultravr.wording import Slots, fill, task_wording
from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.bundle_objects import BUNDLE_REASONS, BundleObjects, bundle_objects, share_objects
from gigavqa.construction.ultravr.claims import claims_on, facts
from gigavqa.construction.ultravr.regions import REGION_REASONS, named_categories, normalized
from gigavqa.construction.ultravr.task_recipe import TaskRecipe

_MOST_OBJECTS = 12


class BundleComparison(TaskRecipe):
    """Questions which claim on two counts is true: their difference, total, ratio or order."""

    domain = "cctv"
    category = "comparison"
    forms = frozenset({"panda"})
    name = "cctv-comparison"
    title = "Claims on the counts of two bundles (UltraVR)"
    version = "cctv-comparison/1"
    reasons: Mapping[str, str] = {
        **{word: REGION_REASONS[word] for word in ("difficult", "unlabelled", "unnamed")},
        **BUNDLE_REASONS,
        "absent": "the image has no object of the bundle",
        "dense": f"the image has more than {_MOST_OBJECTS} objects of the bundle",
        "shared": "an object belongs to both bundles, or two boxes of them mark one object",
        "no_world": "no four claims on these counts can each be the only true one",
    }

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield every pair of bundles with the sets of claims of which one is true."""
        yield from self.unnamed(image, context)
        usable: list[BundleObjects] = []
        for bundle in context.bundles_of(named_categories(image, context)):
            found = bundle_objects(image, bundle)
            if reason := found.doubt or _fault(len(found.objects)):
                yield self.rejection(image, reason, bundle.label)
            else:
                usable.append(found)
        for first, second in combinations(sorted(usable, key=lambda one: one.bundle.label), 2):
            yield from self._compare(image, first, second)

    def _compare(
        self, image: AnnotatedImage, first: BundleObjects, second: BundleObjects
    ) -> Iterator[Candidate | Rejection]:
        labels = first.bundle.label, second.bundle.label
        about = " and ".join(labels)
        if share_objects(first, second):
            yield self.rejection(image, "shared", about)
            return
        objects = [first.objects, second.objects]
        counts = [len(each) for each in objects]
        groups = [
            {"bundle_label": label, "count": len(each), "boxes": [normalized(image, one) for one in each]}
            for label, each in zip(labels, objects, strict=True)
        ]
        shown = {name for name in QUADRANTS if first.by_quadrant[name] or second.by_quadrant[name]}
        program = {
            "categories": list(labels),
            "group_a": groups[0],
            "group_b": groups[1],
            "quadrants": [name for name in QUADRANTS if name in shown],
        }
        offered = claims_on(counts[0], counts[1], about)
        if not offered:
            yield self.rejection(image, "no_world", about)
        for claims, truth in offered:
            options = claims.options()
            everything = [*objects[0], *objects[1]]
            yield self.candidate(image, {**program, "options": options}, truth, everything, (*labels, *options))

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return the fixed question, and the four claims in a drawn order."""
        wording, slots = task_wording(self.domain, self.category), self.slots(candidate.program)
        texts = {option: _claim_text(option, wording.options, slots) for option in candidate.program["options"]}
        order = [[*texts][int(at)] for at in rng.permutation(len(texts))]
        question = wording.question(slots)
        return QuestionText(question, "choice", texts[candidate.truth], [texts[option] for option in order])

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return both bundles' names."""
        return {"a": program["group_a"]["bundle_label"], "b": program["group_b"]["bundle_label"]}

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return existence, objects and count of both bundles, what follows from the counts, and the true family."""
        boxes = [candidate.program[f"group_{at}"]["boxes"] for at in "ab"]
        a, b = map(len, boxes)
        true = facts(a, b)
        return {
            **{"S1": bool(a), "S2": boxes[0], "S3": a, "S4": bool(b), "S5": boxes[1], "S6": b},
            **{"S7": true.total, "S8": true.difference, "S9": true.ratio, "S10": true.order},
            "S11": candidate.truth.partition("=")[0],
        }


def _fault(number: int) -> str:
    return "absent" if not number else "dense" if number > _MOST_OBJECTS else ""


def _claim_text(option: str, texts: Mapping[str, str], slots: Slots) -> str:
    """Return a claim in words; an order has a text of its own."""
    family, _, value = option.partition("=")
    return fill(texts[value], slots) if value in texts else fill(texts[family], {**slots, "value": value})
