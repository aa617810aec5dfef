"""What all tables are filled from: settings, the samples of each level, and how rows and columns are called."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.vistahop.asking import DIRECT, PAPERS_ROUNDS, SEARCH, SEARCH_CROP
from benchmarks.vistahop.metrics import Setting, pass_at_1, settings_of
from benchmarks.vistahop.rules import RULES
from benchmarks.vistahop.samples import Sample
from benchmarks.vistahop.taxonomy import LEVELS
from evaluation.metrics.estimates import Estimate
from evaluation.metrics.intervals import Floats, Indices
from evaluation.tables import Column, Row, Unit, Value
from evaluation.verdicts import Verdicts

TITLES = {DIRECT: "No-Tool", SEARCH: "Search", SEARCH_CROP: "Search+Crop"}
PICTURED = "V2"


@dataclass(frozen=True)
class Sheet:
    """The settings of all models, and the samples that they were asked."""

    verdicts: Verdicts
    samples: Sequence[Sample]
    settings: Sequence[Setting]

    @classmethod
    def of(cls, verdicts: Verdicts) -> "Sheet":
        """Take what tables need of verdicts."""
        samples = [sample for sample in verdicts.samples if isinstance(sample, Sample)]
        return cls(verdicts, samples, settings_of(verdicts))

    @property
    def judge(self) -> str:
        """Whose verdicts the scores are."""
        return next(iter(self.verdicts.judges), RULES)

    @cached_property
    def levels(self) -> dict[str, Indices]:
        """Positions of the samples of each level that has any; L2 and L3 always."""
        found = {level: self.positions("level", level) for level in LEVELS}
        return {level: at for level, at in found.items() if at.size or level != LEVELS[0]}

    def positions(self, group: str, name: str) -> Indices:
        """Where the samples of a group are."""
        found = [at for at, sample in enumerate(self.samples) if sample.groups.get(group) == name]
        return np.array(found, dtype=np.intp)

    def pictured(self, model: str) -> list[Setting]:
        """The settings of a model that show the picture."""
        return [one for one in self.settings if one.model == model and one.condition == PICTURED]

    def compared(self, model: str) -> dict[str, Setting]:
        """Of each protocol the setting of Table 4: with ten rounds, else with as many as there are."""
        found: dict[str, Setting] = {}
        for one in self.pictured(model):
            if one.protocol not in found or one.limit == PAPERS_ROUNDS:
                found[one.protocol] = one
        return {name: found[name] for name in TITLES if name in found}

    def title(self, one: Setting) -> str:
        """Model and setting; the rounds where they are not the paper's, and V0 where no picture is shown."""
        told = f"N = {one.limit}" if one.limit else "N not told"
        rounds = "" if one.protocol == DIRECT or one.limit == PAPERS_ROUNDS else f" · {told}"
        blind = " · text alone" if one.condition != PICTURED else ""
        return f"{self.verdicts.title_of(one.model)} · {TITLES.get(one.protocol, one.protocol)}{rounds}{blind}"

    def row(self, one: Setting, values: Sequence[Value], title: str = "", **keys: str) -> Row:
        """A row of a setting."""
        return Row(title=title or self.title(one), keys=keys_of(one) | keys, values=tuple(values))

    def level_columns(self) -> tuple[Column, ...]:
        """P@1 over all, and of each level."""
        levels = (number(level, level, "pass_at_1", "rate", 2, level=level) for level in self.levels)
        return (number("p1", "P@1", "pass_at_1", "rate", 2, strong=True), *levels)

    def passed(self, scores: Floats) -> Iterator[Estimate]:
        """The values of those columns."""
        yield pass_at_1(scores)
        yield from (pass_at_1(scores, at) for at in self.levels.values())


def keys_of(one: Setting) -> dict[str, str]:
    """What machines know a row by."""
    return {"model": one.model, "protocol": one.protocol, "condition": one.condition, "rounds": str(one.limit)}


def number(
    key: str, title: str, metric: str, unit: Unit = "number", decimals: int = 2, *, strong: bool = False,
    note: str = "", **keys: str,
) -> Column:  # fmt: skip
    """A column of numbers, as many digits behind the point as the paper prints."""
    named = {"metric": metric, **keys}
    return Column(key=key, title=title, unit=unit, decimals=decimals, strong=strong, note=note, keys=named)


def count(key: str, title: str, **keys: str) -> Column:
    """A column of whole numbers."""
    return Column(key=key, title=title, unit="count", keys={"metric": key, **keys})
