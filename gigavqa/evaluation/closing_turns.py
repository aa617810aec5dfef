"""Closing turns: in which form a sample's answer can be asked for alone, and what a closing turn answered.

A closing turn follows the free answer, and the engine holds it to the form: an option's letter, a number, true or
false, or an object. What is read is then a word of a list, and no rule about prose can be wrong about it.
`NO_ANSWER` (null in an object) is one of them everywhere, so that a model can still abstain.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from gigavqa.answers.numerals import is_number
from gigavqa.contract.jobs import ClosingSetting
from gigavqa.contract.requests import Closing, ClosingKind, StructuredOutput
from gigavqa.contract.responses import ClosingAnswer

NO_ANSWER = "none"
CLOSING_VERSION = "closing/1"
"""Version of the words that ask; a response keeps it."""
_ANSWER = "answer"
_ANSWER_TOKENS = 32  # decision 0010
_OBJECT_TOKENS = 64
_LARGEST = 1e300
_NUMBER = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,10})?"
_PATTERNS = {"null": "null", "boolean": "true|false", "number": _NUMBER, "integer": "[1-9][0-9]{0,5}"}
"""What values of JSON's types are as text."""


@dataclass(frozen=True)
class ClosingForm:
    """The form of one sample's answer under one protocol.

    `words` name it in a sentence that begins "Reply with". `bare` holds an answer to a word; None where only an object
    says it, which `schema` describes. `read` gives what a reader of free answers would have found, from the word or
    from what stands in the object; it raises ValueError for anything else. `is_right` judges that, and `meant` says
    which of it a reader's own value is.
    """

    kind: ClosingKind
    words: str
    schema: Mapping[str, JsonValue]
    read: Callable[[Any], str | None]
    is_right: Callable[[str], bool]
    bare: StructuredOutput | None = None
    meant: Callable[[str], str | None] = field(default=str)

    def closing(self, wanted: ClosingSetting) -> Closing | None:
        """Return the closing turn of the kind that a job wants; None where this form is of another one."""
        kind: ClosingKind = self.kind if wanted == "auto" else wanted
        if kind not in (self.kind, "json"):
            return None
        if kind != "json" and self.bare is not None:
            bare = self.bare.model_copy(update={"in_object": dict(self.schema)})
            return self._asked(kind, self.words, f"with {NO_ANSWER}", bare, _ANSWER_TOKENS)
        held = StructuredOutput(regex=_pattern(self.schema), in_object=dict(self.schema))
        words = f"a JSON object of the form {_skeleton(self.schema)} that holds {self.words}"
        return self._asked(kind, words, f"{_no_answer_object(self.schema)} in its place", held, _OBJECT_TOKENS)

    @property
    def right_choice(self) -> str | None:
        """The letter of the right option, as it was shown; None of other forms, and where none is right."""
        letters = (self.bare.choice or ()) if self.kind == "choice" and self.bare else ()
        values = ((letter, self.read(letter)) for letter in letters)
        return next((letter for letter, value in values if value is not None and self.is_right(value)), None)

    def value_of(self, text: str) -> str | None:
        """Return what a closing turn answered, None where that is none.

        Raises ValueError where it is of another form.
        """
        said = text.strip()
        return self.read(_unwrap_answer(said, self.schema) if said.startswith("{") else said)

    def _asked(self, kind: ClosingKind, words: str, nothing: str, structure: StructuredOutput, tokens: int) -> Closing:
        return Closing(
            kind=kind,
            text=f"Reply with {words} and nothing else, or {nothing} if it cannot be told.",
            structure=structure,
            max_tokens=tokens,
            prompt_version=CLOSING_VERSION,
        )


def choice_form(
    letters: Sequence[str],
    is_right: Callable[[str], bool],
    original: Callable[[str], str | None] = str,
    meant: Callable[[str], str | None] = str,
) -> ClosingForm | None:
    """One of the options, by the letters under which they were shown; `original` gives that of the data set.

    None where one of them is called as no answer is.
    """
    known = frozenset(letters)
    if NO_ANSWER in known:
        return None

    def read(said: Any) -> str | None:
        if isinstance(said, str) and said in known:
            return original(said)
        _require_none(said)
        return None

    listed = f"{', '.join(letters[:-1])} or {letters[-1]}" if len(letters) > 1 else letters[0]
    words = (*letters, NO_ANSWER)
    return ClosingForm(
        kind="choice",
        words=f"the letter of your final answer ({listed})",
        schema=_object({"enum": list(words), "type": "string"}),
        read=read,
        is_right=is_right,
        bare=StructuredOutput(choice=words),
        meant=meant,
    )


