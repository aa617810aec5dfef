"""The tables of a report at a terminal: one column per model, one line per number, with its interval and count."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from benchmarks.ultravr.taxonomy import CATEGORIES, DOMAINS
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.operations import OPERATIONS
from evaluation.rendering.numbers import MISSING, interval, percent, signed_points
from evaluation.reporting.models import DomainScore, Figure2, Report, Table1Row, Table2Row, Table3Row

_ROW_NAMES = {
    "V1": "V1 thumbnail",
    "V2": "V2 full image",
    "V3": "V3 local evidence",
    "V4": "V4 full + local",
    "S0": "S0 direct",
    "S1": "S1 step by step",
    "S2": "S2 step schema",
    "S3": "S3 examples",
    "S4": "S4 own steps",
    "S5": "S5 given steps",
    "res": "resolution: V2 − V1",
    "access": "access: V3 − V2",
    "aug": "augmentation: V4 − V2",
    "text": "text: S1 − S0",
    "schema": "schema: S2 − S0",
    "iter": "iteration: S4 − S2",
    "GT": "ground truth: S5 − S4",
}

Number = Callable[[Estimate], str]


def report_tables(report: Report) -> Iterator[Table]:
    """Yield Tables 1 to 3, each with the mean over models last, and Figure 2 as numbers."""
    means = report.means
    if report.table1:
        yield _table1([*report.table1, *([means.table1] if means.table1 else [])])
    if report.table2:
        yield _table2([*report.table2, *([means.table2] if means.table2 else [])])
    if report.table3:
        yield _table3([*report.table3, *([means.table3] if means.table3 else [])])
    yield from _figure2(report.figure2)


def _table1(rows: Sequence[Table1Row]) -> Table:
    table = _empty("Table 1 · end to end: S0 under V2, accuracy in %", [row.title for row in rows])
    table.add_row(
        "max visual tokens", *(f"{row.max_visual_tokens:,}" if row.max_visual_tokens else MISSING for row in rows)
    )
    table.add_row(
        "max resolution (px)",
        *(f"{row.effective_resolution:,}²" if row.effective_resolution else MISSING for row in rows),
    )
    table.add_section()
    for domain in DOMAINS:
        for category in CATEGORIES[domain]:
            name = f"{domain.upper():5}{category.replace('_', ' ')}"
            _add(table, name, [_score(row.domains, domain, category) for row in rows], percent)
        scores = [_score(row.domains, domain, None) for row in rows]
        _add(table, f"{domain.upper():5}overall", scores, percent, style="bold")
        table.add_section()
    _add(table, "macro", [row.macro for row in rows], percent, style="bold")
    _add(table, "text only (V0)", [row.text_only for row in rows], percent)
    _add(table, "abstained (V0)", [row.abstention for row in rows], percent)
    _add(table, "unreadable (V2)", [row.unreadable for row in rows], percent)
    _add(table, "visual gap: V2 − V0", [row.visual_gap for row in rows], signed_points)
    return table


def _table2(rows: Sequence[Table2Row]) -> Table:
    table = _empty("Table 2 · access to visual evidence: S0, macro accuracy in %", [row.title for row in rows])
    _contrasts(table, [row.conditions for row in rows], [row.gaps for row in rows], [row.domains for row in rows])
    return table


def _table3(rows: Sequence[Table3Row]) -> Table:
    table = _empty("Table 3 · reasoning formats: V2, macro accuracy in %", [row.title for row in rows])
    _contrasts(table, [row.protocols for row in rows], [row.gaps for row in rows], [row.domains for row in rows])
    return table


def _contrasts(
    table: Table,
    accuracies: Sequence[Mapping[str, Estimate]],
    gaps: Sequence[Mapping[str, Estimate]],
    domains: Sequence[Mapping[str, Mapping[str, DomainScore]]],
) -> None:
    for name in accuracies[0]:
        _add(table, _ROW_NAMES[name], [found[name] for found in accuracies], percent, style="bold")
        for domain in DOMAINS:
            scores = [_score(found.get(name, {}), domain, None) for found in domains]
            if any(score.value is not None for score in scores):
                _add(table, f"   {domain.upper()}", scores, percent)
    table.add_section()
    for name in gaps[0]:
        _add(table, _ROW_NAMES[name], [found[name] for found in gaps], signed_points)


def _figure2(figure: Figure2) -> Iterator[Table]:
    if figure.a:
        table = _empty("Figure 2a · step error under S2, in points from the mean", [row.title for row in figure.a])
        _add(table, "mean step error (%)", [row.mean_error for row in figure.a], percent, style="bold")
        for operation in OPERATIONS:
            _add(table, operation, [row.deltas.get(operation, NOTHING) for row in figure.a], signed_points)
        yield table
    if figure.b:
        table = _empty("Figure 2b · step accuracy under S5, in %", [row.title for row in figure.b])
        for operation in OPERATIONS:
            _add(table, operation, [row.operations.get(operation, NOTHING) for row in figure.b], percent)
        yield table
    if figure.c:
        table = _empty("Figure 2c · where S4 fails first, in % of trajectories", [row.title for row in figure.c])
        for outcome in figure.c[0].outcomes:
            _add(table, outcome, [row.outcomes[outcome] for row in figure.c], percent)
        yield table


def _empty(title: str, models: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    table.add_column("")
    for model in models:
        table.add_column(Text(model), justify="right")
    return table


def _add(table: Table, name: str, estimates: Sequence[Estimate], number: Number, style: str = "") -> None:
    table.add_row(name, *(_cell(estimate, number) for estimate in estimates), style=style)


def _cell(estimate: Estimate, number: Number) -> Text:
    if estimate.value is None:
        return Text(MISSING, style="dim")
    return Text.assemble(number(estimate), (f"{interval(estimate):>16}", "dim"), (f"  n={estimate.count:<4}", "dim"))


def _score(domains: Mapping[str, DomainScore], domain: str, category: str | None) -> Estimate:
    score = domains.get(domain)
    if score is None:
        return NOTHING
    return score.categories.get(category, NOTHING) if category else score.overall
