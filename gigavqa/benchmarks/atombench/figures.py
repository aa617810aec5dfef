"""Figures 3 and 5 to 8: the tables that they draw, and how."""

from collections.abc import Sequence

from gigavqa.benchmarks.atombench.metrics import pearson
from gigavqa.benchmarks.atombench.scores import AtomScores, complement
from gigavqa.benchmarks.atombench.sums import DEFAULT_RULE, THRESHOLDS
from gigavqa.benchmarks.atombench.tables import rate_column
from gigavqa.benchmarks.atombench.taxonomy import DIMENSION_OF, DOMAINS, MOST_STEPS, SCOPES, TITLES
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.tables import Column, ColumnGroup, Contents, Figure, Row, Table

_SHORT = {
    "built_environment": "Built",
    "social_characteristics": "Social",
    "structured_symbols": "Symbols",
    "natural_characteristics": "Nature",
}
_RADAR = ("clq", "colq", "rcs", "grounded", "rrs")


def figures(standings: Sequence[AtomScores]) -> Contents:
    """Fill the tables of the figures; what has rows is drawn."""
    tables = (_figure3a(standings), _figure3b(standings), _figure3c(standings), *_figure5(standings),
              _figure6(standings), _figure7(standings), _figure8(standings))  # fmt: skip
    drawn = {table.name for table in tables if table.rows} | ({"table2"} if standings else set())
    return Contents(tables=tables, figures=tuple(one for one in _FIGURES if one.table in drawn))


def _rows(standings: Sequence[AtomScores], *values: Sequence[Estimate]) -> tuple[Row, ...]:
    pairs = zip(standings, values, strict=True)
    return tuple(Row(title=one.title, keys={"model": one.model}, values=tuple(found)) for one, found in pairs)


def _figure3a(standings: Sequence[AtomScores]) -> Table:
    columns = tuple(_loss_column(f"scope_{name}", name, scope=name) for name in SCOPES)
    return Table(
        name="figure3a",
        title="Figure 3a: errors by scope",
        caption="Clue questions that were not answered right, in %.",
        groups=(ColumnGroup(title="Scope", columns=columns),),
        rows=_rows(standings, *([one.share("scope", name, wrong=True) for name in SCOPES] for one in standings)),
        detail=True,
    )


def _loss_column(key: str, title: str, **keys: str) -> Column:
    return Column(key=key, title=title, unit="loss", decimals=2, keys={"metric": "clue_error", **keys})


def _figure3b(standings: Sequence[AtomScores]) -> Table:
    steps = range(1, MOST_STEPS + 1)
    columns = tuple(_loss_column(f"step_{step}", str(step), step=str(step)) for step in steps)
    return Table(
        name="figure3b",
        title="Figure 3b: errors by step",
        caption="Clue questions that were not answered right, in %, by their step from macro to micro.",
        groups=(ColumnGroup(title="Step", columns=columns),),
        rows=_rows(standings, *([one.share("step", step, wrong=True) for step in steps] for one in standings)),
        detail=True,
    )


def _figure3c(standings: Sequence[AtomScores]) -> Table:
    titles = ("CLQ", "CoLQ", "RCS", "100 − HI", "RRS")
    main = tuple(rate_column(key, title) for key, title in zip(_RADAR, titles, strict=True))
    dimensions = tuple(rate_column(name, _SHORT[name]) for name in DOMAINS)
    domains = tuple(rate_column(name, TITLES[name]) for name in DIMENSION_OF)
    return Table(
        name="figure3c",
        title="Figure 3c: profiles",
        caption="The five metrics, and CLQ_Acc by dimension and domain, in %.",
        groups=(
            ColumnGroup(title="Metric", columns=main),
            ColumnGroup(title="Dimension", columns=dimensions),
            ColumnGroup(title="Domain", columns=domains),
        ),
        rows=_rows(standings, *(_radar_values(one) for one in standings)),
        detail=True,
    )


def _radar_values(one: AtomScores) -> list[Estimate]:
    metrics = [one.clues, one.conclusions, one.consistency, complement(one.hallucination), one.resistance]
    return [*metrics, *(one.domains[name] for name in (*DOMAINS, *DIMENSION_OF))]


def _figure5(standings: Sequence[AtomScores]) -> tuple[Table, ...]:
    numbers = {
        "CLQ_Acc": [one.clues.value for one in standings],
        "CoLQ_Acc": [one.conclusions.value for one in standings],
        "ECS": [one.spread.value for one in standings],
        "Params": [one.billions for one in standings],
    }
    columns = tuple(
        Column(key=name, title=name, unit="number", decimals=2, keys={"metric": "pearson", "with": name})
        for name in numbers
    )
    rows = [
        Row(title=name, keys={"of": name}, values=tuple(pearson(found, other) for other in numbers.values()))
        for name, found in numbers.items()
    ]
    return (
        Table(
            name="figure5",
            title="Figure 5: correlations over models",
            caption="Pearson's; over the models that have both numbers, of which three are needed.",
            groups=(ColumnGroup(title="", columns=columns),),
            rows=tuple(row for row in rows if any(value != NO_ESTIMATE for value in row.values)),
            detail=True,
        ),
    )


