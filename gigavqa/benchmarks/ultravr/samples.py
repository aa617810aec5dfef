"""One benchmark question with its options, answer, annotated steps and evidence."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, field_validator, model_validator

from gigavqa.answers.coordinates import format_coordinate, read_coordinate
from gigavqa.benchmarks.ultravr.taxonomy import CATEGORIES, Category, Domain, Quadrant
from gigavqa.evaluation import samples as host

AnswerFormat = Literal[
    "boolean",
    "integer",
    "multiple_choice",
    "bbox_coordinates",
    "bbox_coordinates_normalized",
    "bbox_coordinates_list",
    "single_choice",
    "multi_select",
    "roi_list",
    "short_text",
]
Operation = Literal["GND", "PER", "QUA", "INT", "INF"]
RoiIndex = Annotated[int, Field(ge=1, le=36)]
GridPosition = tuple[PositiveInt, PositiveInt]
WHOLE_GRID = (10, 10)
"""Rows and columns of an AD image, unless its record says otherwise."""
BLOCK_SIZE = (5, 5)
"""Rows and columns of the sheet of neighbouring cells that V3 shows of an AD grid (section 4.2)."""


class _Annotation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReasoningStep(_Annotation):
    """One annotated reasoning step; null is a legal ground truth (RS relational inference, N/A steps of WSI)."""

    step_id: str = Field(min_length=1)
    question: str
    ground_truth: Any
    answer_format: AnswerFormat
    options: tuple[str, ...] | None = None
    operation: Operation | None = Field(default=None, description="the record's own label, which wins over C.2-C.5")
    variants: dict[str, tuple[str, ...]] = Field(
        default={}, description="other spellings that stand for an answer, by that answer (appendix D.2)"
    )


class UltraVREvidence(_Annotation):
    """The place of a sample's evidence: quadrants (CCTV, RS), cells of the 6x6 grid (WSI), or a grid cell (AD)."""

    quadrants: tuple[Quadrant, ...] = ()
    rois: tuple[RoiIndex, ...] = Field(default=(), description="6x6 grid, row-major, 1 to 36")
    grid: GridPosition = Field(default=WHOLE_GRID, description="rows, columns")
    cell: GridPosition | None = Field(default=None, description="row, column, 1-based from the top left")
    sheet: GridPosition | None = Field(
        default=None, description="row, column of the first cell of the sheet shown as local evidence; drawn without it"
    )

    @model_validator(mode="after")
    def _cell_inside(self) -> "UltraVREvidence":
        if self.cell and (self.cell[0] > self.grid[0] or self.cell[1] > self.grid[1]):
            raise ValueError(f"cell {self.cell} lies outside a grid of {self.grid[0]} x {self.grid[1]}")
        return self

    @model_validator(mode="after")
    def _sheet_holds_cell(self) -> "UltraVREvidence":
        if self.sheet is None:
            return self
        if self.cell is None or any(
            not first <= at < first + part for at, first, part in zip(self.cell, self.sheet, BLOCK_SIZE, strict=True)
        ):
            raise ValueError(f"the sheet from cell {self.sheet} does not hold the cell {self.cell}")
        if any(first + part - 1 > count for first, part, count in zip(self.sheet, BLOCK_SIZE, self.grid, strict=True)):
            raise ValueError(f"the sheet from cell {self.sheet} reaches out of the grid {self.grid}")
        return self


class UltraVRSample(host.Sample):
    """One question of a domain and category, with its annotated steps and evidence.

    Without `options` the answer is a coordinate, written "(row, column)", 1-based from the top left (AD, section A.4).
    An empty answer awaits an expert: such a sample is asked, and left out of every accuracy until `expert_answer` says
    one, which is no part of the record.
    """

    domain: Domain
    category: Category
    subcategory: str = ""
    answer: str
    steps: tuple[ReasoningStep, ...] = ()
    evidence: UltraVREvidence | None = None
    expert_answer: str = ""

    @property
    def truth(self) -> str:
        """The answer, a letter or a coordinate."""
        return self.answer or self.expert_answer

    @property
    def awaited(self) -> bool:
        """Whether the record has no answer."""
        return not self.answer

    @property
    def chance(self) -> float:
        """One in as many as there are options, or cells of the grid."""
        rows, columns = self.evidence.grid if self.evidence else WHOLE_GRID
        return super().chance if self.options else 1 / (rows * columns)

    @property
    def groups(self) -> dict[str, str]:
        """Domain, category and subcategory."""
        return {"domain": self.domain, "category": self.category, "subcategory": self.subcategory}

    @field_validator("options")
    @classmethod
    def _options_are_lettered(cls, options: dict[str, str] | None) -> dict[str, str] | None:
        expected = [chr(ord("A") + position) for position in range(len(options or ()))]
        if options is not None and (len(options) < 2 or sorted(options) != expected):
            raise ValueError(f"options must be lettered A, B, C, D without a gap, not {', '.join(options) or 'none'}")
        return dict(sorted(options.items())) if options else None

    @model_validator(mode="after")
    def _fits_together(self) -> "UltraVRSample":
        if wrong := list(self._misfits()):
            raise ValueError("; ".join(wrong))
        return self

    def _misfits(self) -> Iterator[str]:
        if self.category not in CATEGORIES[self.domain]:
            yield f"domain '{self.domain}' has no category '{self.category}': {', '.join(CATEGORIES[self.domain])}"
        if self.options is None and self.domain != "ad":
            yield "options are missing; only AD samples may ask for a coordinate"
        elif self.answer and self.options is not None and self.answer not in self.options:
            yield f"answer '{self.answer}' is none of the options {', '.join(self.options)}"
        elif self.expert_answer and self.expert_answer not in (self.options or ()):
            yield f"the expert's answer '{self.expert_answer}' is none of the options {', '.join(self.options or ())}"
        elif self.answer and self.options is None:
            cell = read_coordinate(self.answer)
            if cell is None or self.answer != format_coordinate(cell):
                yield f"answer '{self.answer}' is neither an option nor a coordinate '(row, column)'"
