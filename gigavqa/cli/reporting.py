"""Writes reports: tables to the terminal, every format to a file or standard output."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.panel import Panel
from rich.text import Text

from gigavqa.cli.arguments import ReportFormat
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err, out
from gigavqa.cli.errors import CommandError
from gigavqa.client.calls import ReportFormat as WireFormat
from gigavqa.contract.jobs import Job
from gigavqa.reports.report import Report
from gigavqa.reports.writers.cost_lines import job_line, work_lines
from gigavqa.reports.writers.drawings import DRAWING_FORMATS, list_drawings, write_drawing
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.terminal import report_tables
from gigavqa.runtime.home import Home

_SAVED_FORMATS: tuple[WireFormat, ...] = ("html", "md", "json", "csv")
_RENDERERS: dict[ReportFormat, Callable[[Report], str]] = {
    ReportFormat.JSON: render_json,
    ReportFormat.MARKDOWN: render_markdown,
    ReportFormat.CSV: render_csv,
    ReportFormat.LATEX: render_latex,
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
    if report.caveats:
        out.print(
            Panel(
                Text("\n".join(caveat.text for caveat in report.caveats)),
                title="Read this first",
                border_style="yellow",
                expand=False,
            ),
            soft_wrap=False,
        )
    for table in report_tables(report):
        out.print(table, soft_wrap=False)
    for line in _basis_lines(report):
        out.print(line, markup=False)


def print_report_table(report: Report, name: str) -> None:
    """Print one table of a report, where there is one."""
    chosen = report.model_copy(update={"tables": tuple(table for table in report.tables if table.name == name)})
    for table in report_tables(chosen):
        out.print(table, soft_wrap=False)


def _basis_lines(report: Report) -> Iterator[str]:
    answered, expected = (sum(getattr(cell, name) for cell in report.cells) for name in ("answered", "expected"))
    yield f"{answered} of {expected} requests answered, over {report.samples} samples of {report.dataset}."
    made: Counter[str] = Counter()
    for origin in report.provenance:
        facts = (origin.engine, origin.version, origin.device, origin.model_revision)
        made[f"{origin.model}: {' '.join(fact for fact in facts if fact) or 'an unnamed engine'}"] += origin.responses
    yield from (f"{maker}, {responses} responses" for maker, responses in made.items())
    yield from (f"{name}: {told}" for name, told in work_lines(report))
    yield from (f"Job {job.id}: {job_line(job)}" for job in report.jobs)
    read = ", ".join(f"{what} by {version}" for what, version in report.versions.items())
    for revision in report.revisions:
        yield f"The same answers were {revision}."
        yield from (f"  {change}" for change in revision.changes)
    yield f"Responses read: {read}. Brackets hold 95 % intervals, n counts what a number rests on."


def save_report(gateway: TerminalClient, job: Job, home: Home) -> Path:
    """Write a job's report in all forms and its raw responses into a folder of the home, and return the folder."""
    folder = home.folder / "reports" / job.id
    folder.mkdir(parents=True, exist_ok=True)
    for form in _SAVED_FORMATS:
        (folder / f"report.{form}").write_text(gateway.report(job.id, form=form), encoding="utf-8")
    with (folder / "responses.ndjson").open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in gateway.result_lines(job.id))
    return folder


def read_report(folder: Path) -> Report:
    """Return the report that `save_report` wrote into a folder."""
    return Report.model_validate_json((folder / "report.json").read_text(encoding="utf-8"))


def write_figures(report: Report, folder: Path) -> None:
    """Write every figure as SVG and PNG, and its numbers as JSON. Raises CommandError when there is none."""
    found = list_drawings(report)
    if not found:
        raise CommandError("the report has no figure: its benchmark draws none of these responses")
    folder.mkdir(parents=True, exist_ok=True)
    for drawing in found:
        figure = drawing.figure
        for form in DRAWING_FORMATS:
            (folder / f"{figure.name}.{form}").write_bytes(write_drawing(drawing, form))
        if table := report.table(figure.table):
            (folder / f"{figure.name}.json").write_text(table.model_dump_json(indent=2), encoding="utf-8")
    err.print(f"figures written to {folder}: {', '.join(drawing.figure.name for drawing in found)}", markup=False)
