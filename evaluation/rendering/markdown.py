"""A report as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.ultravr.taxonomy import CATEGORIES, DOMAINS
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.rendering.markdown_steps import step_parts
from evaluation.rendering.markdown_tables import escaped, table
from evaluation.rendering.numbers import MISSING, full, percent, signed_points
from evaluation.reporting.models import CellScore, DomainScore, Report, Table1Row, Table2Row, Table3Row

_SHORT = {
    "comparison": "Comp.",
    "logical_verification": "Logic",
    "relational_inference": "Rel.",
    "logical_anomaly": "L-Anom.",
    "structural_anomaly": "S-Anom.",
}


def render_markdown(report: Report) -> str:
    """Write a report with its warnings first, then tables, figures, intervals, counts and provenance."""
    report = Report.model_validate(escaped(report.model_dump()))
    means = report.means
    parts = [
        f"# UltraVR report: {report.dataset}",
        *_warnings(report),
        *_table1([*report.table1, *([means.table1] if means.table1 else [])]),
        *_table2([*report.table2, *([means.table2] if means.table2 else [])]),
        *_table3([*report.table3, *([means.table3] if means.table3 else [])]),
        *step_parts(report),
        *_counts(report.cells),
        *_excluded(report),
        *_provenance(report),
    ]
    return "\n\n".join(parts) + "\n"


def _warnings(report: Report) -> Iterator[str]:
    if report.warnings:
        yield "\n".join(f"> **Warning:** {warning}" + "  " for warning in report.warnings)


def _table1(rows: Sequence[Table1Row]) -> Iterator[str]:
    if not rows:
        return
    columns = [(domain, category) for domain in DOMAINS for category in (*CATEGORIES[domain], None)]
    header = ["Model", "Max visual tokens", "Max res. (px)"]
    header += [f"{domain.upper()} {_SHORT[category] if category else 'overall'}" for domain, category in columns]
    yield "## Table 1: end to end, S0 under V2, accuracy in %"
    yield table(
        [*header, "Macro", "Text-only acc.", "Abs. rate", "Unreadable", "Visual gap"],
        (
            [
                row.title,
                str(row.max_visual_tokens or MISSING),
                f"{row.effective_resolution}²" if row.effective_resolution else MISSING,
                *(full(percent(found), found) for found in (_score(row.domains, *column) for column in columns)),
                full(percent(row.macro), row.macro),
                full(percent(row.text_only), row.text_only),
                full(percent(row.abstention), row.abstention),
                full(percent(row.unreadable), row.unreadable),
                full(signed_points(row.visual_gap), row.visual_gap),
            ]
            for row in rows
        ),
    )


def _score(domains: Mapping[str, DomainScore], domain: str, category: str | None) -> Estimate:
    score = domains.get(domain)
    if score is None:
        return NOTHING
    return score.categories.get(category, NOTHING) if category else score.overall


def _table2(rows: Sequence[Table2Row]) -> Iterator[str]:
    if rows:
        yield "## Table 2: access to visual evidence, S0, macro accuracy in %"
        yield _contrasts([(row.title, row.conditions, row.gaps) for row in rows])
        yield from _by_category(
            "Table 2", [(row.title, name, row.domains[name]) for row in rows for name in row.domains]
        )


def _table3(rows: Sequence[Table3Row]) -> Iterator[str]:
    if rows:
        yield "## Table 3: reasoning formats under V2, macro accuracy in %"
        yield _contrasts([(row.title, row.protocols, row.gaps) for row in rows])
        yield from _by_category(
            "Table 3", [(row.title, name, row.domains[name]) for row in rows for name in row.domains]
        )


def _contrasts(rows: Sequence[tuple[str, Mapping[str, Estimate], Mapping[str, Estimate]]]) -> str:
    _, accuracies, gaps = rows[0]
    return table(
        ["Model", *accuracies, *(f"Δ {gap}" for gap in gaps)],
        (
            [
                title,
                *(full(percent(found[name]), found[name]) for name in accuracies),
                *(full(signed_points(differences[name]), differences[name]) for name in gaps),
            ]
            for title, found, differences in rows
        ),
    )


def _by_category(name: str, rows: Sequence[tuple[str, str, Mapping[str, DomainScore]]]) -> Iterator[str]:
    present = [row for row in rows if any(score.overall.value is not None for score in row[2].values())]
    columns = [
        (domain, category)
        for domain in DOMAINS
        if any(domain in row[2] for row in present)
        for category in (*CATEGORIES[domain], None)
    ]
    if present:
        yield f"{name} by domain and category, accuracy in % with its 95 % interval and count:"
        yield table(
            [
                "Model",
                "Cell",
                *(f"{domain.upper()} {_SHORT[category] if category else 'overall'}" for domain, category in columns),
            ],
            (
                [title, cell, *(full(percent(found), found) for found in (_score(row, *column) for column in columns))]
                for title, cell, row in present
            ),
        )


def _counts(cells: Sequence[CellScore]) -> Iterator[str]:
    yield "## What the numbers rest on"
    yield "Accuracy in % with its 95 % interval and the number of samples; statuses count how answers were found."
    yield table(
        ["Model", "Protocol", "Condition", "Accuracy", "Over repeats", "Answered", "Expected", "Parse statuses"],
        (
            [
                cell.model,
                cell.protocol,
                cell.condition,
                "<br>".join(
                    f"{name}: {full(percent(score.overall), score.overall)}" for name, score in cell.domains.items()
                ),
                _spread(cell),
                str(cell.answered),
                str(cell.expected),
                ", ".join(f"{status} {count}" for status, count in cell.statuses.items()),
            ]
            for cell in cells
        ),
    )


def _spread(cell: CellScore) -> str:
    if cell.repeats is None:
        return MISSING
    return f"{100 * cell.repeats.mean:.1f} ± {100 * cell.repeats.deviation:.1f} (k={len(cell.repeats.values)})"


def _excluded(report: Report) -> Iterator[str]:
    lines = [
        f"- {cell.model} {cell.protocol} {cell.condition}: {exclusion.count} × {exclusion.reason}: "
        + ", ".join(exclusion.samples[:10])
        + (", …" if len(exclusion.samples) > 10 else "")
        for cell in report.cells
        for exclusion in cell.excluded
    ]
    if lines:
        yield "## Left out of every accuracy"
        yield "\n".join(lines)


def _provenance(report: Report) -> Iterator[str]:
    yield "## Provenance"
    lines = [f"- data set {report.dataset}, {report.samples} samples, digest `{report.dataset_digest[:16]}`"]
    lines.append(f"- answers parsed by `{report.parser_version}`, steps by `{report.step_parser_version}`")
    for origin in report.provenance:
        engine = f"{origin.engine or 'unknown engine'} {origin.version or ''}".strip()
        sampling = ", ".join(f"{name} {value}" for name, value in origin.sampling.items()) or "sampling unknown"
        facts = [f"{origin.responses} responses", engine, origin.device, origin.model_revision, origin.prompt_version]
        lines.append(f"- {origin.model}: {', '.join(fact for fact in facts if fact)}; {sampling}")
    yield "\n".join(lines)
