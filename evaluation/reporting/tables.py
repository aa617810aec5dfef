"""Tables 1 to 3 of the paper (section 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catalogue.entry import CatalogueEntry
from evaluation.metrics.accuracy import Macros, Strata
from evaluation.metrics.estimates import Estimate
from evaluation.reporting.cells import abstention_rate, domain_scores, unreadable_rate
from evaluation.reporting.expected import Expected
from evaluation.reporting.models import DomainScore, Table1Row, Table2Row, Table3Row
from evaluation.reporting.titles import title_of
from evaluation.tally import CellKey, CellTally, Tally

TABLE2_CONDITIONS = ("V1", "V2", "V3", "V4")
TABLE2_GAPS = {"res": ("V2", "V1"), "access": ("V3", "V2"), "aug": ("V4", "V2")}
"""Columns of Table 2 as (condition, less the condition)."""

TABLE3_PROTOCOLS = ("S0", "S1", "S2", "S3", "S4", "S5")
TABLE3_GAPS = {"text": ("S1", "S0"), "schema": ("S2", "S0"), "iter": ("S4", "S2"), "GT": ("S5", "S4")}
"""Columns of Table 3 as (protocol, less the protocol): what the printed columns hold; the caption names others."""


@dataclass(frozen=True)
class Sources:
    """What tables are filled from."""

    tally: Tally
    expected: Expected
    strata: Strata
    catalogue: Mapping[str, CatalogueEntry]

    def models_asked(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """The models that were asked any of the (protocol, condition) pairs."""
        wanted = list(pairs)
        return [model for model in self.expected.models if self.expected.has(model, wanted)]

    def cell(self, model: str, protocol: str, condition: str) -> CellTally:
        """The verdicts of a cell; none where it was not asked."""
        return self.tally.cells.get(CellKey(model, protocol, condition), CellTally())

    def contrast(self, model: str, cells: Mapping[str, tuple[str, str]]) -> "_Contrast":
        """Set the named (protocol, condition) pairs of a model side by side."""
        count = len(self.tally.dataset.samples)
        correct = {name: self.cell(model, *pair).correctness(count) for name, pair in cells.items()}
        macros = Macros(correct, self.strata)
        return _Contrast(macros, {name: domain_scores(values, self.strata) for name, values in correct.items()})


@dataclass(frozen=True)
class _Contrast:
    macros: Macros
    domains: dict[str, dict[str, DomainScore]]

    def accuracies(self) -> dict[str, Estimate]:
        return {name: self.macros.accuracy(name) for name in self.macros.names}

    def gaps(self, pairs: Mapping[str, tuple[str, str]]) -> dict[str, Estimate]:
        return {name: self.macros.gap(first, second) for name, (first, second) in pairs.items()}


def build_table1(sources: Sources) -> tuple[Table1Row, ...]:
    """One row for every model that was asked S0 under V2 or V0."""
    models = sources.models_asked([("S0", "V2"), ("S0", "V0")])
    return tuple(_row1(sources, model) for model in models)


def build_table2(sources: Sources) -> tuple[Table2Row, ...]:
    """One row for every model that was asked S0 under V1, V3 or V4."""
    models = sources.models_asked(("S0", condition) for condition in TABLE2_CONDITIONS if condition != "V2")
    return tuple(_row2(sources, model) for model in models)


def build_table3(sources: Sources) -> tuple[Table3Row, ...]:
    """One row for every model that was asked S1 to S5 under V2."""
    models = sources.models_asked((protocol, "V2") for protocol in TABLE3_PROTOCOLS if protocol != "S0")
    return tuple(_row3(sources, model) for model in models)


def _row1(sources: Sources, model: str) -> Table1Row:
    contrast = sources.contrast(model, {"V0": ("S0", "V0"), "V2": ("S0", "V2")})
    budget = sources.catalogue[model].visual_budget if model in sources.catalogue else None
    return Table1Row(
        model=model,
        title=title_of(model, sources.catalogue),
        max_visual_tokens=budget.nominal_visual_tokens if budget else None,
        effective_resolution=budget.effective_resolution if budget else None,
        domains=contrast.domains["V2"],
        macro=contrast.macros.accuracy("V2"),
        text_only=contrast.macros.accuracy("V0"),
        abstention=abstention_rate(sources.cell(model, "S0", "V0")),
        unreadable=unreadable_rate(sources.cell(model, "S0", "V2")),
        visual_gap=contrast.macros.gap("V2", "V0"),
    )


def _row2(sources: Sources, model: str) -> Table2Row:
    contrast = sources.contrast(model, {condition: ("S0", condition) for condition in TABLE2_CONDITIONS})
    return Table2Row(
        model=model,
        title=title_of(model, sources.catalogue),
        conditions=contrast.accuracies(),
        gaps=contrast.gaps(TABLE2_GAPS),
        domains=contrast.domains,
    )


def _row3(sources: Sources, model: str) -> Table3Row:
    contrast = sources.contrast(model, {protocol: (protocol, "V2") for protocol in TABLE3_PROTOCOLS})
    return Table3Row(
        model=model,
        title=title_of(model, sources.catalogue),
        protocols=contrast.accuracies(),
        gaps=contrast.gaps(TABLE3_GAPS),
        domains=contrast.domains,
    )
