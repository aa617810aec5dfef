"""Tables 2 to 4 of the paper, and ours beside them: the rules, the pairs by difficulty, other conditions, repeats."""

from collections.abc import Iterator, Sequence
from statistics import stdev

from gigavqa.benchmarks.atombench import metrics
from gigavqa.benchmarks.atombench.repeats import KINDS, AtomRepeat, count_unpaired
from gigavqa.benchmarks.atombench.scores import GROUPS, AtomScores
from gigavqa.benchmarks.atombench.sums import DEFAULT_RULE, RULES, sum_pairs
from gigavqa.benchmarks.atombench.taxonomy import CERTAINTIES, DIFFICULTIES, DIMENSION_OF, DOMAINS, SCOPES, TITLES
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Unit, Value

_SEVERAL = 2
_ALL, _UNLABELLED = "all", "no difficulty"
_RULE_NOTES = {
    "any": "right if at least one of an image's conclusion questions is",
    "each": "every conclusion question by itself, with its image's clues",
    "all": "right if all of an image's conclusion questions are",
    "location": "the image's first question about the location",
}


def rate_column(key: str, title: str, unit: Unit = "rate", *, note: str = "", strong: bool = False) -> Column:
    """Return a column of percentages with two decimals, as the paper prints them."""
    return Column(key=key, title=title, unit=unit, decimals=2, strong=strong, keys={"metric": key}, note=note)


MAIN = (
    rate_column(
        "clq", "CLQ_Acc", note="mean points of clue questions; a wrong answer costs 1/(n − 1) points", strong=True
    ),
    rate_column("colq", "CoLQ_Acc", note="mean points of conclusion questions, asked directly", strong=True),
    rate_column("rcs", "RCS", note="images whose conclusion is right with over 75 % of their clues"),
    rate_column("hi", "HI", "loss", note="of the images whose conclusion is right, those with too few right clues"),
    rate_column(
        "rrs", "RRS", note="conclusions that end right behind golden evidence, less those that do not, weighed 3:2:1"
    ),
    rate_column("avg", "Avg", note="mean of CLQ_Acc, CoLQ_Acc, RCS, 100 − HI and RRS", strong=True),
)
"""The six metrics of Table 2."""


def main_values(one: AtomScores) -> tuple[Estimate, ...]:
    """Return the values of those columns."""
    return one.clues, one.conclusions, one.consistency, one.hallucination, one.resistance, one.average


def sort_by_average(standings: Sequence[AtomScores]) -> list[AtomScores]:
    """Models by group, within each by Avg; those without a value last."""
    place = {group: at for at, group in enumerate(GROUPS)}

    def key(one: AtomScores) -> tuple[int, float]:
        value = one.average.value
        return place.get(one.group, len(GROUPS)), float("inf") if value is None else -value

    return sorted(standings, key=key)


def table2(standings: Sequence[AtomScores]) -> Table:
    """Return the metrics of every model, in the paper's groups."""
    columns = (
        *MAIN,
        rate_column("ecs", "ECS", "difference", note="evidence-conclusion spread: CoLQ_Acc − CLQ_Acc"),
        rate_column("raw_clq", "raw CLQ", note="right answers to clue questions, never penalized"),
        rate_column("raw_colq", "raw CoLQ", note="right answers to conclusion questions"),
    )
    model = (Column(key="group", title="group", unit="text"), Column(key="llm", title="LLM", unit="text"))
    groups = (ColumnGroup(title="Model", columns=model), ColumnGroup(title="", columns=columns))
    rows = [
        _row(one, (one.group, one.base_model, *main_values(one), one.spread, one.raw("clue"), one.raw("conclusion")))
        for one in standings
    ]
    return Table(
        name="table2",
        title="Table 2: reasoning from evidence to conclusion",
        caption=f"A0 and AG under V2, in %. RCS and HI take a picture's conclusion by the rule '{DEFAULT_RULE}': "
        f"{_RULE_NOTES[DEFAULT_RULE]}. The best of each group is marked.",
        groups=groups,
        rows=tuple(_mark_best(rows, [one.group for one in standings], (*model, *columns))),
    )


def _row(one: AtomScores, values: Sequence[Value], title: str = "", **keys: str) -> Row:
    keys = {"model": one.model, "condition": one.condition, **keys}
    return Row(title=title or one.title, keys=keys, values=tuple(values))


