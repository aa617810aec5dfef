"""What the recipes of whole slides share: what a question looks at, its steps, and the record (appendix F.3)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.evidence import roi_region
from gigavqa.benchmarks.ultravr.taxonomy import Category
from gigavqa.benchmarks.ultravr.wording import slide_steps, slide_wording
from gigavqa.construction.annotations import AnnotatedImage, Box
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.errors import BuildError
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.records import CATEGORY_QUOTA, ultravr_record
from gigavqa.construction.ultravr.slide_findings import Findings, patient_of, read_findings, slide_table, sure
from gigavqa.construction.ultravr.slide_rois import SlideAreas, find_areas
from gigavqa.construction.ultravr.slide_workflows import ROI_STEP, contradicts, expert_workflow, preset_workflow
from gigavqa.tiling.geometry import Size

_REASONS: Mapping[str, str] = {
    "unlabelled": "labels do not say for sure what the question needs",
    "no_rois": "neither areas nor an expert's steps say where to look: mark areas in QuPath, or give Q2.1",
    "no_steps": "an expert's steps are not complete, or no preset fits what is known",
    "implausible": "the claims do not go together on any slide, so that nobody needs to look",
}


@dataclass(frozen=True)
class SlideProposal:
    """One question that labels allow: what its text says (`told`), its letter or text that is right, what is offered.

    `about` is the finding whose workflow is followed, of the value `value`; `balance` are the words of the group in
    which truths are balanced, none where they are not; `shown` is for reviewers alone.
    """

    told: Mapping[str, Any]
    truth: str
    options: tuple[str, ...]
    about: str
    value: int | None
    balance: tuple[str, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)


def choose(name: str, chosen: Mapping[str, str], *values: str) -> str:
    """Return what is chosen of a parameter, the first of its values where nothing is. Raises BuildError for another."""
    value = chosen.get(name, values[0])
    if value not in values:
        raise BuildError(f"--set {name}={value}: is none of {', '.join(values)}")
    return value


class SlideRecipe(ABC):
    """One template of questions about whole slides."""

    benchmark = "ultravr"
    forms = frozenset({"slides", "wsivqa", "qupath"})
    quota = CATEGORY_QUOTA
    name: str
    title: str
    version: str
    template: str
    category: Category
    reasons: Mapping[str, str] = _REASONS

    parameters: Mapping[str, str] = {
        "grade-2": "lower: ask about slides of grade 2 as of lower grade; left-out if omitted"
    }

    def __init__(self, *, grade_2: str = "left-out") -> None:
        self._grade_2 = grade_2
        if grade_2 != "left-out":
            self.version = f"{self.version} grade-2={grade_2}"

    def adjusted(self, chosen: Mapping[str, str]) -> "SlideRecipe":
        """Return the recipe with what is chosen. Raises BuildError for a value that none can be."""
        return type(self)(grade_2=choose("grade-2", chosen, "left-out", "lower"))

    @abstractmethod
    def propose(
        self, findings: Findings, image: AnnotatedImage, areas: SlideAreas, rng: np.random.Generator
    ) -> Iterator[SlideProposal | tuple[str, str]]:
        """Yield what labels allow to be asked; else the reason of the closed list, and what it is about."""

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the questions of a slide, each with its cells and steps."""
        findings, areas = read_findings(image.labels, grade_2_is_lower=self._grade_2 == "lower"), find_areas(image)
        if not areas.shares and not image.labels.keys() & slide_table()["values"].keys():
            return  # it is no slide
        found = False
        for each in self.propose(findings, image, areas, rng):
            found = True
            if isinstance(each, SlideProposal):
                yield self._candidate(each, image, areas, findings)
            else:
                yield Rejection(self.name, image.image, *each)
        if not found:
            yield Rejection(self.name, image.image, "unlabelled", ", ".join(sorted(findings)) or "no label")

    def _candidate(
        self, one: SlideProposal, image: AnnotatedImage, areas: SlideAreas, findings: Findings
    ) -> Candidate | Rejection:
        rois = areas.rois(slide_table()["looked_at"][one.about])
        steps, by = expert_workflow(image.labels, self.category, rois), "expert"
        if steps is None and one.value is not None:
            steps, by = preset_workflow(one.about, one.value, rois), "preset"
            if contradicts(steps, sure(findings)):
                return Rejection(self.name, image.image, "no_steps", one.about)
        if steps is None:
            return Rejection(self.name, image.image, "no_steps", one.about)
        rois = sorted(steps[ROI_STEP] or rois)
        if not rois:
            return Rejection(self.name, image.image, "no_rois", one.about)
        program = {
            **one.told,
            **one.shown,
            "category": self.category,
            "about": one.about,
            "rois": rois,
            "steps": steps,
            "steps_by": by,
            "split": patient_of(image.image),
            "options": list(one.options),
        }
        size = Size(image.width, image.height)
        cells = [roi_region(size, roi) for roi in rois]
        boxes = tuple(Box(float(x), float(y), float(x + width), float(y + height)) for x, y, width, height in cells)
        group = "/".join((self.name, *one.balance)) if one.balance else ""
        return Candidate(self.name, image.image, program, one.truth, (), boxes, group)

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return the question with the options that can be right, in the order of their letters."""
        wording, slots = slide_wording(self.template), candidate.program["slots"]
        lettered = wording.lettered(slots)
        options = [lettered[letter] for letter in candidate.program["options"]]
        question, answer = wording.question(slots), lettered.get(candidate.truth, "")
        return QuestionText(question, "choice", answer, options, has_fixed_order=True)

    def options(self, candidate: Candidate, text: QuestionText) -> Sequence[str]:
        """Return the options of the record: all four, whichever can be right."""
        return [*slide_wording(self.template).lettered(candidate.program["slots"]).values()]

    def record(self, candidate: Candidate, text: QuestionText) -> dict[str, Any]:
        """Return a candidate as a record of UltraVR; an answer that awaits an expert is empty."""
        program = candidate.program
        kind = {"domain": "wsi", "category": self.category, "subcategory": self.template}
        steps, evidence = slide_steps(program["steps"]), {"rois": program["rois"]}
        record = ultravr_record(candidate, text._replace(options=self.options(candidate, text)), kind, steps, evidence)
        slide = PurePosixPath(candidate.image).name.split(".")[0]
        return {**record, "slide": slide, "patient": program["split"], "steps_by": program["steps_by"]}
