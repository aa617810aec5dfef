"""Reads bounding boxes in the forms that models write them in, and brings them to the unit square of the image."""

import json
import re
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from gigavqa.answers.abstention import abstains
from gigavqa.answers.doubts import is_struck
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.matching import BoxCorners
from gigavqa.answers.negation import Mention, settled, stances
from gigavqa.answers.normalization import is_blank, passages
from gigavqa.answers.numerals import is_number
from gigavqa.answers.readings import AMBIGUOUS, BLANK, OUT_OF_RANGE, UNPARSABLE, Reading, parsed
from gigavqa.answers.sentence_forms import CONCLUSION, DENIES
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import behind_retraction, is_first_thought
from gigavqa.catalogue.families.family import BoxConvention
from gigavqa.tiling.geometry import Size


class BoxFrame(NamedTuple):
    """The convention by which a family writes boxes, and the raster (W, H) whose pixels it may count; the raster shows
    the full image.
    """

    convention: BoxConvention = "unit"
    raster: Size | None = None


UNIT_FRAME = BoxFrame()

# Bounded, so that a run of digits without end is passed over in linear time.
_N = r"([-+]?(?:\d{1,6}(?:\.\d{0,20})?|\.\d{1,20}))"
_SEP = r"(?:\s*+[,;]\s*+|\s++)"
_EMPTY_FIRST = lazy_pattern(rf"[^\[\d]*\[\s?\]`?(?:[.\s]|$)(?!.*{words('retraction')})", re.DOTALL | re.IGNORECASE)
"""An empty list before any box: what follows remarks on what is none."""
_EMPTY_LAST = re.compile(r"\[\s?\][\s.`*]{0,8}$")
"""An empty list behind all boxes: those were an example, or are taken back."""
_LAST = lazy_pattern(rf":\s*\**[\[(]\s*+{_N}{_SEP}{_N}{_SEP}{_N}{_SEP}{_N}\s*+[\])]\**\s*\.?\s*$")
"""A box that a text ends with, behind a colon: the one that it comes to."""
_LABELS = re.compile(r"[\"']?\b(?:[xy]_?(?:min|max|[0-3])|left|top|right|bottom)[\"']?\s*[:=]\s*", re.IGNORECASE)
_QUADRUPLE = lazy_pattern(rf"[\[(<{{]\s*+{_N}{_SEP}{_N}{_SEP}{_N}{_SEP}{_N}\s*+[\])>}}]")
_CORNER = rf"[(\[]\s*+{_N}\s*+,\s*+{_N}\s*+[)\]]"
_CORNERS = lazy_pattern(rf"{_CORNER}\s*+(?:,|to|and|-|–|;)?\s*+{_CORNER}")
_BARE = lazy_pattern(rf"{_N}{_SEP}{_N}{_SEP}{_N}{_SEP}{_N}")
_ABSENT = re.compile(
    r"\b(?:no|none|nothing|absent|empty|null|n/a|not\s+(?:present|visible|applicable|found|exist)|(?:does|do)\s+not"
    r"|doesn't|don't|isn't|aren't)\b",
    re.IGNORECASE,
)
_SIDES = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("x_min", "y_min", "x_max", "y_max"),
          ("left", "top", "right", "bottom"), ("x0", "y0", "x1", "y1"))  # fmt: skip
_HOLDERS = ("bbox_2d", "bbox", "box", "box_2d", "bounding_box", "bbox_coordinates", "coordinates", "boxes", "bboxes")


def read_box(value: Any, frame: BoxFrame) -> Reading:
    """Read one box [x1, y1, x2, y2]; several different ones without an announcement are ambiguous."""
    reading = read_boxes(value, frame)
    if reading.status == "out_of_range" and isinstance(value, str):
        within = {box for box in _written(value) if max(box) <= 1}
        return parsed(within.pop()) if len(within) == 1 else reading
    if reading.status != "parsed":
        return reading
    distinct = tuple(dict.fromkeys(reading.value))
    if not distinct:
        return BLANK
    if len(distinct) > 1 and isinstance(value, str):
        meant = _meant(value)
        if len(meant) > 1 and (last := _LAST.search(value)):
            return read_box([*_box(last.groups())], frame)
        return read_box([*meant[0]], frame) if len(meant) == 1 else AMBIGUOUS
    return Reading(distinct[0], "parsed", reading.converted) if len(distinct) == 1 else AMBIGUOUS


def _meant(text: str) -> list[BoxCorners]:
    """Return the boxes that a text still means, after denials and retractions."""
    text, found = behind_retraction(text, lambda rest: bool(_QUADRUPLE.search(rest))), []
    concluded: list[Hashable] = []
    for sentence in sentences_of(text):
        mentions = _mentions(sentence)
        if mentions and not (len(mentions) == 1 and is_first_thought(sentence)):
            said = [mention.value for mention in mentions if mention.value in settled(sentence, mentions)]
            found += said
            concluded = said if CONCLUSION.search(sentence.lower()) else concluded
    return list(dict.fromkeys(concluded or found))  # type: ignore[arg-type]


