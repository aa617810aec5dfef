"""Judges a reply: its final answer by the sample's options, its step answers by the steps' ground truths."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import starmap
from typing import Any, Literal, NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.final import parse_answer
from gigavqa.answers.matching import BoxCorners
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.answers.readings import MISSING, TOO_LONG, Reading, ReadingStatus
from gigavqa.benchmarks.ultravr.answers import read_schema_reply
from gigavqa.benchmarks.ultravr.errors import StepTruthInvalidError
from gigavqa.benchmarks.ultravr.samples import AnswerFormat, Operation, ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_judge import StepJudge, StepVerdict
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import Verdict, VerdictPart

STEP_PROTOCOLS = frozenset({"S2", "S4", "S5"})
"""Protocols that ask the annotated steps: S2 in one response, S4 and S5 one a turn."""
_BOXES = frozenset({"bbox_coordinates", "bbox_coordinates_normalized", "bbox_coordinates_list"})
_LONGEST_KNOWN, _MOST_KNOWN = 80, 64
"""Short answers to a sample recur over conditions, protocols, models and repeats; so many are kept a sample."""


FailureStage = Literal["GND", "PER", "QUA", "INT", "INF", "Final", "NoErr"]
"""Where an S4 trajectory fails first (equations 7 and 8): at an operation, at the final answer, or nowhere."""


class StepDetails(NamedTuple):
    """The score of a step's answer. `f1` is 0 for formats that hold no list."""

    operation: Operation
    answer_format: AnswerFormat
    status: ReadingStatus
    correct: bool
    f1: float
    converted: bool


class UltraVRDetails(NamedTuple):
    """The details of a reply to annotated steps: the score of each that can be judged, and the ids of the others."""

    steps: tuple[StepDetails, ...]
    unjudged: tuple[str, ...] = ()

    @property
    def first_wrong(self) -> Operation | None:
        """The operation of the first wrong step."""
        return next((step.operation for step in self.steps if not step.correct), None)


class UltraVRJudge:
    """One sample, made ready to judge any number of replies to it. Raises StepUnknownError when its steps are asked.

    Steps whose ground truth does not fit their format judge nothing.
    """

    def __init__(self, sample: UltraVRSample) -> None:
        self.sample = sample
        self._known: dict[tuple[str, bool], ParsedAnswer] = {}

    @cached_property
    def steps(self) -> tuple[StepJudge, ...]:
        """The judges of the steps that can be judged, in order."""
        return tuple(judge for judge in map(self._step_judge, self.sample.steps) if judge)

    @cached_property
    def unjudged(self) -> tuple[str, ...]:
        """The ids of the others."""
        judged = {judge.step.step_id for judge in self.steps}
        return tuple(step.step_id for step in self.sample.steps if step.step_id not in judged)

    def __call__(self, reply: Reply, frame: BoxFrame) -> Verdict[UltraVRDetails]:
        """Judge a reply; one without a text outgrew its context before its final turn, or was filtered."""
        text = reply.text
        if reply.protocol not in STEP_PROTOCOLS or not self.sample.steps:
            return self._judged(text, {}, frame, reply, asked=False)
        if text is None or reply.protocol != "S2":
            return self._judged(text, dict(reply.steps), frame, reply, asked=True)
        written = read_schema_reply(text, self.sample.steps, cut_off=reply.ends_amid)
        final = written.outside if written.final is None else written.final
        unread = TOO_LONG if written.too_long else MISSING
        of_final = (
            reply if written.final is None else reply._replace(cut_off=False, overflowed=False)
        )  # its JSON is closed
        return self._judged(final, written.answers, frame, of_final, asked=True, unread=unread)

    def _step_judge(self, step: ReasoningStep) -> StepJudge | None:
        try:
            return StepJudge(self.sample, step)
        except StepTruthInvalidError:
            return None

    def _judged(
        self,
        final: str | None,
        answers: Mapping[str, str | None],
        frame: BoxFrame,
        reply: Reply,
        *,
        asked: bool,
        unread: Reading = MISSING,
    ) -> Verdict[UltraVRDetails]:
        parsed = ParsedAnswer(None, reply.absence) if final is None else self._parse(final, reply.ends_amid)
        score = float(parsed.value == self.sample.truth) if self.sample.scored else None
        steps = self._judged_steps(answers, frame, reply, unread) if asked else []
        details = UltraVRDetails(tuple(starmap(_details, steps)), self.unjudged) if steps else None
        return Verdict(
            value=parsed.value,
            status=parsed.status,
            score=score,
            details=details,
            tags=_tags(details, bool(score)) if reply.protocol == "S4" and details and self.sample.scored else (),
            tell=lambda: tuple(_part(judge, answers.get(judge.step.step_id), one) for judge, one in steps),
            rule=parsed.rule,
        )

    def _judged_steps(
        self, answers: Mapping[str, str | None], frame: BoxFrame, reply: Reply, unread: Reading
    ) -> list["_JudgedStep"]:
        judged, cut = [(judge, answers.get(judge.step.step_id)) for judge in self.steps], reply.cut_steps
        return [
            (one, one.verdict(unread) if raw is None else one.judge(raw, frame, cut_off=one.step.step_id in cut))
            for one, raw in judged
        ]

    def _parse(self, final: str, cut_off: bool) -> ParsedAnswer:
        parsed = self._known.get((final, cut_off))
        if parsed is None:
            parsed = parse_answer(final, self.sample.options, cut_off=cut_off)
            if len(final) <= _LONGEST_KNOWN and len(self._known) < _MOST_KNOWN:
                self._known[final, cut_off] = parsed
        return parsed


_JudgedStep = tuple[StepJudge, StepVerdict]


def _details(judge: StepJudge, verdict: StepVerdict) -> StepDetails:
    return StepDetails(
        judge.operation,
        judge.step.answer_format,
        verdict.status,
        verdict.correct,
        verdict.f1 or 0.0,
        verdict.converted,
    )


def find_first_error(details: UltraVRDetails, *, correct: bool) -> FailureStage:
    """Return where a trajectory fails first (equation 7): at an operation, at its final answer, or nowhere."""
    return details.first_wrong or ("NoErr" if correct else "Final")


def _tags(details: UltraVRDetails, correct: bool) -> tuple[tuple[str, str], ...]:
    return (("first error", find_first_error(details, correct=correct)),)


def _part(judge: StepJudge, text: str | None, verdict: StepVerdict) -> VerdictPart:
    step = judge.step
    holds_boxes = step.answer_format in _BOXES
    return VerdictPart(
        name=step.step_id,
        question=step.question,
        truth=step.ground_truth,
        value=verdict.value,
        text=text,
        status=verdict.status,
        score=float(verdict.correct),
        tags=(("operation", judge.operation), ("format", step.answer_format)),
        notes=tuple(_notes(verdict)),
        boxes=_boxes(verdict.value) if holds_boxes else (),
        true_boxes=_boxes(judge.truth) if holds_boxes else (),
    )


def _notes(verdict: StepVerdict) -> Iterator[str]:
    if verdict.f1 is not None:
        yield f"F1 {verdict.f1:.2f}"
    if verdict.converted:
        yield "boxes converted from the family's convention"


def _boxes(value: Any) -> tuple[BoxCorners, ...]:
    """One box or several, as they were read; nothing where none was."""
    if not value:
        return ()
    return (value,) if isinstance(value[0], int | float) else tuple(value)
