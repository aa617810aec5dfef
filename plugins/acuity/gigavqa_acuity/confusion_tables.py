"""Tables of what was taken for what: colours, directions and turns, and the symptoms of faults."""

from collections.abc import Iterator, Sequence

from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table
from gigavqa_acuity.faults import FaultDiagnosis
from gigavqa_acuity.metrics import READABLE_PIXELS, AcuityScores, ConditionScores
from gigavqa_acuity.tables import keyed_column, row_title
from gigavqa_acuity.taxonomy import WORDS, Attribute

NO_LETTER = "none"
"""What stands for no fault, and for no answer."""


def confusion_table(eyes: Sequence[AcuityScores], attribute: Attribute) -> Table:
    """Return what each option was taken for: one row a model, condition and true option."""
    words = WORDS[attribute]
    columns = tuple(
        Column(key=name, title=name, keys={"metric": "answered", "answered": name}) for name in (*words, NO_LETTER)
    )
    return Table(
        name=f"{attribute}s",
        title=f"{attribute.capitalize()}s taken for others",
        caption=f"Answers to rings of {READABLE_PIXELS} pixels and more in the raster, in % of those of a "
        f"true {attribute}.",
        groups=(ColumnGroup(title="Answered", columns=columns),),
        rows=tuple(_confusion_rows(eyes, attribute, words)),
        detail=True,
    )


def _confusion_rows(eyes: Sequence[AcuityScores], attribute: Attribute, words: Sequence[str]) -> Iterator[Row]:
    for answers in (answers for one in eyes for answers in one.shown):
        for word in words:
            chosen = answers.readable & answers.about(attribute) & (answers.truth == word)
            if chosen.any():
                values = tuple(answers.shares(chosen, answers.meant == other) for other in (*words, ""))
                yield Row(
                    title=f"{row_title(answers)} · {word}", keys={**answers.key.keys, "truth": word}, values=values
                )


def turn_table(eyes: Sequence[AcuityScores]) -> Table:
    """Return how wrong directions lie to the true ones: one row a model and condition."""
    names = {1: "a quarter", 2: "a half", 3: "three quarters"}
    return Table(
        name="turns",
        title="Wrong directions",
        caption=f"By how much, clockwise, wrong directions of rings of {READABLE_PIXELS} pixels and more "
        f"are turned, in %; "
        "and of all such rings whose gap lies on either side, those taken for the other side.",
        groups=(
            ColumnGroup(
                title="Turned by", columns=tuple(keyed_column(f"turned_{90 * at}", name) for at, name in names.items())
            ),
            ColumnGroup(
                title="Mirrored",
                columns=(keyed_column("left_right", "left and right"), keyed_column("up_down", "up and down")),
            ),
        ),
        rows=tuple(_turn_row(answers, tuple(names)) for one in eyes for answers in one.shown),
        detail=True,
    )


def _turn_row(answers: ConditionScores, quarters: Sequence[int]) -> Row:
    mirrored = answers.swapped("left", "right"), answers.swapped("up", "down")
    turned = (answers.turned(at, among_wrong=True) for at in quarters)
    return Row(title=row_title(answers), keys=answers.key.keys, values=(*turned, *mirrored))


def fault_table(found: Sequence[FaultDiagnosis]) -> Table:
    """Return what was measured of each model and condition, and the faults that it fits."""
    return Table(
        name="symptoms",
        title="Symptoms",
        caption=f"Over signs of {READABLE_PIXELS} pixels and more in the raster, in %: what was taken for "
        f"its opposite, what "
        "is right of a picture beside it, and what is right. A fault is named where intervals leave no other.",
        groups=(
            ColumnGroup(
                title="Taken for the other",
                columns=(
                    keyed_column("red_blue", "red and blue"),
                    keyed_column("left_right", "left and right"),
                    keyed_column("up_down", "up and down"),
                    keyed_column("quarter", "turned by a quarter", note="to the side to which more are"),
                    keyed_column(
                        "neighbour", "neighbour", note="right of the picture before or behind, whichever is more"
                    ),
                ),
            ),
            ColumnGroup(
                title="Right",
                columns=(
                    keyed_column("small", "small regions", note="V3: regions below a tile"),
                    keyed_column("large", "large regions", note="V3: regions of four tiles' sides and more"),
                    keyed_column("colour", "colour"),
                    keyed_column("direction", "direction"),
                ),
            ),
            ColumnGroup(
                title="",
                columns=(
                    keyed_column("moved", "threshold moved", "number", note="over that of the other conditions but V4"),
                    keyed_column("fault", "fits", "text", strong=True),
                ),
            ),
        ),
        rows=tuple(_fault_row(one) for one in found),
    )  # fmt: skip


def _fault_row(one: FaultDiagnosis) -> Row:
    measured = (*one.swaps, one.neighbour, one.small, one.large, one.colour, one.direction, one.moved)
    keys = {**one.answers.key.keys, "fault": ", ".join(one.faults) or NO_LETTER}
    return Row(title=row_title(one.answers), keys=keys, values=(*measured, keys["fault"]))
