"""Builds records in the paper's JSON shape (appendix F): questions, answers and steps."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, SUBCATEGORIES, Category, Domain
from gigavqa.demo.records import Record


class RecordQuestion(NamedTuple):
    """The question as a text-only reader gets it, and the letter that is right."""

    text: str
    options: dict[str, str]
    answer: str

    @property
    def fields(self) -> Record:
        """The record's fields of the same meaning."""
        return {"question": self.text, "options": self.options, "answer": self.answer}


def supervision(steps: Sequence[Record]) -> Record:
    """Return the `reasoning_supervision` block that holds `steps`."""
    return {"step_type": "multi_step_qa", "steps": list(steps)}


def quadrant_record(
    domain: Domain,
    category: Category,
    number: int,
    image: str,
    question: RecordQuestion,
    steps: Sequence[Record],
    quadrants: Collection[str],
) -> Record:
    """Return a record whose evidence lies in some of the quadrants."""
    return {
        "id": f"{domain}-{category.replace('_', '-')}-{number}",
        "domain": domain,
        "category": category,
        "subcategory": SUBCATEGORIES[domain, category],
        "image": image,
        **question.fields,
        "reasoning_supervision": supervision(steps),
        "evidence": {"quadrants": [quadrant for quadrant in QUADRANTS if quadrant in quadrants]},
    }
