"""Dialogues: work that asks questions as it goes, played by a build's models, or by rule where no model takes part.

A dialogue is a generator. It yields questions that may be asked together, is sent their answers in the same order, and
returns what it found. Of itself it is a function of answers: who plays it again with the recorded ones finds the same.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from gigavqa.construction.calls.call_desk import CallOutcome, CallReading, OpenCall
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.calls.replies import ReplyReader


class ModelQuestion(Protocol):
    """What a dialogue asks: the call for a model, and what its reply says.

    All questions of a stage are of one type. Where its replies are no JSON, it may have a static `reader`, which takes
    the text and raises ReplyFaultError; `read` then takes what that returns.
    """

    def call(self, model: str) -> ModelCall:
        """Return the call."""

    def read(self, value: Any) -> Any:
        """Return the answer that a reply gives, which has the form that the call's schema asks for."""


class RuleQuestion(ModelQuestion, Protocol):
    """A question that can be answered without a model."""

    def by_rule(self) -> Any:
        """Return the answer by rule."""


class CallAsker(Protocol):
    """Whoever asks the calls of one stage; the desk of a build."""

    def ask(self, calls: Iterable[ModelCall], read: ReplyReader | None = None) -> Iterator[CallOutcome]:
        """Yield what came of each call, in their order; `read` refuses replies that have to be asked for again."""


Found = TypeVar("Found")
Dialogue = Generator[tuple[ModelQuestion, ...], Sequence[Any], Found]
"""Yields questions, is sent an answer to each: None where no reply could be read."""

MOST_TOGETHER = 256
"""Dialogues that are under way together: what a run holds in memory."""


class OpenDialogue(NamedTuple):
    """A dialogue with a question that has no answer yet. A later run plays it again, and asks from there on."""

    why: str


def asked(question: ModelQuestion) -> Dialogue[Any]:
    """Ask one question within a dialogue, and return its answer."""
    (answer,) = yield (question,)
    return answer


def play_by_rule(dialogue: Dialogue[Found]) -> Found:
    """Play a dialogue without a model; each of its questions can be answered by rule."""
    try:
        questions = next(dialogue)
        while True:
            questions = dialogue.send([question.by_rule() for question in questions])  # type: ignore[attr-defined]
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def play_dialogues(
    desk: CallAsker,
    dialogues: Iterable[tuple[str, Dialogue[Found]]],
    model_of: Callable[[ModelQuestion], str],
) -> Iterator[tuple[str, Found | OpenDialogue]]:
    """Play dialogues beside each other, and yield what each found as it ends, by its key, which no other has.

    What all of them ask next goes out together, stage by stage; so a model is asked by hundreds, however often one of
    them must wait for an answer. `model_of` names the model for a question.
    """
    left = iter(dialogues)
    waiting: dict[str, _Waiting] = {}
    while True:
        while len(waiting) < MOST_TOGETHER and (one := next(left, None)) is not None:
            yield from _advance(waiting, *one, None)
        if not waiting:
            return
        answers = _answers(desk, waiting, model_of)
        for key, (dialogue, _) in list(waiting.items()):
            del waiting[key]
            told = answers[key]
            if isinstance(told, OpenDialogue):
                yield key, told
            else:
                yield from _advance(waiting, key, dialogue, told)


class _Waiting(NamedTuple):
    dialogue: Any
    questions: tuple[ModelQuestion, ...]


def _advance(
    waiting: dict[str, _Waiting], key: str, dialogue: Dialogue[Found], answers: Sequence[Any] | None
) -> Iterator[tuple[str, Found]]:
    """Let a dialogue go on until it asks, or yield what it found."""
    try:
        questions = next(dialogue) if answers is None else dialogue.send(answers)
        waiting[key] = _Waiting(dialogue, questions)
    except StopIteration as end:
        yield key, end.value


def _answers(
    desk: CallAsker, waiting: Mapping[str, _Waiting], model_of: Callable[[ModelQuestion], str]
) -> dict[str, list[Any] | OpenDialogue]:
    asked_now = [
        (key, place, question, question.call(model_of(question)))
        for key, (_, questions) in waiting.items()
        for place, question in enumerate(questions)
    ]
    told: dict[str, Any] = {key: [None] * len(questions) for key, (_, questions) in waiting.items()}
    for stage in sorted({call.stage for *_, call in asked_now}):
        these = [each for each in asked_now if each[3].stage == stage]
        outcomes = desk.ask([call for *_, call in these], getattr(these[0][2], "reader", None))
        for (key, place, question, _), outcome in zip(these, outcomes, strict=True):
            if isinstance(outcome, OpenCall):
                told[key] = OpenDialogue(outcome.why)
            elif isinstance(outcome, CallReading) and not isinstance(told[key], OpenDialogue):
                told[key][place] = question.read(outcome.value)
    return told
