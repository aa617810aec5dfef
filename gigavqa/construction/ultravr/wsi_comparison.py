"""WSI comparison, template T1: which of two interpretations of one finding is better supported."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, Category
from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.ultravr.slide_findings import Findings, slide_table, sure
from gigavqa.construction.ultravr.slide_recipe import SlideProposal, SlideRecipe
from gigavqa.construction.ultravr.slide_rois import SlideAreas

_CLEAR = 2
"""How many letters say "clearly": those that labels alone can give. The others, "leans toward", want an expert."""


class SlideComparison(SlideRecipe):
    """One question for each axis whose finding is known, the order of both sides drawn.

    A label gives A or B. Such a question is balanced among these two, of which a reader without pictures is told; where
    experts lean to a side, it is among all four.
    """

    name = "wsi-comparison"
    title = "Two interpretations of a slide (UltraVR, T1)"
    version = "wsi-comparison/1"
    template = "T1"
    category: Category = "comparison"

    def propose(
        self, findings: Findings, image: AnnotatedImage, areas: SlideAreas, rng: np.random.Generator
    ) -> Iterator[SlideProposal]:
        """Yield each axis, with the letters among which its truth is balanced."""
        known = sure(findings)
        for axis, table in slide_table()["comparisons"].items():
            first = int(rng.integers(2))
            finding = findings.get(table["finding"])
            if finding is None or any(known.get(name) != value for name, value in table.get("needs", {}).items()):
                continue
            at = (finding.value != first) + _CLEAR * finding.leans
            sides = {"a": table["sides"][first], "b": table["sides"][1 - first]}
            told: dict[str, Any] = {"axis": axis, "slots": sides}
            for options in ([] if finding.leans else [LETTERS[:_CLEAR]]) + [LETTERS]:
                yield SlideProposal(
                    told, LETTERS[at], tuple(options), table["finding"], finding.value, (axis, str(first), options)
                )
