"""Judges a reply: right, wrong or unanswered, and the points that each is worth (section 4.3)."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.benchmarks.atombench.answers import read_answer
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import Verdict, VerdictPart

AnswerOutcome = Literal["right", "wrong", "unanswered"]
"""What an answer counts as: leaving blank is free, marking another option, or several, is not."""
FIRST_ANSWER = "first"
"""The step by which AGC's first turn is known."""


def outcome_of(answer: ParsedAnswer, truth: str) -> AnswerOutcome:
    """Return what an answer counts as; several options named are a wrong answer, none is an unanswered question."""
    if answer.value is None:
        return "wrong" if answer.status == "ambiguous" else "unanswered"
    return "right" if answer.value == truth else "wrong"


def points_of(outcome: AnswerOutcome, num_options: int) -> float:
    """Points by the rule against guessing: 1, -1/(n - 1), or 0."""
    return {"right": 1.0, "wrong": -1.0 / (num_options - 1), "unanswered": 0.0}[outcome]


ReplyErrors = tuple[tuple[str, bool], ...]
"""Kinds of errors, each with whether a reply has one."""


class AtomDetails(NamedTuple):
    """The details of a reply: the outcome of its final answer, that of AGC's first one, and kinds of errors by people.

    `errors` says of each kind that somebody looked for whether the reply has one.
    """

    final: AnswerOutcome
    first: AnswerOutcome | None = None
    errors: ReplyErrors = ()


class AtomJudge:
    """One question, made ready to judge any number of replies to it.

    Of a verdict, `score` is its correctness, never penalized.
    """

    def __init__(self, sample: AtomSample, labels: Mapping[tuple[str, str], ReplyErrors] | None = None) -> None:
        self._sample = sample
        self._labels = labels or {}

    def __call__(self, reply: Reply, frame: BoxFrame) -> Verdict[AtomDetails]:
        """Judge a reply; one without a text outgrew its context before its final turn, or was filtered."""
        final = self._read(reply.text, reply.absence, cut_off=reply.ends_amid)
        if not self._sample.scored:
            return Verdict(final.value, final.status, None, rule=final.rule)
        outcome = outcome_of(final, self._sample.answer)
        firsts = [(text, self._read(text)) for step, text in reply.steps if step == FIRST_ANSWER]
        known = [outcome_of(read, self._sample.answer) for _, read in firsts[:1]]
        errors = self._labels.get(reply.identity, ()) if outcome != "right" else ()
        found = [("error", name) for name, has in errors if has]
        points = points_of(outcome, self._sample.num_options)
        return Verdict(
            value=final.value,
            status=final.status,
            score=float(outcome == "right"),
            details=AtomDetails(outcome, next(iter(known), None), errors),
            tags=(("counts as", outcome), ("points", f"{points:.2f}"), *found),
            tell=lambda: tuple(self._part(*first) for first in firsts),
            rule=final.rule,
        )

    def _read(
        self, text: str | None, absence: Literal["filtered", "overflowed"] = "filtered", *, cut_off: bool = False
    ) -> ParsedAnswer:
        if text is None:
            return ParsedAnswer(None, absence)
        return read_answer(text, self._sample.options or {}, cut_off=cut_off)

    def _part(self, first: str | None, answer: ParsedAnswer) -> VerdictPart:
        return VerdictPart(
            name=FIRST_ANSWER,
            question=self._sample.question,
            truth=self._sample.answer,
            value=answer.value,
            text=first,
            status=answer.status,
            score=float(outcome_of(answer, self._sample.answer) == "right"),
        )