def read_boxes(value: Any, frame: BoxFrame) -> Reading:
    """Read a list of boxes, normalized to the unit square by the frame's convention; an empty list is a reading."""
    if isinstance(value, str):
        return _read_text(value, frame)
    boxes = _from_json(value)
    return UNPARSABLE if boxes is None else _normalized(boxes, frame)


def _read_text(text: str, frame: BoxFrame) -> Reading:
    for passage in passages(text):
        if boxes := _written(passage):
            if _EMPTY_FIRST.match(text) or _EMPTY_LAST.search(passage):
                return parsed(())
            left = _undenied(passage, boxes)
            return AMBIGUOUS if not left or is_struck(passage, left, _mentions) else _normalized(left, frame)
        if passage is not text and is_blank(passage.partition("\n")[0]):
            return BLANK
    if "[]" in text:
        return parsed(())
    return BLANK if _ABSENT.search(text) and not abstains(text) else UNPARSABLE


def _mentions(sentence: str) -> list[Mention]:
    return [Mention(*match.span(), _box(match.groups())) for match in _QUADRUPLE.finditer(sentence)]


def _undenied(text: str, boxes: list[BoxCorners]) -> list[BoxCorners]:
    """Return the boxes that no sentence denies, "there is nothing at [...]"."""
    if not DENIES.may_be_in(text.lower()):
        return boxes
    denied = {box for sentence in sentences_of(text) for box in stances(sentence, _mentions(sentence)).denied}
    return [box for box in boxes if box not in denied]


def _written(text: str) -> list[BoxCorners]:
    bare, labels = _LABELS.subn("", text)
    matches = [*_QUADRUPLE.finditer(bare)] or [*_CORNERS.finditer(bare)]
    if not matches and ("[" in text or "{" in text) and (boxes := _embedded(text)):
        return boxes
    if not matches and (
        found := _BARE.search(bare) if labels >= len(_SIDES[0]) else _BARE.fullmatch(_without_stop(bare))
    ):
        matches = [found]
    return [*dict.fromkeys(_box(match.groups()) for match in matches)]


def _without_stop(text: str) -> str:
    return text.strip().removesuffix(".").strip()


def _embedded(text: str) -> list[BoxCorners]:
    """Return the boxes of JSON that stands in prose, from its first bracket on."""
    start = min(at for at in (text.find("["), text.find("{")) if at >= 0)
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):  # a model in a loop nests brackets without end
        return []
    return _from_json(value) or []


def _from_json(value: Any) -> list[BoxCorners] | None:
    """Return the boxes of decoded JSON; None where it holds something else."""
    try:
        return [*_gathered(value)]
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _gathered(value: Any) -> Iterator[BoxCorners]:
    if isinstance(value, dict):
        yield from _from_object(value)
    elif isinstance(value, str):
        if not (boxes := _written(value)):
            raise ValueError(value)
        yield from boxes
    elif len(value) == 4 and all(is_number(side) for side in value):
        yield _box(value)
    elif len(value) == 2 and all(isinstance(side, list) and len(side) == 2 for side in value):
        yield _box([*value[0], *value[1]])
    else:
        for part in value:
            yield from _gathered(part)


def _from_object(value: dict[str, Any]) -> Iterator[BoxCorners]:
    lowered = {str(key).lower(): inner for key, inner in value.items()}
    for sides in _SIDES:
        if all(side in lowered for side in sides):
            yield _box([lowered[side] for side in sides])
            return
    held = [lowered[name] for name in _HOLDERS if name in lowered]
    parts = held or [inner for inner in lowered.values() if isinstance(inner, list | dict)]
    if not parts:
        raise ValueError("an object without a box")
    for part in parts:
        yield from _gathered(part)


def _box(sides: Any) -> BoxCorners:
    x1, y1, x2, y2 = map(float, sides)
    return x1, y1, x2, y2


def _normalized(boxes: list[BoxCorners], frame: BoxFrame) -> Reading:
    if all(side <= 1 for box in boxes for side in box):
        return parsed(tuple(boxes))
    if frame.convention == "thousand":
        width = height = 1000.0
    elif frame.convention == "pixels" and frame.raster:
        width, height = float(frame.raster.width), float(frame.raster.height)
    else:
        return OUT_OF_RANGE
    converted = tuple((x1 / width, y1 / height, x2 / width, y2 / height) for x1, y1, x2, y2 in boxes)
    return Reading(converted, "parsed", converted=True)
