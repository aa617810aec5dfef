"""Scores that fill all tables, and the names of rows: models, and the condition where it is not the paper's."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from gigavqa.benchmarks.mmcr.answers import CAREFUL, MATCHER_VERSION
from gigavqa.benchmarks.mmcr.asking import PROMPT_FAMILIES, ROTATIONS
from gigavqa.benchmarks.mmcr.metrics import MatcherName, MMCRBaseScores, MMCRColumns, RotationScores
from gigavqa.benchmarks.mmcr.taxonomy import QUESTION_TYPES, type_title
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.tables import Column, Unit

READERS: dict[MatcherName, str] = {"matched": MATCHER_VERSION, "careful": CAREFUL}
PAPERS_CONDITION = "V2"


@dataclass(frozen=True)
class MMCRScores:
    """The questions, and what each model was asked of them."""

    base: MMCRBaseScores

    @cached_property
    def questions(self) -> MMCRColumns:
        """The questions as columns."""
        return MMCRColumns(self.base.samples)

    @cached_property
    def asked(self) -> list[RotationScores]:
        """Every (model, condition, family) of which any rotation was asked, in the report's order of models."""
        cells = [(cell.model, cell.condition, cell.protocol[:1]) for cell in self.base.cells]
        order = {model: at for at, model in enumerate(self.base.models)}
        places = sorted(
            set(cells), key=lambda one: (order[one[0]], one[1] != PAPERS_CONDITION, one[1], "NCI".find(one[2]))
        )
        return [RotationScores(self.base, self.questions, model, family, shown) for model, shown, family in places]

    def family(self, name: str) -> list[RotationScores]:
        """Return what was asked by one family of protocols."""
        return [asked for asked in self.asked if asked.family == name]

    def beside(self, asked: RotationScores, family: str) -> RotationScores | None:
        """Return what the same model was asked by another family under the same condition."""
        alike = (other for other in self.family(family) if (other.model, other.condition) == model_and_condition(asked))
        return next(alike, None)

    def title(self, asked: RotationScores) -> str:
        """Return the model, and what it was shown where that is not every page natively."""
        title = self.base.title_of(asked.model)
        if asked.condition == PAPERS_CONDITION:
            return title
        sizes = sorted({size for _, _, size in self.shown(asked) if size != "native"})
        return " ".join([title, "·", asked.condition, *sizes])

    def shown(self, asked: RotationScores) -> Counter[tuple[int, int, str]]:
        """Pages, visual tokens and sizing of the prompts, with how many there were."""
        keys = (CellKey(asked.model, f"{asked.family}{k}", asked.condition) for k in ROTATIONS)
        found: Counter[tuple[int, int, str]] = Counter()
        for key in keys:
            found.update(self.base.cell(*key).traits)
        return found


def model_and_condition(asked: RotationScores) -> tuple[str, str]:
    """Return who was asked, and under which condition."""
    return asked.model, asked.condition


def row_keys(asked: RotationScores, reader: MatcherName = "matched") -> dict[str, str]:
    """Return what machines know a row by."""
    return {"model": asked.model, "condition": asked.condition, "matcher": READERS[reader]}


def number_column(
    key: str,
    title: str,
    metric: str,
    unit: Unit = "rate",
    keys: Mapping[str, str] | None = None,
    *,
    label: str = "",
    strong: bool = False,
    note: str = "",
) -> Column:
    """Return a column of numbers with two decimals, as the paper prints them; `keys` name the groups that it is of."""
    named = {"metric": metric, **(keys or {})}
    return Column(key=key, title=title, unit=unit, decimals=2, label=label, strong=strong, note=note, keys=named)


def type_columns(metric: str) -> tuple[Column, ...]:
    """Return a column for each of the ten types, in the paper's order."""
    return tuple(number_column(kind, type_title(kind), metric, keys={"type": kind}) for kind in QUESTION_TYPES)


def family_title(name: str) -> str:
    """Return what tables call a family of protocols."""
    return {"N": "without CoT", "C": "CoT", "I": "InternVL's CoT"}.get(name, PROMPT_FAMILIES.get(name, name))


def reader_suffix(reader: MatcherName) -> str:
    """Return what names of tables by the careful reader end with."""
    return "" if reader == "matched" else f"_{reader}"


def reader_phrase(reader: MatcherName) -> str:
    """Return what captions say of the reader."""
    return "" if reader == "matched" else " Read by the careful reader instead of the paper's matcher."