def _mark_best(rows: Sequence[Row], groups: Sequence[str], columns: Sequence[Column]) -> Iterator[Row]:
    """Mark the best number of each column in each group; of a single model there is no best."""
    for row, group in zip(rows, groups, strict=True):
        others = [other for other, of in zip(rows, groups, strict=True) if of == group]
        best = (
            c.key
            for at, c in enumerate(columns)
            if c.unit in _DIRECTIONS and _is_best(row, others, at, _DIRECTIONS[c.unit])
        )
        yield row.model_copy(update={"best": tuple(best)}) if len(others) > 1 else row


_DIRECTIONS: dict[str, int] = {"rate": 1, "loss": -1}


def _is_best(row: Row, others: Sequence[Row], at: int, sign: int) -> bool:
    values = [one.values[at] for one in others]
    known = [sign * one.value for one in values if isinstance(one, Estimate) and one.value is not None]
    own = row.values[at]
    return isinstance(own, Estimate) and own.value is not None and sign * own.value == max(known)


def table3(standings: Sequence[AtomScores]) -> Table:
    """CLQ_Acc in each of the twelve domains."""
    groups = tuple(
        ColumnGroup(title=TITLES[dimension], columns=tuple(_domain_column(dimension, name) for name in domains))
        for dimension, domains in DOMAINS.items()
    )
    return Table(
        name="table3",
        title="Table 3: clue questions by domain",
        caption="CLQ_Acc (penalized) under A0 and V2, in %.",
        groups=groups,
        rows=tuple(_row(one, [one.domains[name] for name in DIMENSION_OF]) for one in standings),
    )


def _domain_column(dimension: str, name: str) -> Column:
    keys = {"metric": "clq", "dimension": dimension, "domain": name}
    return Column(key=name, title=TITLES[name], decimals=2, keys=keys)


def table4(standings: Sequence[AtomScores]) -> Table:
    """Raw accuracy by scope and by certainty, models by that of macro."""
    labels = [("scope", name) for name in SCOPES] + [("certainty", name) for name in CERTAINTIES]
    found = [(one, [one.share(label, name) for label, name in labels]) for one in standings]
    found.sort(key=lambda pair: -(pair[1][0].value or 0.0))
    columns = [
        Column(key=name, title=name, decimals=2, keys={"metric": "raw_clq", label: name}) for label, name in labels
    ]
    return Table(
        name="table4",
        title="Table 4: clue questions by scope and certainty",
        caption="Right answers in %, never penalized, under A0 and V2.",
        groups=(
            ColumnGroup(title="Scope", columns=tuple(columns[:3])),
            ColumnGroup(title="Certainty", columns=tuple(columns[3:])),
        ),
        rows=tuple(_row(one, values) for one, values in found),
    )


def rule_table(standings: Sequence[AtomScores]) -> Table:
    """RCS, HI and the share of right conclusions under every rule."""
    return Table(
        name="conclusion_rules",
        title="RCS and HI by what counts as a picture's conclusion",
        caption="In %. " + "; ".join(f"{name}: {note}" for name, note in _RULE_NOTES.items()) + ".",
        groups=tuple(
            ColumnGroup(
                title=rule,
                columns=(
                    _rule_column(rule, "rcs", "RCS"),
                    _rule_column(rule, "hi", "HI", "loss"),
                    _rule_column(rule, "concluded", "right"),
                ),
            )
            for rule in RULES
        ),
        rows=tuple(_row(one, list(_rule_values(one))) for one in standings),
        detail=True,
    )


def _rule_column(rule: str, metric: str, title: str, unit: Unit = "rate") -> Column:
    keys = {"metric": metric, "conclusion_rule": rule}
    return Column(key=f"{metric}_{rule}", title=title, label=f"{title} ({rule})", unit=unit, decimals=2, keys=keys)


def _rule_values(one: AtomScores) -> Iterator[Estimate]:
    for rule in RULES:
        yield from (one.consistency_by(rule), one.hallucination_by(rule), one.concluded_by(rule))


