"""Writes reports: tables to the terminal, every format to a file or standard output."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.panel import Panel
from rich.text import Text

from cli.arguments import ReportFormat
from cli.console import err, out
from cli.errors import CommandError
from cli.report_tables import report_tables
from evaluation.rendering.figures import FORMS, drawings, write_drawing
from evaluation.report import Report, render_csv, render_json, render_markdown

_RENDERERS: dict[ReportFormat, Callable[[Report], str]] = {
    ReportFormat.JSON: render_json,
    ReportFormat.MARKDOWN: render_markdown,
    ReportFormat.CSV: render_csv,
}


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
    """Print warnings, tables, the numbers of the figures, and what they rest on."""
    if report.warnings:
        out.print(
            Panel(Text("\n".join(report.warnings)), title="Read this first", border_style="yellow", expand=False),
            soft_wrap=False,
        )
    for table in report_tables(report):
        out.print(table, soft_wrap=False)
    for line in _foundations(report):
        out.print(line, markup=False)


def _foundations(report: Report) -> Iterator[str]:
    answered, expected = (sum(getattr(cell, name) for cell in report.cells) for name in ("answered", "expected"))
    yield f"{answered} of {expected} requests answered, over {report.samples} samples of {report.dataset}."
    made: Counter[str] = Counter()
    for origin in report.provenance:
        facts = (origin.engine, origin.version, origin.device, origin.model_revision)
        made[f"{origin.model}: {' '.join(fact for fact in facts if fact) or 'an unnamed engine'}"] += origin.responses
    yield from (f"{maker}, {responses} responses" for maker, responses in made.items())
    yield f"Answers parsed by {report.parser_version}. Brackets hold 95 % intervals, n counts what a number rests on."


def write_figures(report: Report, folder: Path) -> None:
    """Write every part of Figure 2 as SVG and PNG, and the numbers as JSON. Raises CommandError when there is none."""
    parts = drawings(report.figure2)
    if not parts:
        raise CommandError("there is no Figure 2: it needs responses under V2 to S2, S4 or S5 (`--plan table3`)")
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        for form in FORMS:
            (folder / f"{part.name}.{form}").write_bytes(write_drawing(part, form))
    (folder / "figure2.json").write_text(report.figure2.model_dump_json(indent=2), encoding="utf-8")
    err.print(f"figures written to {folder}: {', '.join(part.name for part in parts)}", markup=False)