def number_form(is_right: Callable[[str], bool]) -> ClosingForm:
    """Return the form of a number, with a point before its fraction and without its unit."""

    def read(said: Any) -> str | None:
        if (is_number(said) and abs(said) < _LARGEST) or (isinstance(said, str) and re.fullmatch(_NUMBER, said)):
            return f"{float(said) + 0.0:.15g}"  # of -0, too, it is 0
        _require_none(said)
        return None

    return ClosingForm(
        kind="number",
        words="the number that is your final answer, without its unit,",
        schema=_object({"type": ["number", "null"]}),
        read=read,
        is_right=is_right,
        bare=StructuredOutput(regex=f"({_NUMBER}|{NO_ANSWER})"),
    )


def boolean_form(is_right: Callable[[str], bool]) -> ClosingForm:
    """True or false, which stand for yes and no."""
    known = {"true": "yes", "false": "no", True: "yes", False: "no"}

    def read(said: Any) -> str | None:
        if isinstance(said, str | bool) and said in known:
            return known[said]
        _require_none(said)
        return None

    return ClosingForm(
        kind="boolean",
        words="true if your final answer is yes, or false if it is no,",
        schema=_object({"type": ["boolean", "null"]}),
        read=read,
        is_right=is_right,
        bare=StructuredOutput(choice=("true", "false", NO_ANSWER)),
    )


def object_form(
    words: str,
    properties: Mapping[str, Mapping[str, JsonValue]],
    read: Callable[[Any], str | None],
    is_right: Callable[[str], bool],
) -> ClosingForm:
    """Return the form of an object of a sample's own; `read` gets it, and gives None where its values are all null."""
    return ClosingForm(kind="json", words=words, schema=_schema(properties), read=read, is_right=is_right)


_COMPLETE_FINISH_REASONS = ("", "stop")
"""How turns end that are whole; lines of one's own need not say."""


class ClosingOutcome(NamedTuple):
    """The outcome of a closing turn beside a reader's.

    `agrees` where both found the same answer, or both that there is none; `is_rescued` where the reader found no single
    answer in what does not abstain, and the closing turn did. An outcome of `unread` has neither: the turn failed, was
    cut off, or is not of the form.
    """

    outcome: Literal["right", "wrong", "abstained", "unscored", "unread"]
    agrees: bool = False
    is_rescued: bool = False


class ClosingReading(NamedTuple):
    """The value that a closing turn was read as, and its score."""

    value: str | None
    closed: ClosingOutcome


def read_closing(
    form: ClosingForm | None, answer: ClosingAnswer, value: str | None, *, abstained: bool, scored: bool
) -> ClosingReading:
    """Read a closing turn beside the `value` that the reader found, who may have found that the model `abstained`."""
    if form is None or answer.kind not in (form.kind, "json") or answer.failure:
        return ClosingReading(None, ClosingOutcome("unread"))
    if answer.finish_reason not in _COMPLETE_FINISH_REASONS:
        return ClosingReading(None, ClosingOutcome("unread"))
    try:
        closed = form.value_of(answer.text)
    except ValueError:
        return ClosingReading(None, ClosingOutcome("unread"))
    meant = None if value is None else form.meant(value)
    if closed is None:
        return ClosingReading(None, ClosingOutcome("abstained", agrees=value is None))
    outcome: Literal["right", "wrong", "unscored"] = "unscored"
    if scored:
        outcome = "right" if form.is_right(closed) else "wrong"
    return ClosingReading(closed, ClosingOutcome(outcome, meant == closed, meant is None and not abstained))


def _require_none(said: Any) -> None:
    if said is not None and said != NO_ANSWER:
        raise ValueError(f"{said!r} is no answer of this form")


def _unwrap_answer(text: str, schema: Mapping[str, Any]) -> Any:
    """Return what stands in an object: under `answer` alone, else all of it. Raises ValueError."""
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("is too deep") from error
    names = set(schema["properties"])
    if not isinstance(found, dict) or set(found) != names:
        raise ValueError(f"is no object of {', '.join(sorted(names))}")
    return found[_ANSWER] if names == {_ANSWER} else found


def _object(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return _schema({_ANSWER: value})


def _schema(properties: Mapping[str, Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    # As servers want it that hold answers to it strictly: everything is required, and nothing else is there.
    return {
        "type": "object",
        "properties": {name: dict(one) for name, one in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def _pattern(schema: Mapping[str, Any]) -> str:
    """Return what an object of the schema is as text, in one way.

    Engines would let a model write blanks without an end.
    """
    values = ((json.dumps(name), "|".join(_values(one))) for name, one in schema["properties"].items())
    return r"\{" + ", ".join(f"{name}: ({said})" for name, said in values) + r"\}"


def _values(schema: Mapping[str, Any]) -> Iterator[str]:
    if "enum" in schema:
        yield from (re.escape(json.dumps(word, ensure_ascii=False)) for word in schema["enum"])
    else:
        yield from (_PATTERNS[name] for name in schema["type"])


def _skeleton(schema: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f'"{name}": ...' for name in schema["properties"]) + "}"


def _no_answer_object(schema: Mapping[str, Any]) -> str:
    """Return how an object says that there is no answer."""
    return f'"{NO_ANSWER}"' if any("enum" in one for one in schema["properties"].values()) else "null"