def golden_evidence_table(standings: Sequence[AtomScores]) -> Table:
    """Return what became of first answers behind golden evidence, by protocol and difficulty."""
    counts = [Column(key=kind, title=kind, unit="count", keys={"metric": kind}) for kind in KINDS]
    return Table(
        name="golden_evidence",
        title="What golden evidence does to an answer",
        caption="Pairs of first and final answers, counted over all repeats: right, right (steadfast); wrong, right "
        "(corrected); wrong, wrong (rigid); right, wrong (confused). RRS and the share corrected are taken within each "
        "repeat and averaged. RRS weighs pairs that have a difficulty, and depends on the final answer alone. AG asks "
        "anew; AGC, which is not in the paper, in the chat of the first answer.",
        groups=(
            ColumnGroup(title="Pairs", columns=tuple(counts)),
            ColumnGroup(
                title="",
                columns=(
                    Column(key="weight", title="weight", unit="count", note="3 for hard, 2 for medium, 1 for easy"),
                    rate_column("rrs", "RRS"),
                    rate_column("correction", "corrected", note="of the first answers that were not right"),
                    Column(key="alone", title="no first answer", unit="count"),
                ),
            ),
        ),
        rows=tuple(row for one in standings for row in _golden_rows(one)),
    )


def _golden_rows(one: AtomScores) -> Iterator[Row]:
    for protocol, trials in (("AG", one.trials), ("AGC", one.chats)):
        if any(trial.pairs for trial in trials) or count_unpaired(trials):
            yield from _pairs_by_difficulty(one, protocol, trials)


def _pairs_by_difficulty(one: AtomScores, protocol: str, trials: Sequence[AtomRepeat]) -> Iterator[Row]:
    """Yield a row for each difficulty, for pairs without one where there are any, and for all of them together."""
    difficulty_of = [sample.difficulty for sample in one.pictures.samples]
    for difficulty, title in (*((name, name) for name in DIFFICULTIES), (None, _UNLABELLED), (_ALL, _ALL)):
        whole = difficulty == _ALL
        chosen = [
            {at: pair for at, pair in trial.pairs.items() if whole or difficulty_of[at] == difficulty}
            for trial in trials
        ]
        if difficulty is None and not any(chosen):
            continue
        sums = [sum_pairs(pairs, one.pictures) for pairs in chosen]
        yield _row(
            one,
            (
                *(int(sum(table[name].sum() for table in sums)) for name in (*KINDS, "weight")),
                metrics.estimate_metric(sums, metrics.resistance, "weighed"),
                metrics.estimate_metric(sums, metrics.correction, "corrected", "rigid"),
                count_unpaired(trials) if whole else None,
            ),
            f"{one.title} · {protocol} · {title}",
            protocol=protocol,
            difficulty=title,
        ).model_copy(update={"summary": whole})


def control_table(standings: Sequence[AtomScores]) -> Table:
    """Return the metrics under the conditions that the paper lacks."""
    return Table(
        name="controls",
        title="Without the picture, and with a thumbnail of it",
        caption="Controls that the paper lacks: V0 shows no picture, V1 a downsampled one. In %.",
        groups=(ColumnGroup(title="", columns=MAIN),),
        rows=tuple(_row(one, main_values(one), f"{one.title} · {one.condition}") for one in standings),
    )


_REPEATED: dict[str, metrics.SumFormula] = {
    "clq": metrics.clue_accuracy,
    "colq": metrics.conclusion_accuracy,
    "rcs": metrics.reasoning_consistency(),
    "hi": metrics.hallucination(),
    "rrs": metrics.resistance,
    "avg": metrics.average_metric,
}


def repeat_table(standings: Sequence[AtomScores]) -> Table:
    """Return each metric within each repeat, and how far repeats lie apart; models with several."""
    return Table(
        name="repeats",
        title="Metrics within each repeat",
        caption="In %; the last row of a model is the standard deviation over its repeats (n − 1).",
        groups=(ColumnGroup(title="", columns=MAIN),),
        rows=tuple(row for one in standings if len(one.trials) >= _SEVERAL for row in _repeat_rows(one)),
        detail=True,
    )


def _repeat_rows(one: AtomScores) -> Iterator[Row]:
    columns = [metrics.values_by_repeat(one.tables, formula) for formula in _REPEATED.values()]
    for number, values in enumerate(zip(*columns, strict=True)):
        told = [NO_ESTIMATE if value is None else Estimate(value=value, count=1) for value in values]
        yield _row(one, told, f"{one.title} · repeat {number + 1}", repeat=str(number))
    known = [[value for value in column if value is not None] for column in columns]
    told = [Estimate(value=stdev(k), count=len(k)) if len(k) >= _SEVERAL else NO_ESTIMATE for k in known]
    yield _row(one, told, f"{one.title} · deviation", repeat="deviation").model_copy(update={"summary": True})
