"""Judges one reply: its final answer by its options, its step answers by the steps' ground truths."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from benchmarks.ultravr.answers import ParsedAnswer, parse_answer
from benchmarks.ultravr.samples import Operation, Sample, Step
from benchmarks.ultravr.schema_reply import read_schema_reply
from benchmarks.ultravr.steps.boxes import BoxFrame
from benchmarks.ultravr.steps.judge import StepJudge, StepVerdict
from catalogue.entry import CatalogueEntry
from evaluation.datasets import Dataset
from evaluation.errors import StepTruthInvalidError
from evaluation.replies import Reply
from evaluation.reporting.models import Outcome

STEP_PROTOCOLS = frozenset({"S2", "S4", "S5"})
"""Protocols that ask the annotated steps: S2 in one response, S4 and S5 one a turn."""

_OVERFLOWED = ParsedAnswer(None, "overflowed")
_LONGEST_KNOWN, _MOST_KNOWN = 80, 64
"""Short answers to a sample recur over conditions, protocols, models and repeats; so many are kept a sample."""


@dataclass(frozen=True)
class JudgedStep:
    """A step with its raw answer (None where none was given) and the verdict on it."""

    step: Step
    operation: Operation
    text: str | None
    verdict: StepVerdict


@dataclass(frozen=True)
class Judgement:
    """What a reply with a text is worth; `steps` in the sample's order, empty where the protocol asks none."""

    final: ParsedAnswer
    correct: bool
    steps: tuple[JudgedStep, ...] = ()

    @property
    def first_error(self) -> Outcome:
        """Where the trajectory fails first (equation 7)."""
        wrong: Operation | None = next((judged.operation for judged in self.steps if not judged.verdict.correct), None)
        return wrong or ("NoErr" if self.correct else "Final")


class SampleJudge:
    """One sample, made ready to judge any number of replies to it. Raises StepUnknownError when its steps are asked.

    Steps whose ground truth does not fit their format judge nothing; `unjudged` holds their ids.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.unjudged: list[str] = []
        self._known: dict[str, ParsedAnswer] = {}

    @cached_property
    def steps(self) -> tuple[StepJudge, ...]:
        """The judges of the steps that can be judged, in order."""
        judges = []
        for step in self.sample.steps:
            try:
                judges.append(StepJudge(self.sample, step))
            except StepTruthInvalidError:
                self.unjudged.append(step.step_id)
        return tuple(judges)

    def judge(self, reply: Reply, text: str | None, frame: BoxFrame) -> Judgement:
        """Judge a reply whose final turn says `text`; None where the chat outgrew its context before that turn."""
        if reply.protocol not in STEP_PROTOCOLS or not self.sample.steps:
            return self._judged(text, {}, frame, asked=False)
        if text is None or reply.protocol != "S2":
            return self._judged(text, dict(reply.steps), frame, asked=True)
        written = read_schema_reply(text, self.sample.steps)
        final = written.outside if written.final is None else written.final
        return self._judged(final, written.answers, frame, asked=True)

    def _judged(self, final: str | None, answers: Mapping[str, str], frame: BoxFrame, *, asked: bool) -> Judgement:
        parsed = _OVERFLOWED if final is None else self._parse(final)
        correct = self.sample.scored and parsed.value == self.sample.answer
        steps = tuple(_judged_step(judge, answers, frame) for judge in self.steps) if asked else ()
        return Judgement(parsed, correct, steps)

    def _parse(self, final: str) -> ParsedAnswer:
        parsed = self._known.get(final)
        if parsed is None:
            parsed = parse_answer(final, self.sample.options)
            if len(final) <= _LONGEST_KNOWN and len(self._known) < _MOST_KNOWN:
                self._known[final] = parsed
        return parsed


class Judges:
    """The judges of a data set's samples, made when first needed."""

    def __init__(self, dataset: Dataset, catalogue: Mapping[str, CatalogueEntry]) -> None:
        self._samples = dataset.samples
        self._catalogue = catalogue
        self._judges: dict[int, SampleJudge] = {}

    def judge(self, reply: Reply, position: int) -> Judgement | None:
        """Judge a reply to the sample at `position`; None for a failure, which says nothing about the model."""
        if reply.text is None and not reply.overflowed:
            return None
        return self.of(position).judge(reply, reply.text, self._frame(reply))

    def of(self, position: int) -> SampleJudge:
        """Return the judge of the sample at `position`."""
        if position not in self._judges:
            self._judges[position] = SampleJudge(self._samples[position])
        return self._judges[position]

    def _frame(self, reply: Reply) -> BoxFrame:
        known = reply.model in self._catalogue
        raster = reply.rasters[0].raster_size if reply.rasters else None
        return BoxFrame(self._catalogue[reply.model].box_convention if known else "unit", raster)


def _judged_step(judge: StepJudge, answers: Mapping[str, str], frame: BoxFrame) -> JudgedStep:
    text = answers.get(judge.step.step_id)
    return JudgedStep(judge.step, judge.operation, text, judge.judge(text, frame))