def _figure6(standings: Sequence[AtomScores]) -> Table:
    columns = (
        rate_column("colq", "CoLQ_Acc"),
        rate_column("rcs", "RCS"),
        rate_column("hi", "HI", "loss"),
        rate_column("gap", "CoLQ − RCS", "difference"),
        rate_column("ecs", "ECS", "difference"),
    )
    found = [
        [one.conclusions, one.consistency, one.hallucination, _one_minus(one.conclusions, one.consistency), one.spread]
        for one in standings
    ]
    return Table(
        name="figure6",
        title="Figure 6: conclusions and their support",
        caption=f"In %; the gap and ECS in points. A picture's conclusion by the rule '{DEFAULT_RULE}'.",
        groups=(ColumnGroup(title="", columns=columns),),
        rows=_rows(standings, *found),
        detail=True,
    )


def _one_minus(first: Estimate, second: Estimate) -> Estimate:
    if first.value is None or second.value is None:
        return NO_ESTIMATE
    return Estimate(value=first.value - second.value, count=second.count)


def _figure7(standings: Sequence[AtomScores]) -> Table:
    columns = tuple(
        Column(key=f"above_{at}", title=str(at), label=f"above {at} %", decimals=2,
               keys={"metric": "support", "threshold": str(at)})
        for at in THRESHOLDS
    )  # fmt: skip
    area = Column(key="area", title="area", unit="number", decimals=3, keys={"metric": "support_area"})
    return Table(
        name="figure7",
        title="Figure 7: support curves",
        caption="Pictures whose conclusion is right with more than so many percent of the clues right (at 100: all of "
        f"them), in %, by the rule '{DEFAULT_RULE}'; and the area under the curve, from 0 to 1.",
        groups=(
            ColumnGroup(title="More right clues than (%)", columns=columns),
            ColumnGroup(title="", columns=(area,)),
        ),
        rows=_rows(
            standings, *([*(one.consistency_by(DEFAULT_RULE, at) for at in THRESHOLDS), one.area] for one in standings)
        ),
        detail=True,
    )


def _figure8(standings: Sequence[AtomScores]) -> Table:
    column = rate_column(
        "correction", "error correction", note="of the first answers that were not right, those corrected"
    )
    return Table(
        name="figure8",
        title="Figure 8: error correction",
        caption="Conclusions that golden evidence (AG) made right, in % of those that were not right under A0.",
        groups=(ColumnGroup(title="", columns=(column,)),),
        rows=_rows(standings, *([one.correction] for one in standings)),
        detail=True,
    )


_FIGURES = (
    Figure(name="figure3a", caption="Figure 3a. Error rate of clue questions by scope.", form="bars",
           axis="error rate (%)", table="figure3a", columns=tuple(f"scope_{name}" for name in SCOPES)),
    Figure(name="figure3b", caption="Figure 3b. Error rate of clue questions by step.", form="matrix",
           axis="error rate (%)", table="figure3b", columns=tuple(f"step_{at}" for at in range(1, MOST_STEPS + 1))),
    Figure(name="figure3c", caption="Figure 3c. Profiles of models.", form="radar", axis="%", table="figure3c",
           columns=(*_RADAR, *DOMAINS, *DIMENSION_OF)),
    Figure(name="figure3d", caption="Figure 3d. Clue and conclusion questions side by side.", form="differences",
           axis="CLQ_Acc and CoLQ_Acc (%)", table="table2", columns=("clq", "colq")),
    Figure(name="figure5a", caption="Figure 5. Correlations over models.", form="matrix", axis="Pearson's r",
           table="figure5", columns=("CLQ_Acc", "CoLQ_Acc", "ECS", "Params")),
    Figure(name="figure5b", caption="Figure 5. Conclusion over clue questions, with the least-squares line.",
           form="scatter", table="table2", columns=("clq", "colq")),
    Figure(name="figure6a", caption="Figure 6a. RCS over CoLQ_Acc; areas are HI, colours the gap between both.",
           form="scatter", table="figure6", columns=("colq", "rcs", "hi", "gap"), equals=True),
    Figure(name="figure6b", caption="Figure 6b. HI over ECS.", form="scatter", table="figure6", columns=("ecs", "hi")),
    Figure(name="figure7", caption="Figure 7. Support curves.", form="curve", axis="supported conclusions (%)",
           table="figure7", columns=tuple(f"above_{at}" for at in THRESHOLDS)),
    Figure(name="figure8", caption="Figure 8. Error-correction rate behind golden evidence.", form="bars",
           axis="corrected (%)", table="figure8", columns=("correction",)),
)  # fmt: skip
