"""All that is reported of the eye chart: what a model can see, from which size on, and which faults its errors fit."""

from collections.abc import Iterator, Sequence

import numpy as np

from gigavqa.evaluation.tables import Caveat, ColumnGroup, Contents, Figure, Row, Table
from gigavqa_acuity.confusion_tables import NO_LETTER, confusion_table, fault_table, turn_table
from gigavqa_acuity.faults import FAULTS, FaultDiagnosis, diagnose_faults, is_majority
from gigavqa_acuity.metrics import AcuityBaseScores, AcuityColumns, AcuityScores
from gigavqa_acuity.tables import (
    accuracy_table,
    describe_curve,
    keyed_column,
    label_table,
    letter_table,
    size_table,
    threshold_table,
)
from gigavqa_acuity.taxonomy import ATTRIBUTES, PLACES, SCENES, Attribute

IMAGE_WIDTH = 26753
"""Width of the picture that the one line speaks of: that of the demo's plaza."""
_SIGN_WIDTH = 0.01
"""Width of its sign, in widths of the picture."""


def report(base: AcuityBaseScores) -> Contents:
    """Fill the tables that have any row."""
    chart = AcuityColumns(base.samples)
    eyes = [AcuityScores(model, chart, base) for model in base.models]
    found = {one.model: diagnose_faults(one) for one in eyes}
    tables = (
        _summary(eyes, found),
        accuracy_table(eyes),
        threshold_table(eyes),
        size_table(eyes),
        fault_table([symptom for one in eyes for symptom in found[one.model]]),
        label_table(eyes, "place", PLACES, detail=False),
        label_table(eyes, "scene", SCENES, detail=True),
        confusion_table(eyes, "colour"),
        confusion_table(eyes, "direction"),
        turn_table(eyes),
        letter_table(eyes),
    )
    filled = {table.name: table for table in tables if table.rows}
    caveats = (caveat for one in eyes for caveat in (*_fault_caveats(one, found[one.model]), *_view_caveats(one)))
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


def _summary(eyes: Sequence[AcuityScores], found: dict[str, list[FaultDiagnosis]]) -> Table:
    """One row a model: what it can see, in one line."""
    return Table(
        name="summary",
        title="What it sees",
        caption="Over all that was shown: the size from which on half of the answers are right, and the faults that "
        "the errors fit.",
        groups=(
            ColumnGroup(
                title="",
                columns=(
                    keyed_column("line", "sees", "text", strong=True),
                    keyed_column(
                        "threshold",
                        "threshold",
                        "number",
                        note="pixels per optotype at which the fitted accuracy is 50 %",
                    ),
                    keyed_column("faults", "fits", "text"),
                ),
            ),
        ),
        rows=tuple(_summary_row(one, found[one.model]) for one in eyes),
    )


def _summary_row(one: AcuityScores, symptoms: Sequence[FaultDiagnosis]) -> Row:
    faults = dict.fromkeys(fault for symptom in symptoms for fault in symptom.faults)
    values = (summarize_model(one), one.curves[_legible_attribute(one)].threshold, ", ".join(faults) or NO_LETTER)
    return Row(title=one.base.title_of(one.model), keys={"model": one.model}, values=values)


def summarize_model(eyes: AcuityScores) -> str:
    """Return what a model can see at its budget, in one line."""
    if eyes.shown and all(is_majority(answers.unsaid) for answers in eyes.shown):
        return "cannot be told: most answers hold no single letter"
    question = _legible_attribute(eyes)
    curve = eyes.curves[question]
    told = describe_curve(curve) if question is None else f"of {question} alone {describe_curve(curve)}"
    needed = curve.at if curve.bound == "below" else curve.threshold.value
    widths = {name: width for name in ("V1", "V2") if (width := eyes.width(name)) is not None}
    if needed is None or "V2" not in widths:
        return told
    enough = next((name for name, width in widths.items() if _SIGN_WIDTH * width >= needed), None)
    where = f"can be read in {enough}" if enough else "needs V3"
    return f"{told}; a sign of 1 % of a {IMAGE_WIDTH}-pixel picture {where}"


def _legible_attribute(eyes: AcuityScores) -> Attribute | None:
    """Return the one question whose answers are better than chance at any size; None for both, or neither."""
    answered = [name for name in ATTRIBUTES if eyes.curves[name].bound != "chance"]
    return answered[0] if len(answered) == 1 else None


def _fault_caveats(one: AcuityScores, symptoms: Sequence[FaultDiagnosis]) -> Iterator[Caveat]:
    """Name the faults that a model's errors fit, with the conditions in which they do."""
    for fault, sign in FAULTS.items():
        if conditions := [symptom.condition for symptom in symptoms if fault in symptom.faults]:
            text = f"{one.model}: answers under {', '.join(conditions)} fit the fault '{fault}': {sign}"
            yield Caveat(scope="model", text=text)


def _view_caveats(one: AcuityScores) -> Iterator[Caveat]:
    """Tell of replies whose recorded views do not hold the ring."""
    for answers in one.shown:
        if blind := int(np.count_nonzero(answers.pixels == 0)):
            text = f"{answers.key}: {blind} of {len(answers.at)} answers were shown no view that holds the whole ring"
            yield Caveat(scope="cell", text=text)
