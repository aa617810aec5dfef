"""Reports at a terminal: one column per model, one line per number, each with its interval and count."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cli.console import err, out
from cli.score import ReportFormat
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.rendering.numbers import MISSING, interval, percent, signed_points
from evaluation.report import Report, render_csv, render_json, render_markdown
from evaluation.reporting.models import Table1Row, Table2Row
from evaluation.ultravr.taxonomy import CATEGORIES, DOMAINS

_RENDERERS: dict[ReportFormat, Callable[[Report], str]] = {
    ReportFormat.JSON: render_json,
    ReportFormat.MARKDOWN: render_markdown,
    ReportFormat.CSV: render_csv,
}
_GAP_NAMES = {"res": "resolution: V2 − V1", "access": "access: V3 − V2", "aug": "augmentation: V4 − V2"}
_CONDITION_NAMES = {"V1": "V1 thumbnail", "V2": "V2 full image", "V3": "V3 local evidence", "V4": "V4 full + local"}

Number = Callable[[Estimate], str]


def write_report(report: Report, form: ReportFormat, output: Path | None) -> None:
    """Write a report in a format; tables go to the terminal, or as plain text into `output`."""
    if form is not ReportFormat.TABLE:
        write_text(_RENDERERS[form](report), output)
    elif output is None:
        print_report(report)
    else:
        with out.capture() as captured:
            print_report(report)
        write_text(Text.from_ansi(captured.get()).plain, output)


def write_text(text: str, output: Path | None) -> None:
    """Write to a file, or as it is to standard output."""
    if output is None:
        out.file.write(text if text.endswith("\n") else text + "\n")
    else:
        output.write_text(text, encoding="utf-8")
        err.print(f"report written to {output}", markup=False)


def print_report(report: Report) -> None:
    """Print warnings, Table 1, Table 2, and what they rest on."""
    if report.warnings:
        out.print(Panel(Text("\n".join(report.warnings)), title="Read this first", border_style="yellow", expand=False))
    if report.table1:
        out.print(_table1(report.table1))
    if report.table2:
        out.print(_table2(report.table2))
    for line in _foundations(report):
        out.print(line, markup=False)


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
            _add(table, name, [_score(row, domain, category) for row in rows], percent)
        _add(table, f"{domain.upper():5}overall", [_score(row, domain, None) for row in rows], percent, style="bold")
        table.add_section()
    _add(table, "macro", [row.macro for row in rows], percent, style="bold")
    _add(table, "text only (V0)", [row.text_only for row in rows], percent)
    _add(table, "abstained (V0)", [row.abstention for row in rows], percent)
    _add(table, "visual gap: V2 − V0", [row.visual_gap for row in rows], signed_points)
    return table


def _table2(rows: Sequence[Table2Row]) -> Table:
    table = _empty("Table 2 · access to visual evidence: S0, macro accuracy in %", [row.title for row in rows])
    for name in rows[0].conditions:
        _add(table, _CONDITION_NAMES.get(name, name), [row.conditions[name] for row in rows], percent)
    table.add_section()
    for name in rows[0].gaps:
        _add(table, _GAP_NAMES.get(name, name), [row.gaps[name] for row in rows], signed_points)
    return table


def _foundations(report: Report) -> Iterator[str]:
    answered, expected = (sum(getattr(cell, name) for cell in report.cells) for name in ("answered", "expected"))
    yield f"{answered} of {expected} requests answered, over {report.samples} samples of {report.dataset}."
    made: Counter[str] = Counter()
    for origin in report.provenance:
        facts = (origin.engine, origin.version, origin.device, origin.model_revision)
        made[f"{origin.model}: {' '.join(fact for fact in facts if fact) or 'an unnamed engine'}"] += origin.responses
    yield from (f"{maker}, {responses} responses" for maker, responses in made.items())
    yield f"Answers parsed by {report.parser_version}. Brackets hold 95 % intervals, n counts what a number rests on."


def _empty(title: str, models: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    table.add_column("")
    for model in models:
        table.add_column(model, justify="right")
    return table


def _add(table: Table, name: str, estimates: Sequence[Estimate], number: Number, style: str = "") -> None:
    table.add_row(name, *(_cell(estimate, number) for estimate in estimates), style=style)


def _cell(estimate: Estimate, number: Number) -> Text:
    if estimate.value is None:
        return Text(MISSING, style="dim")
    return Text.assemble(number(estimate), (f"{interval(estimate):>16}", "dim"), (f"  n={estimate.count:<4}", "dim"))


def _score(row: Table1Row, domain: str, category: str | None) -> Estimate:
    score = row.domains.get(domain)
    if score is None:
        return NOTHING
    return score.categories.get(category, NOTHING) if category else score.overall
