"""Scores that fill all tables: settings, the samples of each level, and how rows and columns are called."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gigavqa.benchmarks.vistahop.asking import DIRECT, PAPERS_ROUNDS, SEARCH, SEARCH_CROP
from gigavqa.benchmarks.vistahop.metrics import SettingScores, VistaHopBaseScores, collect_settings, pass_at_1
from gigavqa.benchmarks.vistahop.rule_judge import RULES_VERSION
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.benchmarks.vistahop.taxonomy import LEVELS
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices
from gigavqa.evaluation.tables import Column, Row, Unit, Value

PROTOCOL_TITLES = {DIRECT: "No-Tool", SEARCH: "Search", SEARCH_CROP: "Search+Crop"}
IMAGE_CONDITION = "V2"


@dataclass(frozen=True)
class VistaHopScores:
    """The settings of all models, and the samples that they were asked."""

    base: VistaHopBaseScores

    @property
    def samples(self) -> Sequence[VistaHopSample]:
        """The samples of the data set."""
        return self.base.samples

    @cached_property
    def settings(self) -> Sequence[SettingScores]:
        """Every setting of which there are chats, in the report's order."""
        return collect_settings(self.base)

    @property
    def judge(self) -> str:
        """Whose verdicts the scores are."""
        return next(iter(self.base.judges), RULES_VERSION)

    @cached_property
    def levels(self) -> dict[str, Indices]:
        """Positions of the samples of each level that has any; L2 and L3 always."""
        found = {level: self.positions("level", level) for level in LEVELS}
        return {level: at for level, at in found.items() if at.size or level != LEVELS[0]}

    def positions(self, group: str, name: str) -> Indices:
        """Return where the samples of a group are."""
        found = [at for at, sample in enumerate(self.samples) if sample.groups.get(group) == name]
        return np.array(found, dtype=np.intp)

    def pictured(self, model: str) -> list[SettingScores]:
        """Return the settings of a model that show the picture."""
        return [one for one in self.settings if one.model == model and one.condition == IMAGE_CONDITION]

    def compared(self, model: str) -> dict[str, SettingScores]:
        """Of each protocol the setting of Table 4: with ten rounds, else with as many as there are."""
        found: dict[str, SettingScores] = {}
        for one in self.pictured(model):
            if one.protocol not in found or one.limit == PAPERS_ROUNDS:
                found[one.protocol] = one
        return {name: found[name] for name in PROTOCOL_TITLES if name in found}

    def named(self, model: str, *rest: str) -> str:
        """Return what a row is called: its model, where there are several, and what else tells it from others."""
        models = [self.base.title_of(model)] if len(self.base.models) > 1 else []
        return " · ".join([*models, *rest])

    def title(self, one: SettingScores) -> str:
        """Model and setting; the rounds where they are not the paper's, and V0 where no picture is shown."""
        told = f"N = {one.limit}" if one.limit else "N not told"
        rounds = [] if one.protocol == DIRECT or one.limit == PAPERS_ROUNDS else [told]
        blind = ["text alone"] if one.condition != IMAGE_CONDITION else []
        return self.named(one.model, PROTOCOL_TITLES.get(one.protocol, one.protocol), *rounds, *blind)

    def row(self, one: SettingScores, values: Sequence[Value], title: str = "", **keys: str) -> Row:
        """Return a row of a setting."""
        return Row(title=title or self.title(one), keys=row_keys(one) | keys, values=tuple(values))

    def level_columns(self) -> tuple[Column, ...]:
        """P@1 over all, and of each level."""
        levels = (number_column(level, level, "pass_at_1", "rate", 2, level=level) for level in self.levels)
        return (number_column("p1", "P@1", "pass_at_1", "rate", 2, strong=True), *levels)

    def passed(self, scores: Floats) -> Iterator[Estimate]:
        """Yield the values of those columns."""
        yield pass_at_1(scores)
        yield from (pass_at_1(scores, at) for at in self.levels.values())


def row_keys(one: SettingScores) -> dict[str, str]:
    """Return what machines know a row by."""
    return {"model": one.model, "protocol": one.protocol, "condition": one.condition, "rounds": str(one.limit)}


def number_column(
    key: str, title: str, metric: str, unit: Unit = "number", decimals: int = 2, *, strong: bool = False,
    note: str = "", **keys: str,
) -> Column:  # fmt: skip
    """Return a column of numbers, as many digits behind the point as the paper prints."""
    named = {"metric": metric, **keys}
    return Column(key=key, title=title, unit=unit, decimals=decimals, strong=strong, note=note, keys=named)


def count_column(key: str, title: str, **keys: str) -> Column:
    """Return a column of whole numbers."""
    return Column(key=key, title=title, unit="count", keys={"metric": key, **keys})
