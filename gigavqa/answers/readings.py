"""Readings of a step's raw answer, apart from whether they are correct."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

ReadingStatus = Literal[
    "parsed", "blank", "missing", "ambiguous", "unfinished", "too_long", "out_of_range", "unparsable"
]
"""`parsed` into the expected format, `blank` said to be not applicable or absent, `missing` no answer was given,
`ambiguous` several incompatible ones, `unfinished` thinking, or a sentence, that never ended, `too_long` more than is
read and no announcement at its end, `out_of_range` boxes that no known
convention explains, `unparsable` nothing of the expected format."""


class Reading(NamedTuple):
    """`value` is None unless parsed: a bool, an int, a text, a tuple of texts, ints or boxes."""

    value: Any
    status: ReadingStatus
    converted: bool = False


BLANK = Reading(None, "blank")
MISSING = Reading(None, "missing")
AMBIGUOUS = Reading(None, "ambiguous")
UNFINISHED = Reading(None, "unfinished")
TOO_LONG = Reading(None, "too_long")
OUT_OF_RANGE = Reading(None, "out_of_range")
UNPARSABLE = Reading(None, "unparsable")


def parsed(value: Any) -> Reading:
    """Return what was read from an answer."""
    return Reading(value, "parsed")


def only_reading(readings: Iterable[Reading]) -> Reading:
    """Return the one of several that was parsed; ambiguous where several were, to different values."""
    found = {reading.value: reading for reading in readings if reading.status == "parsed"}
    if len(found) > 1:
        return AMBIGUOUS
    return next(iter(found.values()), UNPARSABLE)
