"""All that is reported of the eye chart: what a model can see, from which size on, and which faults its errors fit."""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.acuity.confusions import NONE, confusions, symptoms, turns
from benchmarks.acuity.metrics import Chart, Eyes
from benchmarks.acuity.samples import Sign
from benchmarks.acuity.symptoms import FAULTS, Symptoms, mostly, symptoms_of
from benchmarks.acuity.tables import accuracy, by_label, by_size, column, letters, reads, thresholds
from benchmarks.acuity.taxonomy import ATTRIBUTES, PLACES, SCENES, Attribute
from evaluation.tables import Caveat, Contents, Figure, Group, Row, Table
from evaluation.verdicts import Verdicts

PICTURE = 26753
"""Width of the picture that the one line speaks of: that of the demo's plaza."""
_SIGN = 0.01
"""Width of its sign, in widths of the picture."""


def report(verdicts: Verdicts) -> Contents:
    """Fill the tables that have any row."""
    chart = Chart([sample for sample in verdicts.samples if isinstance(sample, Sign)])
    eyes = [Eyes(model, chart, verdicts) for model in verdicts.models]
    found = {one.model: symptoms_of(one) for one in eyes}
    tables = (
        _summary(eyes, found),
        accuracy(eyes),
        thresholds(eyes),
        by_size(eyes),
        symptoms([symptom for one in eyes for symptom in found[one.model]]),
        by_label(eyes, "place", PLACES, detail=False),
        by_label(eyes, "scene", SCENES, detail=True),
        confusions(eyes, "colour"),
        confusions(eyes, "direction"),
        turns(eyes),
        letters(eyes),
    )
    filled = {table.name: table for table in tables if table.rows}
    caveats = (caveat for one in eyes for caveat in (*_on_faults(one, found[one.model]), *_on_views(one)))
    return Contents(tables=tuple(filled.values()), figures=tuple(_figures(filled)), caveats=tuple(caveats))


def _figures(tables: dict[str, Table]) -> Iterator[Figure]:
    columns = {name: tuple(column.key for column in table.columns) for name, table in tables.items()}
    if "by_size" in tables:
        yield Figure(name="by_size", caption="Accuracy by pixels per optotype, beside chance.", form="curve",
                     axis="accuracy (%)", table="by_size", columns=columns["by_size"])  # fmt: skip
    for name in ("colours", "directions"):
        if name in tables:
            yield Figure(name=name, caption=f"What {name} of readable rings were taken for.", form="matrix",
                         axis="answered (% of the true one)", table=name, columns=columns[name])  # fmt: skip


def _summary(eyes: Sequence[Eyes], found: dict[str, list[Symptoms]]) -> Table:
    """One row a model: what it can see, in one line."""
    return Table(
        name="summary",
        title="What it sees",
        caption="Over all that was shown: the size from which on half of the answers are right, and the faults that "
        "the errors fit.",
        groups=(
            Group(
                title="",
                columns=(
                    column("line", "sees", "text", strong=True),
                    column(
                        "threshold",
                        "threshold",
                        "number",
                        note="pixels per optotype at which the fitted accuracy is 50 %",
                    ),
                    column("faults", "fits", "text"),
                ),
            ),
        ),
        rows=tuple(_summary_row(one, found[one.model]) for one in eyes),
    )


def _summary_row(one: Eyes, symptoms: Sequence[Symptoms]) -> Row:
    faults = dict.fromkeys(fault for symptom in symptoms for fault in symptom.faults)
    values = (line_of(one), one.curves[_question(one)].threshold, ", ".join(faults) or NONE)
    return Row(title=one.verdicts.title_of(one.model), keys={"model": one.model}, values=values)


def line_of(eyes: Eyes) -> str:
    """What a model can see at its budget, in one line."""
    if eyes.shown and all(mostly(answers.unsaid) for answers in eyes.shown):
        return "cannot be told: most answers hold no single letter"
    question = _question(eyes)
    curve = eyes.curves[question]
    told = reads(curve) if question is None else f"of {question} alone {reads(curve)}"
    needed = curve.at if curve.bound == "below" else curve.threshold.value
    widths = {name: width for name in ("V1", "V2") if (width := eyes.width(name)) is not None}
    if needed is None or "V2" not in widths:
        return told
    enough = next((name for name, width in widths.items() if _SIGN * width >= needed), None)
    where = f"can be read in {enough}" if enough else "needs V3"
    return f"{told}; a sign of 1 % of a {PICTURE}-pixel picture {where}"


def _question(eyes: Eyes) -> Attribute | None:
    """The one question whose answers are better than chance at any size; None for both, or neither."""
    answered = [name for name in ATTRIBUTES if eyes.curves[name].bound != "chance"]
    return answered[0] if len(answered) == 1 else None


def _on_faults(one: Eyes, symptoms: Sequence[Symptoms]) -> Iterator[Caveat]:
    """Name the faults that a model's errors fit, with the conditions in which they do."""
    for fault, sign in FAULTS.items():
        if conditions := [symptom.condition for symptom in symptoms if fault in symptom.faults]:
            text = f"{one.model}: answers under {', '.join(conditions)} fit the fault '{fault}': {sign}"
            yield Caveat(scope="model", text=text)


def _on_views(one: Eyes) -> Iterator[Caveat]:
    """Tell of replies whose recorded views do not hold the ring."""
    for answers in one.shown:
        if blind := int(np.count_nonzero(answers.pixels == 0)):
            text = f"{answers.key}: {blind} of {len(answers.at)} answers were shown no view that holds the whole ring"
            yield Caveat(scope="cell", text=text)
