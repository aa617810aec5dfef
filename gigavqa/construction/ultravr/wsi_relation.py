"""WSI relational inference, template T4: how two components of a slide relate; answers are experts' alone."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, Category
from gigavqa.construction.annotations import AnnotatedImage, attribute_text
from gigavqa.construction.ultravr.slide_findings import Findings, slide_table, sure
from gigavqa.construction.ultravr.slide_recipe import SlideProposal, SlideRecipe
from gigavqa.construction.ultravr.slide_rois import SlideAreas

_DOMINANT, _ALIKE = 4.0, 2.0
"""Ratios of areas from which on one component is proposed as dominant, and up to which both as substantial."""


class SlideRelation(SlideRecipe):
    """One question for each pair of components that labels do not exclude.

    Without an expert's answer it is empty, and the question is asked and not scored. What marked areas propose is kept
    with the candidate for people to see, and is never an answer.
    """

    name = "wsi-relation"
    title = "How two components of a slide relate (UltraVR, T4)"
    version = "wsi-relation/1"
    template = "T4"
    category: Category = "relational_inference"

    def propose(
        self, findings: Findings, image: AnnotatedImage, areas: SlideAreas, rng: np.random.Generator
    ) -> Iterator[SlideProposal]:
        """Yield each pair, with the letters among which an expert's answer is balanced."""
        known = sure(findings)
        for pair, table in slide_table()["relations"].items():
            if any(known.get(name) == value for name, value in table["excluded"].items()):
                continue
            told: dict[str, Any] = {"pair": pair, "slots": dict(zip("ab", table["components"], strict=True))}
            shown = {"proposal": _proposal(areas.ratio(*reversed(table["areas"])))}
            answers = slide_table()["values"][f"relation_{pair}"]
            answer = attribute_text(image.labels.get(f"relation_{pair}", "")).casefold()
            about, value = table["about"], known.get(table["about"])
            if answer not in answers:
                yield SlideProposal(told, "", tuple(LETTERS), about, value, (), shown)
                continue
            letter = LETTERS[answers.index(answer)]
            for options in (LETTERS, *("".join(two) for two in combinations(LETTERS, 2) if letter in two)):
                yield SlideProposal(told, letter, tuple(options), about, value, (pair, options), shown)


def _proposal(ratio: float | None) -> str:
    """Return the letter that areas propose, by how many times the second component is as large as the first."""
    if ratio is None:
        return ""
    if ratio >= _DOMINANT:
        return LETTERS[0]
    return LETTERS[1] if 1 / _ALIKE <= ratio <= _ALIKE else ""
