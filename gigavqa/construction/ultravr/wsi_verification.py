"""WSI logical verification: whether three findings hold together (T2), and which summary of a slide fits (T3)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, Category
from gigavqa.benchmarks.ultravr.wording import slide_wording
from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, QuestionText
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.slide_findings import (
    Findings,
    SlideClaims,
    is_plausible,
    slide_table,
    summary_of,
    sure,
    verified_claims,
)
from gigavqa.construction.ultravr.slide_recipe import SlideProposal, SlideRecipe, choose
from gigavqa.construction.ultravr.slide_rois import SlideAreas


class SlideVerification(SlideRecipe):
    """Three findings claimed together, of which all hold, or one does not: the letter says which."""

    name = "wsi-verification"
    title = "Three findings together (UltraVR, T2)"
    version = "wsi-verification/1"
    template = "T2"
    category: Category = "logical_verification"

    def propose(
        self, findings: Findings, image: AnnotatedImage, areas: SlideAreas, rng: np.random.Generator
    ) -> Iterator[SlideProposal | tuple[str, str]]:
        """Yield each combination as it is and with each finding turned round; slides share texts, not truths."""
        for claims in verified_claims(sure(findings)):
            names = list(claims.values)
            for letter, claimed in zip(LETTERS, [claims, *map(claims.turned, names)], strict=True):
                if is_plausible(claimed.values):
                    yield self._proposal(claims, claimed, letter)
                else:
                    yield "implausible", ", ".join(claimed.texts())

    @staticmethod
    def _proposal(claims: SlideClaims, claimed: SlideClaims, letter: str) -> SlideProposal:
        about = next(iter(claims.values))
        slots = dict(zip("xyz", claimed.texts(), strict=True))
        told = {"claims": dict(claimed.values), "slots": slots}
        return SlideProposal(told, letter, tuple(LETTERS), about, claims.values[about], tuple(slots.values()))


class SlideSummary(SlideRecipe):
    """Four summaries, of which one fits; `crossed` are all four of two findings, a third being the same in all.

    `paper` is the printed scheme, the true summary and three that turn one finding of it round: the true one has the
    most frequent value of every finding, so that a reader without pictures finds it always.
    """

    name = "wsi-summary"
    title = "The summary that fits a slide (UltraVR, T3)"
    template = "T3"
    category: Category = "logical_verification"

    parameters: Mapping[str, str] = {
        **SlideRecipe.parameters,
        "t3": "paper: the printed scheme of summaries, which readers without pictures guess; crossed if omitted",
    }

    def __init__(self, scheme: str = "crossed", *, grade_2: str = "left-out") -> None:
        self.version = f"wsi-summary-{scheme}/1"
        super().__init__(grade_2=grade_2)
        self._propose = self._crossed if scheme == "crossed" else self._printed
        self.is_guessable = scheme == "paper"

    def adjusted(self, chosen: Mapping[str, str]) -> "SlideSummary":
        """Return the recipe with what is chosen. Raises BuildError for a value that none can be."""
        return SlideSummary(
            choose("t3", chosen, "crossed", "paper"), grade_2=choose("grade-2", chosen, "left-out", "lower")
        )

    def propose(
        self, findings: Findings, image: AnnotatedImage, areas: SlideAreas, rng: np.random.Generator
    ) -> Iterator[SlideProposal | tuple[str, str]]:
        """Yield the summaries of each combination of findings; of a lesion that is not invasive there is none."""
        known = sure(findings)
        invasive = known.get("invasive")
        for names in slide_table()["summarized"]["together"]:
            if invasive == 0 or any(name not in known for name in names):
                continue
            values = {name: known[name] for name in names}
            yield from self._propose(values, {} if invasive is None else {"invasive": invasive})

    def _crossed(
        self, values: Mapping[str, int], context: Mapping[str, int]
    ) -> Iterator[SlideProposal | tuple[str, str]]:
        for pair in combinations(values, 2):
            worlds = [{**values, **dict(zip(pair, both, strict=True))} for both in product((0, 1), repeat=2)]
            yield self._offer(values, worlds, context, (*pair, *map(str, values.values())), balanced=True)

    def _printed(
        self, values: Mapping[str, int], context: Mapping[str, int]
    ) -> Iterator[SlideProposal | tuple[str, str]]:
        if len(values) == len(LETTERS) - 1:
            worlds = [values, *({**values, name: 1 - value} for name, value in values.items())]
            yield self._offer(values, worlds, context, (), balanced=False)

    @staticmethod
    def _offer(
        values: Mapping[str, int],
        worlds: list[Any],
        context: Mapping[str, int],
        about: tuple[str, ...],
        *,
        balanced: bool,
    ) -> SlideProposal | tuple[str, str]:
        texts = [summary_of(world, is_invasive="invasive" in context) for world in worlds]
        if not all(is_plausible({**world, **context}) for world in worlds):
            return "implausible", "; ".join(texts)
        first = next(iter(values))
        truth = summary_of(values, is_invasive="invasive" in context)
        told = {"slots": {}, "crossed": list(about[:2])}
        balance = tuple(sorted(texts)) if balanced else ()
        return SlideProposal(told, truth, tuple(sorted(texts)), first, values[first], balance)

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return the question with its summaries in a drawn order."""
        offered = candidate.program["options"]
        options = [offered[int(at)] for at in rng.permutation(len(offered))]
        return QuestionText(slide_wording("T3").question({}), "choice", candidate.truth, options)

    def options(self, candidate: Candidate, text: QuestionText) -> Sequence[str]:
        """Return the summaries in the order of the text."""
        return text.options
