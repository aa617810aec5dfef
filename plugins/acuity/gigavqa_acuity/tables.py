"""Tables of accuracies: by condition with the gaps between them, by size with thresholds, by place, by letter."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Unit
from gigavqa_acuity.metrics import AcuityScores, ConditionScores, CurvesByAttribute, octave_of
from gigavqa_acuity.psychometric import PsychometricCurve
from gigavqa_acuity.taxonomy import ATTRIBUTES, CHANCE, LETTERS

CONDITIONS = {
    "V0": "V0 no picture",
    "V1": "V1 thumbnail",
    "V2": "V2 full image",
    "V3": "V3 local evidence",
    "V4": "V4 full + local",
}
GAPS = {"visual": ("V2", "V0"), "access": ("V3", "V2"), "resolution": ("V2", "V1")}
"""Columns of differences as (condition, less the condition)."""
ALL = "all"
"""What stands for a condition where all that show a picture are taken together."""
_CHANCE = Estimate(value=CHANCE, count=0)


def row_title(answers: ConditionScores) -> str:
    """Return what a row about one condition of a model is called."""
    return f"{answers.base.title_of(answers.key.model)} · {answers.key.condition}"


def keyed_column(key: str, title: str, unit: Unit = "rate", *, note: str = "", strong: bool = False) -> Column:
    """Return a column that machines know by its own key."""
    return Column(key=key, title=title, unit=unit, keys={"metric": key}, note=note, strong=strong)


def accuracy_table(eyes: Sequence[AcuityScores]) -> Table:
    """One row a model: accuracy by condition, chance, and the gaps that seeing makes."""
    columns = (
        Column(key=name, title=name, label=label, strong=True, keys={"condition": name, "metric": "accuracy"})
        for name, label in CONDITIONS.items()
    )
    gaps = (
        Column(key=name, title=f"Δ {name}", label=f"{name}: {first} − {less}", unit="difference",
               keys={"metric": f"gap_{name}"})
        for name, (first, less) in GAPS.items()
    )  # fmt: skip
    return Table(
        name="accuracy",
        title="Accuracy",
        caption="In %, over both questions about every picture; gaps in points, paired over pictures.",
        groups=(
            ColumnGroup(title="Condition", columns=tuple(columns)),
            ColumnGroup(title="", columns=(keyed_column("chance", "chance"),)),
            ColumnGroup(title="Gap", columns=tuple(gaps)),
        ),
        rows=tuple(_accuracy_row(one) for one in eyes),
    )


def _accuracy_row(one: AcuityScores) -> Row:
    found = {name: answers.accuracy(answers.pixels >= 0) for name, answers in one.conditions.items()}
    return Row(
        title=one.base.title_of(one.model),
        keys={"model": one.model},
        values=(
            *(found.get(name, NO_ESTIMATE) for name in CONDITIONS),
            _CHANCE,
            *(one.gap(first, less) for first, less in GAPS.values()),
        ),
    )


def threshold_table(eyes: Sequence[AcuityScores]) -> Table:
    """One row a model and condition, and one for all that were shown: pixels at which the fitted accuracy is 50 %."""
    note = "pixels per optotype at which the fitted accuracy is 50 %"
    return Table(
        name="thresholds",
        title="Thresholds",
        caption="Pixels per optotype in the raster at which the fitted accuracy is 50 %, with 95 % intervals over "
        "pictures. In a sound deployment a model's conditions agree.",
        groups=(
            ColumnGroup(
                title="Threshold",
                columns=(
                    keyed_column("threshold", "both", "number", note=note, strong=True),
                    *(keyed_column(name, name, "number") for name in ATTRIBUTES),
                ),
            ),
            ColumnGroup(
                title="Fit",
                columns=(
                    keyed_column(
                        "reads", "reads", "text", note="the threshold in words, also where there is no number"
                    ),
                    keyed_column("spread", "spread", "number", note="octaves: a greater one is a flatter curve"),
                    keyed_column("lapse", "lapse", note="errors whatever the size"),
                ),
            ),
        ),
        rows=tuple(row for one in eyes for row in _threshold_rows(one)),
    )


def _threshold_rows(one: AcuityScores) -> Iterator[Row]:
    for answers in one.shown:
        yield Row(title=row_title(answers), keys=answers.key.keys, values=tuple(_threshold_values(answers.curves)))
    if one.shown:
        keys = {"model": one.model, "condition": ALL}
        title = f"{one.base.title_of(one.model)} · all"
        yield Row(title=title, keys=keys, values=tuple(_threshold_values(one.curves)))


def _threshold_values(curves: CurvesByAttribute) -> Iterator[Estimate | str | None]:
    both = curves[None]
    yield from (curve.threshold for curve in curves.values())
    yield describe_curve(both)
    for value in (both.spread, both.lapse):
        yield Estimate(value=value, count=both.threshold.count if value is not None else 0)


def describe_curve(curve: PsychometricCurve) -> str:
    """Return what a curve says, in words."""
    if curve.bound == "few":
        return "cannot be told: too few answers"
    if curve.bound == "chance":
        return "reads nothing: at chance at every size"
    if curve.bound:
        kind = "smallest" if curve.bound == "below" else "largest"
        return f"reads 50 % {curve.bound} {_format_pixels(curve.at)} pixels, the {kind} shown"
    threshold = curve.threshold
    ends = [_format_pixels(end) for end in (threshold.low, threshold.high) if end is not None]
    return f"reads 50 % at {_format_pixels(threshold.value or 0.0)} pixels" + (f" ({'-'.join(ends)})" if ends else "")


def _format_pixels(pixels: float) -> str:
    """Two digits, or the whole number."""
    return f"{pixels:.0f}" if pixels >= 9.95 else f"{pixels:.1f}" if pixels >= 1 else f"{pixels:.2g}"


def size_table(eyes: Sequence[AcuityScores]) -> Table:
    """One row a model and condition, one column an octave of pixels per optotype, and a row of chance."""
    shown = [answers for one in eyes for answers in one.shown]
    octaves = sorted({octave_of(float(pixels)) for answers in shown for pixels in answers.pixels[answers.pixels > 0]})
    columns = tuple(
        Column(key=_octave_key(at), title=_octave_key(at), keys={"metric": "accuracy", "pixels": _octave_key(at)})
        for at in octaves
    )
    rows = [_condition_row(answers, [_octave_accuracy(answers, at) for at in octaves]) for answers in shown]
    chance = Row(title="chance", keys={"model": "chance"}, values=(_CHANCE,) * len(octaves))
    return Table(
        name="by_size",
        title="Accuracy by size",
        caption="In %, by pixels per optotype in the raster: from the first number to below the second.",
        groups=(ColumnGroup(title="Pixels per optotype", columns=columns),),
        rows=(*rows, chance) if octaves else (),
    )


def _octave_key(at: int) -> str:
    return f"{2**at}-{2 ** (at + 1)}" if at >= 0 else "0-1"


def _octave_accuracy(answers: ConditionScores, at: int) -> Estimate:
    octaves = np.array([octave_of(float(pixels)) for pixels in answers.pixels])
    return answers.accuracy((octaves == at) & (answers.pixels > 0))


def _condition_row(answers: ConditionScores, values: Sequence[Estimate]) -> Row:
    return Row(title=row_title(answers), keys=answers.key.keys, values=tuple(values))


def label_table(eyes: Sequence[AcuityScores], label: str, names: Sequence[str], *, detail: bool) -> Table:
    """Accuracy by where signs stand, or by what they stand on: one row a model and condition."""
    chart = eyes[0].chart if eyes else None
    labels = [str(getattr(sign, label)) for sign in chart.signs] if chart else []
    columns = tuple(Column(key=name, title=name, keys={"metric": "accuracy", label: name}) for name in names)
    rows = (
        _condition_row(answers, [answers.accuracy(answers.of_signs(labels) == name) for name in names])
        for one in eyes
        for answers in one.conditions.values()
    )
    return Table(
        name=f"by_{label}",
        title=f"Accuracy by {label}",
        caption=f"In %, whatever the size. Sizes are alike for every {label}.",
        groups=(ColumnGroup(title="", columns=columns),),
        rows=tuple(rows),
        detail=detail,
    )


def letter_table(eyes: Sequence[AcuityScores]) -> Table:
    """Return how often each letter was answered, beside how often it is true: one row a model and condition."""

    def group(title: str, key: Callable[[str], str]) -> ColumnGroup:
        columns = (Column(key=key(at), title=at, keys={"metric": title, "letter": at}) for at in LETTERS)
        return ColumnGroup(title=title, columns=tuple(columns))

    answered = group("answered", str)
    none = Column(key="none", title="none", unit="loss", keys={"metric": "answered", "letter": "none"})
    return Table(
        name="letters",
        title="Letters",
        caption="Share of each letter among the answers and among the truths, in %: a model that prefers a letter "
        "answers it more often than it is true.",
        groups=(
            ColumnGroup(title="answered", columns=(*answered.columns, none)),
            group("true", lambda at: f"true_{at}"),
        ),
        rows=tuple(_letter_row(answers) for one in eyes for answers in one.conditions.values()),
        detail=True,
    )


def _letter_row(answers: ConditionScores) -> Row:
    signs = [answers.chart.signs[at] for at in answers.at]
    lettered = [{text: letter for letter, text in (sign.options or {}).items()} for sign in signs]
    told = np.array([of.get(str(meant), "") for of, meant in zip(lettered, answers.meant, strict=True)], dtype=np.str_)
    true = Counter(sign.answer for sign in signs)
    everything = answers.pixels >= 0
    return Row(
        title=row_title(answers),
        keys=answers.key.keys,
        values=(
            *(answers.shares(everything, told == letter) for letter in (*LETTERS, "")),
            *(Estimate(value=true[letter] / len(signs) if signs else None, count=len(signs)) for letter in LETTERS),
        ),
    )
