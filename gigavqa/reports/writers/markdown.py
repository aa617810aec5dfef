"""A report as Markdown: caveats first, then every table in full, what was left out, and provenance."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from gigavqa.evaluation.tables import Column, Row, Table, Value
from gigavqa.reports.report import ProvenanceEntry, Report
from gigavqa.reports.writers.cost_lines import job_line, work_lines
from gigavqa.reports.writers.escaping import escape_controls
from gigavqa.reports.writers.numbers import format_full
from gigavqa.runtime.plurals import count_noun


def render_markdown(report: Report) -> str:
    """Write a report; texts of models and records become neither elements nor links."""
    parts = [
        f"# {_escape_markup(report.title)} report: {_escape_markup(report.dataset)}",
        *_caveats(report),
        *(part for table in report.tables for part in _table(table)),
        *_exclusion_lines(report),
        *_work(report),
        *_provenance(report),
    ]
    return "\n\n".join(parts) + "\n"


def _caveats(report: Report) -> Iterator[str]:
    if report.caveats:
        yield "\n".join(f"> **Warning:** {_escape_markup(caveat.text)}" + "  " for caveat in report.caveats)


def _table(table: Table) -> Iterator[str]:
    """Heading, caption and rows; a column's heading names its group, unless its label does."""
    if not table.rows:
        return
    yield f"{'###' if table.detail else '##'} {_escape_markup(table.title)}"
    if table.caption:
        yield _escape_markup(table.caption)
    columns = table.columns
    header = ["", *(_escape_markup(" ".join(column.name.split())) for column in columns)]
    yield _grid(
        header,
        (
            [
                _escape_markup(row.title),
                *(_value(value, column, row) for value, column in zip(row.values, columns, strict=True)),
            ]
            for row in table.rows
        ),
    )


def _value(value: Value, column: Column, row: Row) -> str:
    text = _escape_markup(format_full(value, column))
    return f"**{text}**" if column.key in row.best else text


def _grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _exclusion_lines(report: Report) -> Iterator[str]:
    lines = [
        f"- {_escape_markup(str(cell.key))}: {exclusion.count} × {_escape_markup(exclusion.reason)}: "
        + ", ".join(map(_escape_markup, exclusion.samples[:10]))
        + (", …" if len(exclusion.samples) > 10 else "")
        for cell in report.cells
        for exclusion in cell.excluded
    ]
    if lines:
        yield "## Left out of every accuracy"
        yield "\n".join(lines)


def _work(report: Report) -> Iterator[str]:
    lines = [f"- {name.lower()}: {_escape_markup(told)}" for name, told in work_lines(report)]
    if lines:
        yield "## The work"
        yield "\n".join(lines)


def _provenance(report: Report) -> Iterator[str]:
    yield "## Provenance"
    read = ", ".join(f"{what} by `{version}`" for what, version in report.versions.items())
    lines = [
        f"- data set {_escape_markup(report.dataset)}, {report.samples} samples, digest `{report.dataset_digest}`",
        f"- responses read: {read}",
        *(
            _escape_markup(line)
            for one in report.revisions
            for line in (f"- {one}", *(f"  - {change}" for change in one.changes))
        ),
        *(_escape_markup(f"- job {job.id}: {job_line(job)}") for job in report.jobs),
        *(_source(source) for source in report.provenance),
    ]
    yield "\n".join(lines)
    if report.departures:
        yield "## Departures from the paper"
        yield "\n".join(_escape_markup(f"- {departure}") for departure in report.departures)


def _source(source: ProvenanceEntry) -> str:
    engine = f"{source.engine or 'unknown engine'} {source.version or ''}".strip()
    sampling = ", ".join(f"{name} {value}" for name, value in source.sampling.items()) or "sampling unknown"
    shown = (f"{name} {value}" for name, value in source.settings if value)
    sampling += f"; not sent: {', '.join(source.not_sent)}" if source.not_sent else ""
    facts = [
        count_noun(source.responses, "response"),
        engine,
        source.device,
        source.model_revision,
        source.prompt_version,
        *shown,
    ]
    return _escape_markup(f"- {source.model}: {', '.join(fact for fact in facts if fact)}; {sampling}")


def _escape_markup(text: str) -> str:
    """Keep a text from being markup: no elements, no links, no line ends."""
    return escape_controls(" ".join(escape(text, quote=False).replace("](", "]\\(").splitlines()))
