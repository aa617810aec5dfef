"""A report as Markdown: caveats first, then every table in full, what was left out, and provenance."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from evaluation.counts import counted
from evaluation.report import Maker, Report
from evaluation.tables import Column, Row, Table, Value
from evaluation.writers.numbers import in_full
from evaluation.writers.visible import visible
from evaluation.writers.work import job_line, work_lines


def render_markdown(report: Report) -> str:
    """Write a report; texts of models and records become neither elements nor links."""
    parts = [
        f"# {_plain(report.title)} report: {_plain(report.dataset)}",
        *_caveats(report),
        *(part for table in report.tables for part in _table(table)),
        *_excluded(report),
        *_work(report),
        *_provenance(report),
    ]
    return "\n\n".join(parts) + "\n"


def _caveats(report: Report) -> Iterator[str]:
    if report.caveats:
        yield "\n".join(f"> **Warning:** {_plain(caveat.text)}" + "  " for caveat in report.caveats)


def _table(table: Table) -> Iterator[str]:
    """Heading, caption and rows; a column's heading names its group, unless its label does."""
    if not table.rows:
        return
    yield f"{'###' if table.detail else '##'} {_plain(table.title)}"
    if table.caption:
        yield _plain(table.caption)
    columns = table.columns
    header = ["", *(_plain(" ".join(column.name.split())) for column in columns)]
    yield _grid(
        header,
        (
            [
                _plain(row.title),
                *(_value(value, column, row) for value, column in zip(row.values, columns, strict=True)),
            ]
            for row in table.rows
        ),
    )


def _value(value: Value, column: Column, row: Row) -> str:
    text = _plain(in_full(value, column))
    return f"**{text}**" if column.key in row.best else text


def _grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _excluded(report: Report) -> Iterator[str]:
    lines = [
        f"- {_plain(str(cell.key))}: {exclusion.count} × {_plain(exclusion.reason)}: "
        + ", ".join(map(_plain, exclusion.samples[:10]))
        + (", …" if len(exclusion.samples) > 10 else "")
        for cell in report.cells
        for exclusion in cell.excluded
    ]
    if lines:
        yield "## Left out of every accuracy"
        yield "\n".join(lines)


def _work(report: Report) -> Iterator[str]:
    lines = [f"- {name.lower()}: {_plain(told)}" for name, told in work_lines(report)]
    if lines:
        yield "## The work"
        yield "\n".join(lines)


def _provenance(report: Report) -> Iterator[str]:
    yield "## Provenance"
    read = ", ".join(f"{what} by `{version}`" for what, version in report.versions.items())
    lines = [
        f"- data set {_plain(report.dataset)}, {report.samples} samples, digest `{report.dataset_digest}`",
        f"- responses read: {read}",
        *(
            _plain(line)
            for one in report.revisions
            for line in (f"- {one}", *(f"  - {change}" for change in one.changes))
        ),
        *(_plain(f"- job {job.id}: {job_line(job)}") for job in report.jobs),
        *(_source(source) for source in report.provenance),
    ]
    yield "\n".join(lines)
    if report.departures:
        yield "## Departures from the paper"
        yield "\n".join(_plain(f"- {departure}") for departure in report.departures)


def _source(source: Maker) -> str:
    engine = f"{source.engine or 'unknown engine'} {source.version or ''}".strip()
    sampling = ", ".join(f"{name} {value}" for name, value in source.sampling.items()) or "sampling unknown"
    shown = (f"{name} {value}" for name, value in source.settings if value)
    sampling += f"; not sent: {', '.join(source.not_sent)}" if source.not_sent else ""
    facts = [
        counted(source.responses, "response"),
        engine,
        source.device,
        source.model_revision,
        source.prompt_version,
        *shown,
    ]
    return _plain(f"- {source.model}: {', '.join(fact for fact in facts if fact)}; {sampling}")


def _plain(text: str) -> str:
    """Keep a text from being markup: no elements, no links, no line ends."""
    return visible(" ".join(escape(text, quote=False).replace("](", "]\\(").splitlines()))
