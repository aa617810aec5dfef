"""Reads a reply to S2: the step answers and the final answer, as far as they were written.

A reply may wrap its JSON in prose or code fences, write it loosely, spread it over several objects or break off. A
value that was cut off is no answer; what stands before it counts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from gigavqa.answers.loose_json import JsonSpan, TruncatedJson, read_objects
from gigavqa.answers.text import answer_text, thoughts_apart
from gigavqa.benchmarks.ultravr.samples import ReasoningStep

LONGEST = 32_000
"""Characters of a reply, its thoughts cut off, at most: its JSON is read whole, or not at all."""
FINAL_KEY = "final_answer"
_FINAL_KEYS = frozenset({"finalanswer", "final", "answer", "finaloption", "finalchoice"})
_ID_KEYS = ("step_id", "id", "step", "key")
_PLACEHOLDERS = frozenset({"", "...", "…"})
_EMPTY_VALUES: tuple[Any, ...] = (None, [], {})
_VALUE_KEYS = ("answer", "value", "response", "result", "prediction")
_LACK = "\0"
"""Stands for what was cut off: no value, key or object ends before it."""


@dataclass(frozen=True)
class SchemaReply:
    """Raw answers by step id, texts as they are and all else as JSON; `final` is None where none was written.

    `complete` tells that the JSON was closed and holds every step and the final answer. Without a final
    answer, `outside` is what is said beside the steps: neither in their JSON nor in lines that answer them.
    """

    answers: dict[str, str]
    final: str | None
    complete: bool
    outside: str
    too_long: bool = False


def read_schema_reply(text: str, steps: Iterable[ReasoningStep], *, cut_off: bool = False) -> SchemaReply:
    """Read what a reply says of each step. What was only thought is cut off first.

    Of a reply that was `cut_off`, what reaches its end may have gone on: it is no answer, and where that is JSON, what
    stands before it is none to the question.
    """
    answer = thoughts_apart(text)[1]
    if answer is None:
        return SchemaReply({}, None, complete=False, outside=text)
    if len(answer) > LONGEST or len(answer := answer_text(text) or "") > LONGEST:
        return SchemaReply({}, None, complete=False, outside=text, too_long=True)
    collector = _AnswerCollector([step.step_id for step in steps])
    objects = list(read_objects(answer + _LACK if cut_off else answer))
    closed, is_broken = False, bool(objects) and isinstance(objects[-1].value, TruncatedJson)
    for found in objects:
        if collector.take(found.value):
            closed = not isinstance(found.value, TruncatedJson)
    in_order = None
    if not collector.answers and not (cut_off and objects):
        lines = answer.rpartition("\n")[0] if cut_off else answer
        collector.take(read_lines(lines, collector.step_ids))
        if not objects and not collector.answers and (in_order := _in_order(lines, collector.step_ids)):
            collector.take(in_order.answers)
        closed = False
    every = all(step_id in collector.answers for step_id in collector.step_ids)
    has_outside = collector.final is None and not (cut_off and is_broken)
    told = answer[in_order.end :] if in_order else answer
    outside = _text_outside(told, objects, collector) if has_outside else ""
    return SchemaReply(collector.ordered(), collector.final, closed and every and collector.final is not None, outside)


def _text_outside(text: str, objects: Iterable[JsonSpan], collector: "_AnswerCollector") -> str:
    parts, end = [], 0
    for found in objects:
        if collector.concerns(found.value):
            parts.append(text[end : found.start])
            end = found.end
    return drop_lines("\n".join([*parts, text[end:]]), collector.step_ids)


class _AnswerCollector:
    """Gathers answers by step id from objects of any nesting; a later object wins over an earlier one."""

    def __init__(self, step_ids: list[str]) -> None:
        self.step_ids = step_ids
        self.answers: dict[str, str] = {}
        self.final: str | None = None
        self._by_name = {name: step_id for step_id in step_ids for name in _names(step_id)}

    def ordered(self) -> dict[str, str]:
        """Return the answers in the steps' own order."""
        return {step_id: self.answers[step_id] for step_id in self.step_ids if step_id in self.answers}

    def take(self, found: Any) -> bool:
        """Take what an object, or a list of objects, says; tell whether it said anything."""
        content = found.content if isinstance(found, TruncatedJson) else found
        if isinstance(content, list):
            return _any_true(self.take(item) for item in content)
        if not isinstance(content, dict):
            return False
        if self._is_step(content):
            return self._take_step(content)
        return _any_true(self._take_entry(key, value) for key, value in content.items())

    def concerns(self, found: Any) -> bool:
        """Whether an object, or a list of objects, names a step or the final answer, or breaks off before it could."""
        if isinstance(found, TruncatedJson):
            return True
        if isinstance(found, list):
            return any(map(self.concerns, found))
        if not isinstance(found, dict):
            return False
        names = {_plain(key) for key in found}
        return (
            self._is_step(found)
            or not names.isdisjoint(self._by_name.keys() | _FINAL_KEYS)
            or any(map(self.concerns, found.values()))
        )

    def _is_step(self, content: Mapping[str, Any]) -> bool:
        """Return whether an object is one step, {"step_id": "S1", "answer": true}, and no table of steps."""
        named = any(key in content for key in _ID_KEYS) and not any(_plain(key) in self._by_name for key in content)
        return named and any(key in content for key in _VALUE_KEYS)

    def _take_step(self, content: Mapping[str, Any]) -> bool:
        named = _plain(str(next(content[key] for key in _ID_KEYS if key in content)))
        return self._set(self._by_name.get(named) or self._by_name.get(f"step{named}"), _value_of(content))

    def _take_entry(self, key: str, value: Any) -> bool:
        name = _plain(key)
        if step_id := self._by_name.get(name):
            return self._set(step_id, _raw_text(value))
        if name not in _FINAL_KEYS:
            return self.take(value)
        raw = None if value in _EMPTY_VALUES else _raw_text(value)
        if raw is None or raw.strip() in _PLACEHOLDERS:
            return False
        self.final = raw
        return True

    def _set(self, step_id: str | None, raw: str | None) -> bool:
        if step_id is None or raw is None or raw.strip() in _PLACEHOLDERS:
            return False
        self.answers[step_id] = raw
        return True


