"""A report as Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.rendering.numbers import MISSING, full, percent, signed_points
from evaluation.reporting.models import CellScore, Report, Table1Row, Table2Row
from evaluation.ultravr.taxonomy import CATEGORIES, DOMAINS

_SHORT = {
    "comparison": "Comp.",
    "logical_verification": "Logic",
    "relational_inference": "Rel.",
    "logical_anomaly": "L-Anom.",
    "structural_anomaly": "S-Anom.",
}


def render_markdown(report: Report) -> str:
    """Write a report with its warnings first, then tables, intervals, counts and provenance."""
    parts = [
        f"# UltraVR report: {report.dataset}",
        *_warnings(report),
        *_table1(report.table1),
        *_table2(report.table2),
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
    yield _table(
        [*header, "Macro", "Text-only acc.", "Abs. rate", "Visual gap"],
        (
            [
                row.title,
                str(row.max_visual_tokens or MISSING),
                f"{row.effective_resolution}²" if row.effective_resolution else MISSING,
                *(percent(_score(row, domain, category)) for domain, category in columns),
                full(percent(row.macro), row.macro),
                full(percent(row.text_only), row.text_only),
                full(percent(row.abstention), row.abstention),
                full(signed_points(row.visual_gap), row.visual_gap),
            ]
            for row in rows
        ),
    )


def _score(row: Table1Row, domain: str, category: str | None) -> Estimate:
    score = row.domains.get(domain)
    if score is None:
        return NOTHING
    return score.categories.get(category, NOTHING) if category else score.overall


def _table2(rows: Sequence[Table2Row]) -> Iterator[str]:
    if not rows:
        return
    conditions, gaps = list(rows[0].conditions), list(rows[0].gaps)
    yield "## Table 2: access to visual evidence, S0, macro accuracy in %"
    yield _table(
        ["Model", *conditions, *(f"Δ {gap}" for gap in gaps)],
        (
            [
                row.title,
                *(full(percent(row.conditions[name]), row.conditions[name]) for name in conditions),
                *(full(signed_points(row.gaps[name]), row.gaps[name]) for name in gaps),
            ]
            for row in rows
        ),
    )


def _counts(cells: Sequence[CellScore]) -> Iterator[str]:
    yield "## What the numbers rest on"
    yield "Accuracy in % with its 95 % interval and the number of samples; statuses count how answers were found."
    yield _table(
        ["Model", "Protocol", "Condition", "Accuracy", "Answered", "Expected", "Parse statuses"],
        (
            [
                cell.model,
                cell.protocol,
                cell.condition,
                "<br>".join(
                    f"{name}: {full(percent(score.overall), score.overall)}" for name, score in cell.domains.items()
                ),
                str(cell.answered),
                str(cell.expected),
                ", ".join(f"{status} {count}" for status, count in cell.statuses.items()),
            ]
            for cell in cells
        ),
    )


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
    lines.append(f"- answers parsed by `{report.parser_version}`")
    for origin in report.provenance:
        engine = f"{origin.engine or 'unknown engine'} {origin.version or ''}".strip()
        sampling = ", ".join(f"{name} {value}" for name, value in origin.sampling.items()) or "sampling unknown"
        facts = [f"{origin.responses} responses", engine, origin.device, origin.model_revision, origin.prompt_version]
        lines.append(f"- {origin.model}: {', '.join(fact for fact in facts if fact)}; {sampling}")
    yield "\n".join(lines)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
