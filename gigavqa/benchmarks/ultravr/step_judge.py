"""Judges a step's raw answer against its ground truth (appendix D.2): read by format, then compared."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from gigavqa.answers.answer_space import AnswerSpace, key_of
from gigavqa.answers.asked import Asked, asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.boxes import UNIT_FRAME, BoxFrame, read_box, read_boxes
from gigavqa.answers.choices import read_choice, read_ratio
from gigavqa.answers.coordinates import format_coordinate, read_coordinate
from gigavqa.answers.final import parse_answer
from gigavqa.answers.matching import IOU_THRESHOLD, f1_of, f1_of_sets, iou, matched
from gigavqa.answers.normalization import is_blank, is_unanswered, json_value, said
from gigavqa.answers.number_sentences import states_quantity
from gigavqa.answers.numbers import counts_nothing, read_integer
from gigavqa.answers.readings import (
    AMBIGUOUS,
    BLANK,
    MISSING,
    UNFINISHED,
    UNPARSABLE,
    Reading,
    ReadingStatus,
    parsed,
)
from gigavqa.answers.regions import read_regions
from gigavqa.answers.several_choices import read_choices
from gigavqa.benchmarks.ultravr.broken_off import complete_part, opening_sentence
from gigavqa.benchmarks.ultravr.errors import StepTruthInvalidError
from gigavqa.benchmarks.ultravr.operations import operation_of
from gigavqa.benchmarks.ultravr.samples import AnswerFormat, Operation, ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_forms import choices_of

STEP_PARSER_VERSION = "ultravr-steps/14"

LIST_FORMATS: frozenset[AnswerFormat] = frozenset(["bbox_coordinates_list", "multi_select", "roi_list"])
"""Formats whose verdicts carry an F1 beside the set equality."""
StepFormat = AnswerFormat | Literal["box", "ratio", "cell"]
_BOX_FORMATS = frozenset(["bbox_coordinates", "bbox_coordinates_normalized"])
_CACHE_SIZE = 1 << 15
_LONGEST_CACHED = 64
"""Short answers recur; long ones are read anew each time, so that what is kept stays small."""


@dataclass(frozen=True)
class StepVerdict:
    """The verdict on a step's answer: the value that was read, how, and whether it is right; `f1` of list formats
    alone.
    """

    value: Any
    status: ReadingStatus
    correct: bool
    f1: float | None = None
    converted: bool = False


class StepJudge:
    """One annotated step, made ready to judge any number of answers to it.

    Raises StepUnknownError where the step has no operation, StepTruthInvalidError where its ground truth cannot be
    read in its own format.
    """

    def __init__(self, sample: UltraVRSample, step: ReasoningStep) -> None:
        self.step = step
        self.operation: Operation = operation_of(sample, step)
        self._kind = _step_format(step)
        self._space = _answer_space(_choices(sample, step), tuple(step.variants.items()))
        self._truth = self._read_truth(sample)
        self._asked = asked_of(step.question) if self._kind in _ASKED else None

    @property
    def truth(self) -> Any:
        """The ground truth as it was read; None where it is blank."""
        return self._truth.value

    def judge(self, raw: str | None, frame: BoxFrame = UNIT_FRAME, *, cut_off: bool = False) -> StepVerdict:
        """Judge a raw answer; None is one that was not given. Of one `cut_off`, what is only begun is no answer."""
        if raw is None:
            return self.verdict(MISSING)
        return self.verdict(read_step(self._kind, self._space, raw, frame, cut_off, asked=self._asked))

    def verdict(self, reading: Reading) -> StepVerdict:
        """Judge what was read of an answer, or why nothing was."""
        correct, f1 = self._agreement(reading)
        return StepVerdict(reading.value, reading.status, correct, f1, reading.converted)

    def _read_truth(self, sample: UltraVRSample) -> Reading:
        truth = self.step.ground_truth
        reading = BLANK if truth == "" else _read_value(self._kind, self._space, truth, UNIT_FRAME)
        if reading.status not in ("parsed", "blank"):
            raise StepTruthInvalidError(
                f"sample '{sample.id}': the ground truth of step '{self.step.step_id}' is no "
                f"{self.step.answer_format}: {truth!r}"
            )
        return reading

    def _agreement(self, reading: Reading) -> tuple[bool, float | None]:
        if self._kind in LIST_FORMATS:
            return self._list_agreement(reading)
        if reading.status != "parsed" or self._truth.status == "blank":
            return reading.status == self._truth.status == "blank", None
        if self._kind == "box":
            return iou(reading.value, self._truth.value) >= IOU_THRESHOLD, None
        return reading.value == self._truth.value, None

    def _list_agreement(self, reading: Reading) -> tuple[bool, float]:
        if reading.status not in ("parsed", "blank"):
            return False, 0.0
        found, true = reading.value or (), self._truth.value or ()
        if self._kind == "bbox_coordinates_list":
            shared = matched(found, true)
            return shared == len(found) == len(true), f1_of(shared, len(found), len(true))
        return set(found) == set(true), f1_of_sets(set(found), set(true))


_READERS: dict[StepFormat, Callable[[Any, AnswerSpace, BoxFrame, Asked | None], Reading]] = {
    "boolean": lambda value, space, frame, asked: read_boolean(value, asked=asked),
    "integer": lambda value, space, frame, asked: read_integer(value, asked=asked),
    "multiple_choice": lambda value, space, frame, asked: read_choice(value, space, asked),
    "single_choice": lambda value, space, frame, asked: read_choice(value, space, asked),
    "short_text": lambda value, space, frame, asked: read_choice(value, space, asked),
    "multi_select": lambda value, space, frame, asked: read_choices(value, space, asked),
    "roi_list": lambda value, space, frame, asked: read_regions(value),
    "box": lambda value, space, frame, asked: read_box(value, frame),
    "bbox_coordinates_list": lambda value, space, frame, asked: read_boxes(value, frame),
    "ratio": lambda value, space, frame, asked: read_ratio(value),
    "cell": lambda value, space, frame, asked: _read_cell(value),
}


_ASKED: frozenset[StepFormat] = frozenset(
    ["boolean", "integer", "multiple_choice", "single_choice", "short_text", "multi_select"]
)
"""Formats of whose replies the question tells what is meant."""


def read_step(
    kind: StepFormat,
    space: AnswerSpace,
    raw: str,
    frame: BoxFrame,
    cut_off: bool,
    *,
    asked: Asked | None = None,
) -> Reading:
    """Read a raw answer by the format of its step, and what was `asked`; of one that was `cut_off`, what was complete
    before.
    """
    said_of = asked if len(raw) >= _LEAST_STATED else None
    return (_read_cached if len(raw) <= _LONGEST_CACHED else _read_raw)(kind, space, raw, frame, cut_off, asked=said_of)


_LEAST_STATED = 8
"""Characters of an answer that can say of what it is one."""


def _read_raw(
    kind: StepFormat, space: AnswerSpace, raw: str, frame: BoxFrame, cut_off: bool, *, asked: Asked | None
) -> Reading:
    told = said(raw)
    if told.silence:
        return Reading(None, told.silence)
    if cut_off:
        return _read_cut_off(kind, space, raw, told.text, frame)
    value = json_value(told.text)
    return MISSING if is_unanswered(value) else _read_value(kind, space, value, frame, asked)


_read_cached = lru_cache(maxsize=_CACHE_SIZE)(_read_raw)


def _read_cut_off(kind: StepFormat, space: AnswerSpace, raw: str, text: str, frame: BoxFrame) -> Reading:
    """Read what is complete of an answer: JSON, what is announced, a yes, a no or a choice that opens it."""
    part = complete_part(raw, text, is_list=kind in LIST_FORMATS, is_boxes=kind == "bbox_coordinates_list")
    if part is not None:
        return _read_value(kind, space, json_value(part), frame)
    opening = opening_sentence(text)
    if opening and kind == "boolean":
        return read_boolean(f"{opening} {_LACK}", cut_off=True)
    if opening and kind == "integer" and states_quantity(opening):
        return read_integer(opening)
    if (bold := _OPENS_BOLD.match(text)) and kind not in LIST_FORMATS and key_of(bold[1]) in space.canonical:
        return parsed(space.canonical[key_of(bold[1])])
    is_choice = kind not in LIST_FORMATS and opening is not None and key_of(opening) in space.canonical
    return _read_value(kind, space, opening, frame) if is_choice else UNFINISHED


_OPENS_BOLD = re.compile(r"\s*\*\*([^*\n]{1,60})\*\*")
_LACK = "("
"""Stands for what was cut off, so that a sentence before it is not the last one."""


_SUM = re.compile(r"\s*\d{1,6}(?:\s?\+\s?\d{1,6}){1,16}\s*")
"""A sum and nothing else, "2+1"."""


def _read_value(
    kind: StepFormat, space: AnswerSpace, value: Any, frame: BoxFrame, asked: Asked | None = None
) -> Reading:
    if is_blank(value) and not (kind == "integer" and counts_nothing(value)):
        return BLANK
    if kind == "integer" and isinstance(value, str) and _SUM.fullmatch(value):
        return parsed(sum(map(int, value.split("+"))))
    return _READERS[kind](value, space, frame, asked)


def _step_format(step: ReasoningStep) -> StepFormat:
    truth, form = step.ground_truth, step.answer_format
    if form in _BOX_FORMATS:
        return "box"
    if form in ("multiple_choice", "short_text") and isinstance(truth, str):
        if read_coordinate(truth):
            return "cell"
        if form == "multiple_choice" and not step.options and read_ratio(truth).value == truth.replace(" ", ""):
            return "ratio"
    return form


@lru_cache(maxsize=1024)
def _answer_space(choices: tuple[str, ...], variants: tuple[tuple[str, tuple[str, ...]], ...]) -> AnswerSpace:
    return AnswerSpace(choices, dict(variants))


def _choices(sample: UltraVRSample, step: ReasoningStep) -> tuple[str, ...]:
    choices, truth = choices_of(sample, step), step.ground_truth
    if not choices or step.answer_format == "multi_select" or not isinstance(truth, str):
        return choices
    return choices if key_of(truth) in map(key_of, choices) else (*choices, truth)


def _read_cell(value: Any) -> Reading:
    if cell := read_coordinate(value):
        return parsed(format_coordinate(cell))
    answer = parse_answer(value, None) if isinstance(value, str) else None
    if answer is None or answer.value is None:
        return AMBIGUOUS if answer and answer.status == "ambiguous" else UNPARSABLE
    return parsed(answer.value)