def _any_true(said: Iterable[bool]) -> bool:
    """Return whether one of them is true, after all have been looked at."""
    return sum(said) > 0


def _names(step_id: str) -> Iterator[str]:
    yield _plain(step_id)
    number = step_id[1:]
    if step_id[:1] == "S" and number.isdecimal():
        yield f"step{number}"
        yield f"s{number}step{number}"


def _plain(key: str) -> str:
    return "".join(character for character in key.lower() if character.isalnum() or character == ".")


def _raw_text(value: Any) -> str | None:
    """Write a value as text, of an object with an answer the answer; None where it was cut off."""
    if isinstance(value, TruncatedJson):
        return _value_of(value.content) if isinstance(value.content, dict) else None
    if isinstance(value, dict) and (answer := _value_of(value)) is not None:
        return answer
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value_of(content: Mapping[str, Any]) -> str | None:
    return next((_raw_text(content[key]) for key in _VALUE_KEYS if key in content), None)


class _OrderedAnswers(NamedTuple):
    """The answers of a numbered list, by step id, and where it ends in its text."""

    answers: dict[str, str]
    end: int


_LONGEST_ITEM = 48
"""Characters of an item that is an answer, unless it is in brackets: a longer one works something out."""
_ITEM = re.compile(r"[ \t>*_-]*+(?P<number>\d{1,2})[.):][*_]{0,2}[ \t]+(?P<answer>\S.*)")


def _in_order(text: str, step_ids: Sequence[str]) -> _OrderedAnswers | None:
    """Return the items of a text that is a list with a number and an answer for each step, and at most one line more.

    None for any other text: what names no step says which it answers by nothing but its place.
    """
    lines = [(line, end) for line, end in _lines_with_ends(text) if line.strip()]
    items = [_ITEM.fullmatch(line.rstrip()) for line, _ in lines[: len(step_ids)]]
    answers = [item["answer"] for number, item in enumerate(items, 1) if item and int(item["number"]) == number]
    rest = [line for line, _ in lines[len(step_ids) :]]
    if not answers or len(answers) != len(step_ids) or len(rest) > 1 or any(map(_ITEM.fullmatch, rest)):
        return None
    if any(len(answer) > _LONGEST_ITEM and answer[0] not in "[(" for answer in answers):
        return None
    return _OrderedAnswers(dict(zip(step_ids, answers, strict=True)), lines[len(step_ids) - 1][1])


def _lines_with_ends(text: str) -> Iterator[tuple[str, int]]:
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        yield line, end


_MARKS = r"(?:[^\S\n]|[>*_`#\"'\-•(|])*+"


def read_lines(text: str, step_ids: Iterable[str]) -> dict[str, str]:
    """Return what stands behind each step's name at the beginning of a line; the last such line counts."""
    ids, found = list(step_ids), {}
    for match in _line(tuple(ids)).finditer(text) if ids else ():
        named = next(index for index, name in enumerate(match.groups()) if name)
        found[ids[named]] = match["answer"].strip(" |").rpartition("|")[2].strip() or match["answer"].strip()
    return found


def drop_lines(text: str, step_ids: Iterable[str]) -> str:
    """Return a text without the lines that answer a step."""
    ids = tuple(step_ids)
    return _line(ids).sub("", text) if ids else text


@lru_cache(maxsize=256)
def _line(step_ids: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(f"({_name(step_id)})" for step_id in step_ids)
    return re.compile(rf"^{_MARKS}(?:{alternatives})[\"'`*_)]*\s*[:=|][\"'`*_]*\s*(?P<answer>\S.*)$", re.I | re.M)


def _name(step_id: str) -> str:
    number = step_id[1:]
    if step_id[:1] == "S" and number.isdecimal():
        return rf"(?:step\s*|S){number}(?:\s*\((?:step\s*|S){number}\))?"
    return re.escape(step_id)
