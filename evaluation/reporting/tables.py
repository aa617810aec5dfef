"""Tables 1 and 2 of the paper (section 5)."""

from collections.abc import Mapping

from catalogue.entry import CatalogueEntry
from evaluation.metrics.accuracy import Macros, Strata
from evaluation.reporting.cells import abstention_rate, domain_scores
from evaluation.reporting.expected import Expected
from evaluation.reporting.models import Table1Row, Table2Row
from evaluation.tally import CellKey, CellTally, Tally

TABLE2_CONDITIONS = ("V1", "V2", "V3", "V4")
GAPS = {"res": ("V2", "V1"), "access": ("V3", "V2"), "aug": ("V4", "V2")}
"""Columns of Table 2 as (condition, less the condition)."""


def build_table1(
    tally: Tally, expected: Expected, strata: Strata, catalogue: Mapping[str, CatalogueEntry]
) -> tuple[Table1Row, ...]:
    """One row for every model that was asked S0 under V2 or V0."""
    return tuple(
        _row1(model, tally, strata, catalogue)
        for model in expected.models
        if any(cell.condition in ("V0", "V2") for cell in expected.of_model(model))
    )


def build_table2(
    tally: Tally, expected: Expected, strata: Strata, catalogue: Mapping[str, CatalogueEntry]
) -> tuple[Table2Row, ...]:
    """One row for every model that was asked S0 under V1, V3 or V4."""
    return tuple(
        _row2(model, tally, strata, catalogue)
        for model in expected.models
        if any(cell.condition in ("V1", "V3", "V4") for cell in expected.of_model(model))
    )


def _row1(model: str, tally: Tally, strata: Strata, catalogue: Mapping[str, CatalogueEntry]) -> Table1Row:
    macros = _macros(model, ("V0", "V2"), tally, strata)
    budget = catalogue[model].visual_budget if model in catalogue else None
    full = _cell(model, "V2", tally).correctness(len(tally.dataset.samples))
    return Table1Row(
        model=model,
        title=_title(model, catalogue),
        max_visual_tokens=budget.max_visual_tokens if budget else None,
        effective_resolution=budget.effective_resolution if budget else None,
        domains=domain_scores(full, strata),
        macro=macros.accuracy("V2"),
        text_only=macros.accuracy("V0"),
        abstention=abstention_rate(_cell(model, "V0", tally)),
        visual_gap=macros.gap("V2", "V0"),
    )


def _row2(model: str, tally: Tally, strata: Strata, catalogue: Mapping[str, CatalogueEntry]) -> Table2Row:
    macros = _macros(model, TABLE2_CONDITIONS, tally, strata)
    return Table2Row(
        model=model,
        title=_title(model, catalogue),
        conditions={condition: macros.accuracy(condition) for condition in TABLE2_CONDITIONS},
        gaps={name: macros.gap(first, second) for name, (first, second) in GAPS.items()},
    )


def _macros(model: str, conditions: tuple[str, ...], tally: Tally, strata: Strata) -> Macros:
    count = len(tally.dataset.samples)
    return Macros.of({name: _cell(model, name, tally).correctness(count) for name in conditions}, strata)


def _cell(model: str, condition: str, tally: Tally) -> CellTally:
    return tally.cells.get(CellKey(model, "S0", condition), CellTally())


def _title(model: str, catalogue: Mapping[str, CatalogueEntry]) -> str:
    return catalogue[model].title if model in catalogue else model
