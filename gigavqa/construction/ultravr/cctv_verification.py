"""CCTV logical verification: whether a count, and the quadrant with the most or fewest, are as claimed (F.1)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, QUADRANTS, Quadrant
from gigavqa.benchmarks.ultravr.vocabulary import CLAIM_PATTERNS
from gigavqa.benchmarks.ultravr.wording import Slots
from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.bundle_objects import BUNDLE_REASONS, BundleObjects, bundle_objects
from gigavqa.construction.ultravr.regions import REGION_REASONS, named_categories, normalized
from gigavqa.construction.ultravr.task_recipe import TaskRecipe

_LEAST_OBJECTS, _MOST_OBJECTS = 2, 24
_STEPS = (-2, -1, 0, 1, 2)
_EXTREMA = ("most", "fewest")


class ClaimVerification(TaskRecipe):
    """Questions which of two claims on a bundle are true: its count, and where the most or fewest are."""

    domain = "cctv"
    category = "logical_verification"
    forms = frozenset({"panda"})
    name = "cctv-logical-verification"
    title = "Claims on a bundle's count and quadrants (UltraVR)"
    version = "cctv-logical-verification/1"
    reasons: Mapping[str, str] = {
        **REGION_REASONS,
        **BUNDLE_REASONS,
        "too_few": f"the image has less than {_LEAST_OBJECTS} objects of the bundle",
        "dense": f"the image has more than {_MOST_OBJECTS} objects of the bundle",
        "tie": "two quadrants have equally many, and no other one more or fewer",
    }

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield for every bundle the counts up to 2 from its own, each with the extreme quadrant and the next one."""
        yield from self.unnamed(image, context)
        for bundle in context.bundles_of(named_categories(image, context)):
            found = bundle_objects(image, bundle)
            if reason := _doubt(found):
                yield self.rejection(image, reason, bundle.label)
                continue
            counts = {name: len(found.by_quadrant[name]) for name in QUADRANTS}
            for extremum in _EXTREMA:
                extreme, others = _extremes(counts, extremum)
                if extreme is None:
                    yield self.rejection(image, "tie", f"{extremum} {bundle.label}")
                    continue
                for region in (extreme, *others):
                    for claimed in (sum(counts.values()) + step for step in _STEPS):
                        if claimed > 0:
                            yield self._claim(image, found, (extremum, region, extreme), claimed)

    def _claim(
        self, image: AnnotatedImage, found: BundleObjects, where: tuple[str, Quadrant, Quadrant], claimed: int
    ) -> Candidate:
        (extremum, region, extreme), label, number = where, found.bundle.label, len(found.objects)
        true = claimed == number, region == extreme
        program = {
            "category": label,
            "bundle_label": label,
            "actual_count": number,
            "claim_a_count": claimed,
            "claim_b_region": region,
            "claim_b_extremum": extremum,
            "actual_extremum_resolution": extreme,
            "quadrant_to_boxes": {
                name: [normalized(image, one) for one in objects] for name, objects in found.by_quadrant.items()
            },
            "quadrants": list(QUADRANTS),
            "options": list(LETTERS),
        }
        truth = LETTERS[list(CLAIM_PATTERNS).index(true)]
        return self.candidate(image, program, truth, found.objects, (label, str(claimed), extremum, region))

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return bundle, claimed number, region and extremum."""
        told = {"bundle": program["bundle_label"], "claimed": str(program["claim_a_count"])}
        return told | {"region": program["claim_b_region"], "extremum": program["claim_b_extremum"]}

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return objects and count of each quadrant, the total, the extreme quadrant, both claims, and the pattern."""
        program, truths = candidate.program, dict[str, Any]()
        boxes = [program["quadrant_to_boxes"][name] for name in QUADRANTS]
        for at, each in enumerate(boxes):
            truths |= {f"S{2 * at + 1}": each, f"S{2 * at + 2}": len(each)}
        total, extreme = sum(map(len, boxes)), program["actual_extremum_resolution"]
        true = total == program["claim_a_count"], extreme == program["claim_b_region"]
        truths |= {"S9": total, "S10": extreme, "S11": true[0], "S12": true[1]}
        return truths | {"S13": CLAIM_PATTERNS[true][0]}


def _doubt(found: BundleObjects) -> str:
    if found.doubt or found.near_boundary:
        return found.doubt or "near_boundary"
    number = len(found.objects)
    return "too_few" if number < _LEAST_OBJECTS else "dense" if number > _MOST_OBJECTS else ""


def _extremes(counts: Mapping[Quadrant, int], extremum: str) -> tuple[Quadrant | None, list[Quadrant]]:
    """Return the quadrant with the most or fewest, None where several have, and those that come next."""
    sign = -1 if extremum == "most" else 1
    ranks = sorted({sign * number for number in counts.values()})
    first = [name for name, number in counts.items() if sign * number == ranks[0]]
    if len(first) > 1:
        return None, []
    return first[0], [name for name, number in counts.items() if sign * number == ranks[1]]
