"""The fixed texts of appendix F: what asks, offers and supervises, for whatever makes records and whatever checks them.

They lie as TOML in `fixed_texts`. `{slot}` stands where a text has its own words.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.benchmarks.ultravr.schemas import SCHEMAS, WSI_FORMATS
from gigavqa.benchmarks.ultravr.taxonomy import Category, Domain
from gigavqa.benchmarks.ultravr.vocabulary import STEP_CHOICES, WSI_OPTIONS

_FOLDER = Path(__file__).parent / "fixed_texts"
_SLOT = re.compile(r"\{(\w+)\}")

Slots = Mapping[str, str]
"""What stands in a text's slots, by their names in lower case."""


@dataclass(frozen=True)
class TaskWording:
    """The texts of a domain and category, or of one template of WSI.

    `questions` are the forms that the paper has, of which records are made in the first; `options` go by letter, or by
    what they claim. `patterns` say what a slot can hold, where that is not any text.
    """

    questions: tuple[str, ...]
    options: Mapping[str, str]
    steps: Mapping[str, str]
    patterns: Mapping[str, str] = field(default_factory=dict)

    def question(self, slots: Slots) -> str:
        """Return the question with its slots filled."""
        return fill(self.questions[0], slots)

    def lettered(self, slots: Slots) -> dict[str, str]:
        """Return the options with their slots filled, by letter."""
        return {letter: fill(text, slots) for letter, text in self.options.items()}


class ProductWording(NamedTuple):
    """One kind of product of an AD grid: what is normal as a text and as conditions, and the question of step S3."""

    many: str
    normality: str
    objects: str
    objects_number: int
    conditions: tuple[str, ...]


class GridWording(NamedTuple):
    """The texts of AD that all products share, and the products by name."""

    introduction: str
    coordinate: str
    choice: str
    steps: Mapping[str, str]
    products: Mapping[str, ProductWording]


@cache
def task_wording(domain: Domain, category: Category) -> TaskWording:
    """Return the texts of a category of CCTV or RS."""
    table = _read(domain)
    return _task(table[category], table[category]["steps"], table["slots"])


@cache
def slide_wording(template: str) -> TaskWording:
    """Return the texts of a template of WSI, T1 to T4."""
    table = _read("wsi")
    return _task(table[template], table["steps"])


@cache
def grid_wording() -> GridWording:
    """Return the texts of AD."""
    table = _read("ad")
    products = {
        name: ProductWording(**{**product, "conditions": tuple(product["conditions"])})
        for name, product in table["products"].items()
    }
    return GridWording(table["introduction"], table["coordinate"], table["choice"], table["steps"], products)


def _task(table: Mapping[str, Any], steps: Mapping[str, str], patterns: Slots | None = None) -> TaskWording:
    return TaskWording(tuple(table["questions"]), table.get("options", {}), steps, patterns or {})


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def fill(text: str, slots: Slots) -> str:
    """Return a text with its slots filled; a slot with a capital gets a value with a capital at its beginning."""
    return _SLOT.sub(lambda slot: _as_named(slot[1], slots[slot[1].lower()]), text)


def _as_named(slot: str, value: str) -> str:
    return value[:1].upper() + value[1:] if slot[0].isupper() else value


def read_slots(text: str, template: str, known: Slots, patterns: Slots) -> dict[str, str] | None:
    """Return what fills the slots of `template` in `text`, if it has its words; None if not.

    A slot whose value is `known` must hold it again, whatever the case of its letters.
    """
    seen: set[str] = set()

    def part(piece: str) -> str:
        slot = _SLOT.fullmatch(piece)
        if not slot:
            return re.escape(piece)
        name = slot[1].lower()
        if name in known:
            return re.escape(known[name])
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{patterns.get(name, '.+?')})"

    pieces = re.split(r"(\{\w+\})", template)
    found = re.fullmatch("".join(map(part, pieces)), text.strip(), re.IGNORECASE | re.DOTALL)
    return found.groupdict() if found else None


def shown(template: str, known: Slots) -> str:
    """Return a template for people, with its known slots filled and the others as `[slot]`."""
    return _SLOT.sub(lambda slot: _as_named(slot[1], known.get(slot[1].lower(), f"[{slot[1]}]")), template)


def task_steps(domain: Domain, category: Category, slots: Slots, truths: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a CCTV or RS record: fixed questions and formats, with the given ground truths by step."""
    wording, choices = task_wording(domain, category), STEP_CHOICES.get((domain, category), {})
    return [
        step_record(step_id, fill(text, slots), truths[step_id], SCHEMAS[domain, category][step_id], choices)
        for step_id, text in wording.steps.items()
    ]


def slide_steps(truths: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps Q1 to Q6.3 of a WSI record."""
    steps = slide_wording("T1").steps
    return [
        step_record(step_id, text, truths[step_id], WSI_FORMATS[step_id], WSI_OPTIONS)
        for step_id, text in steps.items()
    ]


def step_record(
    step_id: str, question: str, truth: object, answer_format: str, choices: Mapping[str, tuple[str, ...]] | None = None
) -> dict[str, Any]:
    """Return one step of a record; its `options` only where `choices` has some for its id."""
    fields = {"step_id": step_id, "question": question, "ground_truth": truth, "answer_format": answer_format}
    offered = (choices or {}).get(step_id, ())
    return {**fields, "options": list(offered)} if offered else fields


def grid_steps(product: str, grid: tuple[int, int], violated: frozenset[int], cell: str) -> list[dict[str, Any]]:
    """Return the steps of an AD record: the grid, the objects, a step for each condition of normality, the cell.

    `violated` are the indices of the conditions that the cell does not satisfy.
    """
    texts, wording = grid_wording().steps, grid_wording().products[product]
    rows, columns = grid
    opening = [
        step_record("S1", texts["rows"], rows, "integer"),
        step_record("S2", texts["columns"], columns, "integer"),
        step_record("S3", wording.objects, wording.objects_number, "integer"),
    ]
    conditions = [
        step_record(f"S{4 + index}", fill(texts["condition"], {"condition": text}), index not in violated, "boolean")
        for index, text in enumerate(wording.conditions)
    ]
    last = f"S{4 + len(conditions)}"
    return [*opening, *conditions, step_record(last, texts["cell"], cell, "short_text")]


def grid_question(product: str, grid: tuple[int, int], *, choices: bool) -> str:
    """Return the question of an AD record, for a coordinate or for one of four choices."""
    wording = grid_wording()
    known = wording.products[product]
    slots = {"rows": str(grid[0]), "columns": str(grid[1]), "many": known.many, "normality": known.normality}
    return fill(wording.introduction, slots) + (wording.choice if choices else wording.coordinate)
