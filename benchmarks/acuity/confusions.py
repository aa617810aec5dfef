"""Tables of what was taken for what: colours, directions and turns, and the symptoms of faults."""

from collections.abc import Iterator, Sequence

from benchmarks.acuity.metrics import READABLE, Answers, Eyes
from benchmarks.acuity.symptoms import Symptoms
from benchmarks.acuity.tables import column, title_of
from benchmarks.acuity.taxonomy import WORDS, Attribute
from evaluation.tables import Column, Group, Row, Table

NONE = "none"
"""What stands for no fault, and for no answer."""


def confusions(eyes: Sequence[Eyes], attribute: Attribute) -> Table:
    """What each option was taken for: one row a model, condition and true option."""
    words = WORDS[attribute]
    columns = tuple(
        Column(key=name, title=name, keys={"metric": "answered", "answered": name}) for name in (*words, NONE)
    )
    return Table(
        name=f"{attribute}s",
        title=f"{attribute.capitalize()}s taken for others",
        caption=f"Answers to rings of {READABLE} pixels and more in the raster, in % of those of a true {attribute}.",
        groups=(Group(title="Answered", columns=columns),),
        rows=tuple(_confusion_rows(eyes, attribute, words)),
        detail=True,
    )


def _confusion_rows(eyes: Sequence[Eyes], attribute: Attribute, words: Sequence[str]) -> Iterator[Row]:
    for answers in (answers for one in eyes for answers in one.shown):
        for word in words:
            chosen = answers.readable & answers.about(attribute) & (answers.truth == word)
            if chosen.any():
                values = tuple(answers.shares(chosen, answers.meant == other) for other in (*words, ""))
                yield Row(
                    title=f"{title_of(answers)} · {word}", keys={**answers.key.keys, "truth": word}, values=values
                )


def turns(eyes: Sequence[Eyes]) -> Table:
    """How wrong directions lie to the true ones: one row a model and condition."""
    names = {1: "a quarter", 2: "a half", 3: "three quarters"}
    return Table(
        name="turns",
        title="Wrong directions",
        caption=f"By how much, clockwise, wrong directions of rings of {READABLE} pixels and more are turned, in %; "
        "and of all such rings whose gap lies on either side, those taken for the other side.",
        groups=(
            Group(title="Turned by", columns=tuple(column(f"turned_{90 * at}", name) for at, name in names.items())),
            Group(title="Mirrored", columns=(column("left_right", "left and right"), column("up_down", "up and down"))),
        ),
        rows=tuple(_turn_row(answers, tuple(names)) for one in eyes for answers in one.shown),
        detail=True,
    )


def _turn_row(answers: Answers, quarters: Sequence[int]) -> Row:
    mirrored = answers.swapped("left", "right"), answers.swapped("up", "down")
    turned = (answers.turned(at, among_wrong=True) for at in quarters)
    return Row(title=title_of(answers), keys=answers.key.keys, values=(*turned, *mirrored))


def symptoms(found: Sequence[Symptoms]) -> Table:
    """What was measured of each model and condition, and the faults that it fits."""
    return Table(
        name="symptoms",
        title="Symptoms",
        caption=f"Over signs of {READABLE} pixels and more in the raster, in %: what was taken for its opposite, what "
        "is right of a picture beside it, and what is right. A fault is named where intervals leave no other.",
        groups=(
            Group(
                title="Taken for the other",
                columns=(
                    column("red_blue", "red and blue"),
                    column("left_right", "left and right"),
                    column("up_down", "up and down"),
                    column("quarter", "turned by a quarter", note="to the side to which more are"),
                    column("neighbour", "neighbour", note="right of the picture before or behind, whichever is more"),
                ),
            ),
            Group(
                title="Right",
                columns=(
                    column("small", "small regions", note="V3: regions below a tile"),
                    column("large", "large regions", note="V3: regions of four tiles' sides and more"),
                    column("colour", "colour"),
                    column("direction", "direction"),
                ),
            ),
            Group(
                title="",
                columns=(
                    column("moved", "threshold moved", "number", note="over that of the other conditions but V4"),
                    column("fault", "fits", "text", strong=True),
                ),
            ),
        ),
        rows=tuple(_symptom_row(one) for one in found),
    )  # fmt: skip


def _symptom_row(one: Symptoms) -> Row:
    measured = (*one.swaps, one.neighbour, one.small, one.large, one.colour, one.direction, one.moved)
    keys = {**one.answers.key.keys, "fault": ", ".join(one.faults) or NONE}
    return Row(title=title_of(one.answers), keys=keys, values=(*measured, keys["fault"]))
