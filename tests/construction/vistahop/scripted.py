"""Scripted replies: what the tests say in a model's place, in the form that a call's schema asks for."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jsonschema import Draft202012Validator

from gigavqa.construction.calls.call_desk import CallOutcome, CallReading, DroppedCall, OpenCall
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.calls.replies import ReplyReader
from gigavqa.construction.vistahop.dialogues import Dialogue, ModelQuestion
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnownEntity

Script = Callable[[Any], Any]
"""Takes a question, and returns what the reply to it says; None for a reply that could not be read."""


def entity(key: str, name: str = "", frequency: int = 1) -> KnownEntity:
    """An entity without a page."""
    return KnownEntity(key, name or key, "", "", frequency)


def play(dialogue: Dialogue[Any], script: Script) -> Any:
    """Play a dialogue by scripted replies, each of which must fit its call's schema."""
    try:
        questions = next(dialogue)
        while True:
            questions = dialogue.send([_answer(question, script) for question in questions])
    except StopIteration as end:
        return end.value


def _answer(question: ModelQuestion, script: Script) -> Any:
    value = script(question)
    if value is None:
        return None
    schema = question.call("m").schema
    if schema is not None:
        Draft202012Validator(dict(schema)).validate(value)
    reader = getattr(question, "reader", None)
    return question.read(reader(value) if reader else value)


class ScriptedDesk:
    """A desk that knows the reply to each call by its text; what it has none for stays open or is told by `outcome`."""

    def __init__(self, reply: Callable[[ModelCall], Any]) -> None:
        self._reply = reply
        self.asked: list[list[ModelCall]] = []

    def ask(self, calls: Iterable[ModelCall], read: ReplyReader | None = None) -> Iterator[CallOutcome]:
        """Yield what came of each call."""
        self.asked.append(list(calls))
        for call in self.asked[-1]:
            told = self._reply(call)
            told = read(told) if read and isinstance(told, str) else told
            yield told if isinstance(told, DroppedCall | OpenCall) else CallReading(call, told, call.id)
