"""The ten kinds of evidence that questions rest on, in the order of figures S.5 to S.14, and what errors are put to."""

import re
from typing import Literal, get_args

QuestionType = Literal[
    "figure", "multi_figure", "figure_table", "figure_text", "figure_formula",
    "table", "multi_table", "text", "formula", "pseudocode",
]  # fmt: skip
SourceCount = Literal["cross", "single"]
QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
CROSS: frozenset[QuestionType] = frozenset(
    {"multi_figure", "figure_table", "figure_text", "figure_formula", "multi_table"}
)
"""Those whose questions need several sources."""
SOURCES: tuple[SourceCount, ...] = ("cross", "single")
LETTERS = "ABCDE"
MOST_OPTIONS = len(LETTERS)

ERRORS = (
    "hallucinated evidence", "incomplete evidence", "perceptual", "extractor", "reasoning", "irrelevant answer",
    "matching",
)  # fmt: skip
"""What a wrong answer can be put down to (figures S.15 to S.21); people label them, and no model."""

_TITLES = {"multi_figure": "Multi-figure", "multi_table": "Multi-table"}
_CATEGORY_ENDING = re.compile(r"[\s_]*(?:comprehension|error|evidence error)s?$")


def type_title(kind: str) -> str:
    """Return what tables call a kind, as the paper does without its "Comprehension"."""
    return _TITLES.get(kind) or "-".join(part.capitalize() for part in kind.split("_"))


def source_of(kind: QuestionType) -> SourceCount:
    """Return whether questions of a kind need several sources."""
    return "cross" if kind in CROSS else "single"


def read_question_type(text: str) -> QuestionType:
    """Read a kind, also by the paper's title, "Figure-Table Comprehension". Raises ValueError naming all that are."""
    name = re.sub(r"[\s_-]+", "_", _CATEGORY_ENDING.sub("", text.strip().lower()))
    for kind in QUESTION_TYPES:
        if name == kind:
            return kind
    raise ValueError(f"type: '{text}' is not known: {', '.join(QUESTION_TYPES)}")


def read_error(text: str) -> str:
    """Read a category of errors, also as "Perceptual Errors". Raises ValueError naming all that are."""
    name = re.sub(r"[\s_-]+", " ", text.strip().lower())
    short = _CATEGORY_ENDING.sub("", name)
    for error in ERRORS:
        if error in (name, short) or error == f"{short} evidence":
            return error
    raise ValueError(f"category '{text}' is not known: {', '.join(ERRORS)}")
