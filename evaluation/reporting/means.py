"""The last row of each table: plain means over models, as the paper prints them."""

from collections.abc import Iterable, Mapping, Sequence

from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.reporting.models import DomainScore, Means, Table1Row, Table2Row, Table3Row

MEAN = "mean"
TITLE = "Mean"


def build_means(table1: Sequence[Table1Row], table2: Sequence[Table2Row], table3: Sequence[Table3Row]) -> Means:
    """Average each table's rows; a table with fewer than two rows has no mean."""
    return Means(
        table1=_mean1(table1) if len(table1) > 1 else None,
        table2=_mean2(table2) if len(table2) > 1 else None,
        table3=_mean3(table3) if len(table3) > 1 else None,
    )


def _mean1(rows: Sequence[Table1Row]) -> Table1Row:
    return Table1Row(
        model=MEAN,
        title=TITLE,
        max_visual_tokens=None,
        effective_resolution=None,
        domains=_domains([row.domains for row in rows]),
        macro=mean_over_models(row.macro for row in rows),
        text_only=mean_over_models(row.text_only for row in rows),
        abstention=mean_over_models(row.abstention for row in rows),
        unreadable=mean_over_models(row.unreadable for row in rows),
        visual_gap=mean_over_models(row.visual_gap for row in rows),
    )


def _mean2(rows: Sequence[Table2Row]) -> Table2Row:
    return Table2Row(
        model=MEAN,
        title=TITLE,
        conditions=_each([row.conditions for row in rows]),
        gaps=_each([row.gaps for row in rows]),
        domains={name: _domains([row.domains[name] for row in rows]) for name in rows[0].domains},
    )


def _mean3(rows: Sequence[Table3Row]) -> Table3Row:
    return Table3Row(
        model=MEAN,
        title=TITLE,
        protocols=_each([row.protocols for row in rows]),
        gaps=_each([row.gaps for row in rows]),
        domains={name: _domains([row.domains[name] for row in rows]) for name in rows[0].domains},
    )


def mean_over_models(estimates: Iterable[Estimate]) -> Estimate:
    """Average the models that have the number; the count is of models, and there is no interval."""
    known = [estimate.value for estimate in estimates if estimate.value is not None]
    return Estimate(value=sum(known) / len(known), count=len(known)) if known else NOTHING


def _each(rows: Sequence[Mapping[str, Estimate]]) -> dict[str, Estimate]:
    return {name: mean_over_models(row[name] for row in rows if name in row) for name in _names(rows)}


def _domains(rows: Sequence[Mapping[str, DomainScore]]) -> dict[str, DomainScore]:
    scores = {name: [row[name] for row in rows if name in row] for name in _names(rows)}
    return {
        name: DomainScore(
            overall=mean_over_models(score.overall for score in found),
            categories=_each([score.categories for score in found]),
        )
        for name, found in scores.items()
    }


def _names(rows: Sequence[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))
