"""Tables of a report as a page shows them: headed columns, and cells with interval, count and shade."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks.ultravr.samples import Operation
from benchmarks.ultravr.taxonomy import CATEGORIES, DOMAINS
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.rendering.numbers import MISSING, percent, signed_points
from evaluation.reporting.models import Report, StepProfile, Table1Row, Table2Row, Table3Row

SHORT = {
    "comparison": "Comp.",
    "logical_verification": "Logic",
    "relational_inference": "Rel.",
    "logical_anomaly": "L-Anom.",
    "structural_anomaly": "S-Anom.",
}
Row = TypeVar("Row", Table1Row, Table2Row, Table3Row)
OPERATIONS: tuple[Operation, ...] = ("GND", "PER", "QUA", "INT", "INF")


@dataclass(frozen=True)
class Cell:
    """One cell: what is printed, what is said of it, and how strongly it is shaded (0 to 1, negative for losses)."""

    text: str
    note: str = ""
    shade: float | None = None
    strong: bool = False


@dataclass(frozen=True)
class Group:
    """Columns that share a heading."""

    title: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table with its heading rows; `rows` are (title, cells)."""

    id: str
    title: str
    caption: str
    groups: tuple[Group, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...] = field(default=())


def tables(report: Report) -> list[Table]:
    """Return the tables that hold any row."""
    built = (_table1(report), _table2(report), _table3(report), _steps(report.steps))
    return [table for table in built if table.rows]


def rate(estimate: Estimate, *, strong: bool = False) -> Cell:
    """Show a rate in percent, shaded by how high it is."""
    return Cell(percent(estimate), _note(estimate), estimate.value, strong)


def loss(estimate: Estimate) -> Cell:
    """Show a rate in percent of which less is better."""
    return Cell(percent(estimate), _note(estimate), None if estimate.value is None else -estimate.value)


def gap(estimate: Estimate) -> Cell:
    """Show a difference in points, shaded by sign and size; 50 points are full strength."""
    shade = None if estimate.value is None else max(-1.0, min(1.0, 2 * estimate.value))
    return Cell(signed_points(estimate), _note(estimate), shade)


def _note(estimate: Estimate) -> str:
    if estimate.value is None:
        return "nothing to count"
    if estimate.low is None or estimate.high is None:
        return f"n = {estimate.count}"
    return f"95 % interval {100 * estimate.low:.1f} to {100 * estimate.high:.1f}, n = {estimate.count}"


def _table1(report: Report) -> Table:
    return Table(
        "table1",
        "Table 1: end to end",
        "S0 under V2: the full image, the question and its options. Accuracy in %, beside the text-only control V0.",
        (
            Group("All domains", ("macro", "text only", "abstains", "unreadable", "visual gap")),
            *(Group(domain.upper(), (*(SHORT[name] for name in CATEGORIES[domain]), "all")) for domain in DOMAINS),
            Group("Visual budget", ("max tokens", "max side")),
        ),
        tuple((row.title, tuple(_cells1(row))) for row in _with_mean(report.table1, report.means.table1)),
    )


def _cells1(row: Table1Row) -> Iterator[Cell]:
    yield rate(row.macro, strong=True)
    yield rate(row.text_only)
    yield rate(row.abstention)
    yield loss(row.unreadable)
    yield gap(row.visual_gap)
    for domain in DOMAINS:
        score = row.domains.get(domain)
        for category in CATEGORIES[domain]:
            yield rate(score.categories.get(category, NOTHING) if score else NOTHING)
        yield rate(score.overall if score else NOTHING, strong=True)
    yield Cell(f"{row.max_visual_tokens:,}" if row.max_visual_tokens else MISSING)
    yield Cell(f"{row.effective_resolution:,}" if row.effective_resolution else MISSING)


def _table2(report: Report) -> Table:
    rows = _with_mean(report.table2, report.means.table2)
    return Table(
        "table2",
        "Table 2: access to visual evidence",
        "S0. V1 thumbnail, V2 full image, V3 local evidence alone, V4 both. Macro accuracy in %, gaps in points.",
        _columns("Condition", "conditions", rows),
        tuple((row.title, tuple(_pairs(row.conditions, row.gaps))) for row in rows),
    )


def _table3(report: Report) -> Table:
    rows = _with_mean(report.table3, report.means.table3)
    return Table(
        "table3",
        "Table 3: reasoning formats",
        "V2. S0 direct, S1 step by step, S2 with the step schema, S3 few-shot, S4 steps one by one, S5 with given "
        "steps. Macro accuracy in %, gaps in points.",
        _columns("Protocol", "protocols", rows),
        tuple((row.title, tuple(_pairs(row.protocols, row.gaps))) for row in rows),
    )


def _columns(title: str, values: str, rows: Sequence[Table2Row] | Sequence[Table3Row]) -> tuple[Group, ...]:
    if not rows:
        return ()
    return (Group(title, tuple(getattr(rows[0], values))), Group("Gap", tuple(f"Δ {name}" for name in rows[0].gaps)))


def _pairs(values: Mapping[str, Estimate], gaps: Mapping[str, Estimate]) -> Iterator[Cell]:
    yield from (rate(estimate) for estimate in values.values())
    yield from (gap(estimate) for estimate in gaps.values())


def _steps(profiles: Sequence[StepProfile]) -> Table:
    return Table(
        "steps",
        "Steps by operation",
        "Share of annotated steps answered rightly, in %, by the operation that a step asks for (equation 5).",
        (Group("Operation", OPERATIONS),),
        tuple(
            (
                f"{profile.title} · {profile.protocol} {profile.condition}",
                tuple(rate(profile.operations.get(name, NOTHING)) for name in OPERATIONS),
            )
            for profile in profiles
        ),
    )


def _with_mean(rows: Sequence[Row], mean: Row | None) -> list[Row]:
    found: list[Row] = list(rows)
    if mean is not None:
        found.append(mean)
    return found
