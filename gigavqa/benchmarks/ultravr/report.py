"""Tables 1 to 3 of the paper (section 5), and with them the profiles of steps and Figure 2."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gigavqa.benchmarks.ultravr.conditions import OPTIONS_OUTSIDE
from gigavqa.benchmarks.ultravr.example_tables import example_caveats, example_table
from gigavqa.benchmarks.ultravr.judging import UltraVRDetails
from gigavqa.benchmarks.ultravr.scores import UltraVRScores
from gigavqa.benchmarks.ultravr.step_tables import step_contents
from gigavqa.benchmarks.ultravr.taxonomy import CATEGORIES, DOMAINS, Domain
from gigavqa.evaluation.cell_scores import GroupScore, group_scores, outcome_rate
from gigavqa.evaluation.metrics.accuracy import Contrast, Grouping, Strata
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.score_frame import ScoreFrame
from gigavqa.evaluation.tables import Caveat, Column, ColumnGroup, Contents, Row, Table, mean_row

TABLE2_CONDITIONS = {"V1": "V1 thumbnail", "V2": "V2 full image", "V3": "V3 local evidence", "V4": "V4 full + local"}
TABLE2_GAPS = {"res": ("V2", "V1"), "access": ("V3", "V2"), "aug": ("V4", "V2")}
"""Columns of Table 2 as (condition, less the condition)."""

TABLE3_PROTOCOLS = {
    "S0": "S0 direct",
    "S1": "S1 step by step",
    "S2": "S2 step schema",
    "S3": "S3 examples",
    "S4": "S4 own steps",
    "S5": "S5 given steps",
}
TABLE3_GAPS = {"text": ("S1", "S0"), "schema": ("S2", "S0"), "iter": ("S4", "S2"), "GT": ("S5", "S4")}
"""Columns of Table 3 as (protocol, less the protocol): what the printed columns hold; the caption names others."""

_GAP_NAMES = {
    "res": "resolution",
    "access": "access",
    "aug": "augmentation",
    "text": "text",
    "schema": "schema",
    "iter": "iteration",
    "GT": "ground truth",
}
_SHORT = {
    "comparison": "Comp.",
    "logical_verification": "Logic",
    "relational_inference": "Rel.",
    "logical_anomaly": "L-Anom.",
    "structural_anomaly": "S-Anom.",
}


def report(scores: UltraVRScores, grouping: Grouping) -> Contents:
    """Fill the tables that have any row."""
    strata = Strata.of(scores.columns, grouping)
    process = step_contents(scores, strata)
    tables = (_table1(scores, strata), *_table2(scores, strata), *_table3(scores, strata), *process.tables)
    tables = (*tables, example_table(scores.frame))
    caveats = (*example_caveats(scores.frame), *_block_caveats(scores.frame), *process.caveats)
    return process.model_copy(update={"tables": tuple(table for table in tables if table.rows), "caveats": caveats})


def _block_caveats(frame: ScoreFrame[UltraVRDetails]) -> Iterator[Caveat]:
    """Tell of responses whose prompts said where a sheet lies that does not hold every option."""
    for key in frame.cells:
        if number := sum(count for (name, *_), count in frame.of_cell(key).traits.items() if name == "ruled_out"):
            yield Caveat(scope="cell", text=f"{key}: {number} responses: {OPTIONS_OUTSIDE}")


@dataclass(frozen=True)
class _CellColumns:
    """The named (protocol, condition) pairs of a model side by side."""

    scores: UltraVRScores
    strata: Strata
    model: str
    cells: Mapping[str, tuple[str, str]]

    @cached_property
    def contrast(self) -> Contrast:
        """Their accuracies and the gaps between them."""
        means = {name: self.scores.means(self.model, *pair) for name, pair in self.cells.items()}
        return Contrast(means, self.strata)

    def groups(self, name: str) -> dict[str, GroupScore]:
        """Accuracies of one of them by domain and category."""
        return group_scores(self.contrast.scores[name], self.strata)


def _table1(scores: UltraVRScores, strata: Strata) -> Table:
    """One row for every model that was asked S0 under V2 or V0."""
    groups = (
        ColumnGroup(title="All domains", columns=tuple(_overall_columns())),
        *_domain_groups({"protocol": "S0", "condition": "V2"}),
        ColumnGroup(
            title="Visual budget",
            columns=(
                Column(key="max_visual_tokens", title="max tokens", label="max visual tokens", unit="count"),
                Column(key="effective_resolution", title="max side", label="max resolution (px, squared)", unit="count",
                       note="side in pixels of the largest square that keeps its pixels"),
            ),
        ),
    )  # fmt: skip
    models = scores.models_asked([("S0", "V2"), ("S0", "V0")])
    return _add_mean_row(
        Table(
            name="table1",
            title="Table 1: end to end",
            caption="S0 under V2: the full image, the question and its options. Accuracy in %, beside the text-only "
            "control V0.",
            groups=groups,
            rows=tuple(_table1_row(scores, strata, model) for model in models),
        )
    )


def _overall_columns() -> Iterator[Column]:
    v2, v0 = {"protocol": "S0", "condition": "V2"}, {"protocol": "S0", "condition": "V0"}
    yield Column(key="macro", title="macro", keys={**v2, "metric": "macro_accuracy"}, strong=True,
                 note="mean over domains (equation 2)")  # fmt: skip
    yield Column(
        key="text_only", title="text only", label="text only (V0)", keys={**v0, "metric": "text_only_accuracy"}
    )
    yield Column(key="abstention", title="abstains", label="abstained (V0)", keys={**v0, "metric": "abstention_rate"})
    yield Column(key="unreadable", title="unreadable", label="unreadable (V2)", unit="loss",
                 keys={**v2, "metric": "unreadable_rate"})  # fmt: skip
    yield Column(key="visual_gap", title="visual gap", label="visual gap: V2 − V0", unit="difference",
                 keys={"protocol": "S0", "condition": "V2-V0", "metric": "visual_gap"},
                 note="equation 3, over samples with both")  # fmt: skip


def _table1_row(scores: UltraVRScores, strata: Strata, model: str) -> Row:
    side = _CellColumns(scores, strata, model, {"V0": ("S0", "V0"), "V2": ("S0", "V2")})
    budget = scores.catalogue[model].visual_budget if model in scores.catalogue else None
    return Row(
        title=scores.title_of(model),
        keys={"model": model},
        values=(
            side.contrast.accuracy("V2"),
            side.contrast.accuracy("V0"),
            outcome_rate(scores.cell(model, "S0", "V0"), "abstained"),
            outcome_rate(scores.cell(model, "S0", "V2"), "unreadable"),
            side.contrast.gap("V2", "V0"),
            *_domain_values(side.groups("V2")),
            budget.nominal_visual_tokens if budget else None,
            budget.effective_resolution if budget else None,
        ),
    )


def _table2(scores: UltraVRScores, strata: Strata) -> Iterator[Table]:
    """One row for every model that was asked S0 under V1, V3 or V4; and the same by domain and category."""
    models = scores.models_asked(("S0", condition) for condition in TABLE2_CONDITIONS if condition != "V2")
    cells = {condition: ("S0", condition) for condition in TABLE2_CONDITIONS}
    sides = [_CellColumns(scores, strata, model, cells) for model in models]
    columns = (
        Column(key=name, title=name, label=label, strong=True,
               keys={"protocol": "S0", "condition": name, "metric": "macro_accuracy"})
        for name, label in TABLE2_CONDITIONS.items()
    )  # fmt: skip
    yield _contrast_table(
        "table2",
        "Table 2: access to visual evidence",
        "S0. V1 thumbnail, V2 full image, V3 local evidence alone, V4 both. Macro accuracy in %, gaps in points.",
        (
            ColumnGroup(title="Condition", columns=tuple(columns)),
            ColumnGroup(title="Gap", columns=tuple(_gap_columns(TABLE2_GAPS, {"protocol": "S0"}))),
        ),
        sides=sides,
        gaps=TABLE2_GAPS,
    )
    yield _domain_table("table2", "Table 2 by domain and category", sides)


def _table3(scores: UltraVRScores, strata: Strata) -> Iterator[Table]:
    """One row for every model that was asked S1 to S5 under V2; and the same by domain and category."""
    models = scores.models_asked((protocol, "V2") for protocol in TABLE3_PROTOCOLS if protocol != "S0")
    cells = {protocol: (protocol, "V2") for protocol in TABLE3_PROTOCOLS}
    sides = [_CellColumns(scores, strata, model, cells) for model in models]
    columns = (
        Column(key=name, title=name, label=label, strong=True,
               keys={"protocol": name, "condition": "V2", "metric": "macro_accuracy"})
        for name, label in TABLE3_PROTOCOLS.items()
    )  # fmt: skip
    yield _contrast_table(
        "table3",
        "Table 3: reasoning formats",
        "V2. S0 direct, S1 step by step, S2 with the step schema, S3 few-shot, S4 steps one by one, S5 with given "
        "steps. Macro accuracy in %, gaps in points.",
        (
            ColumnGroup(title="Protocol", columns=tuple(columns)),
            ColumnGroup(title="Gap", columns=tuple(_gap_columns(TABLE3_GAPS, {"condition": "V2"}))),
        ),
        sides=sides,
        gaps=TABLE3_GAPS,
    )
    yield _domain_table("table3", "Table 3 by domain and category", sides)


def _gap_columns(gaps: Mapping[str, tuple[str, str]], keys: Mapping[str, str]) -> Iterator[Column]:
    for name, (first, second) in gaps.items():
        yield Column(
            key=f"gap_{name}",
            title=f"Δ {name}",
            label=f"{_GAP_NAMES[name]}: {first} − {second}",
            unit="difference",
            keys={**keys, "metric": f"gap_{name}"},
        )


def _contrast_table(
    name: str,
    title: str,
    caption: str,
    groups: tuple[ColumnGroup, ...],
    *,
    sides: Sequence[_CellColumns],
    gaps: Mapping[str, tuple[str, str]],
) -> Table:
    rows = tuple(
        Row(
            title=side.scores.title_of(side.model),
            keys={"model": side.model},
            values=(
                *(side.contrast.accuracy(cell) for cell in side.cells),
                *(side.contrast.gap(first, second) for first, second in gaps.values()),
            ),
        )
        for side in sides
    )
    return _add_mean_row(Table(name=name, title=title, caption=caption, groups=groups, rows=rows))


def _domain_table(name: str, title: str, sides: Sequence[_CellColumns]) -> Table:
    """One row for every cell of a model that has a number, and the means over models; all domains that occur."""
    found = [(side, cell, side.groups(cell)) for side in sides for cell in side.cells]
    present = [row for row in found if any(score.overall.value is not None for score in row[2].values())]
    domains = [domain for domain in DOMAINS if any(domain in groups for _, _, groups in present)]
    rows = tuple(
        Row(
            title=f"{side.scores.title_of(side.model)} · {cell}",
            keys={"model": side.model, "protocol": side.cells[cell][0], "condition": side.cells[cell][1]},
            values=tuple(_domain_values(groups, domains)),
        )
        for side, cell, groups in present
    )
    table = Table(
        name=f"{name}_categories",
        title=title,
        caption="Accuracy in % by domain and category.",
        groups=_domain_groups({}, domains),
        rows=rows,
        detail=True,
    )
    means = (_cell_mean_row(table, cell) for cell in (sides[0].cells.values() if sides else ()))
    return table.model_copy(update={"rows": (*rows, *(mean for mean in means if mean))})


def _cell_mean_row(table: Table, cell: tuple[str, str]) -> Row | None:
    rows = tuple(row for row in table.rows if (row.keys["protocol"], row.keys["condition"]) == cell)
    if mean := mean_row(rows, table.columns):
        name = rows[0].title.rpartition(" · ")[2]
        keys = {"model": "mean", "protocol": cell[0], "condition": cell[1]}
        return mean.model_copy(update={"title": f"Mean · {name}", "keys": keys})
    return None


def _add_mean_row(table: Table) -> Table:
    """Return the last row: plain means over models, as the paper prints them."""
    mean = mean_row(table.rows, table.columns)
    return table.model_copy(update={"rows": (*table.rows, mean)}) if mean else table


def _domain_groups(keys: Mapping[str, str], domains: Sequence[Domain] = DOMAINS) -> tuple[ColumnGroup, ...]:
    return tuple(
        ColumnGroup(
            title=domain.upper(),
            columns=(
                *(
                    Column(
                        key=f"{domain}/{category}",
                        title=_SHORT[category],
                        label=f"{domain.upper():5}{category.replace('_', ' ')}",
                        keys={**keys, "domain": domain, "category": category, "metric": "accuracy"},
                    )
                    for category in CATEGORIES[domain]
                ),
                Column(
                    key=domain,
                    title="all",
                    label=f"{domain.upper():5}overall",
                    keys={**keys, "domain": domain, "metric": "accuracy"},
                    strong=True,
                ),
            ),
        )
        for domain in domains
    )


def _domain_values(groups: Mapping[str, GroupScore], domains: Sequence[Domain] = DOMAINS) -> Iterator[Estimate]:
    for domain in domains:
        score = groups.get(domain)
        for category in CATEGORIES[domain]:
            yield score.subgroups.get(category, NO_ESTIMATE) if score else NO_ESTIMATE
        yield score.overall if score else NO_ESTIMATE
