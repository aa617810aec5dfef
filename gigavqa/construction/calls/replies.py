"""Reads replies: loose JSON first, then the schema; what cannot be read has a reason, and a complaint for the model."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from gigavqa.answers.loose_json import TruncatedJson, is_deep, read_objects
from gigavqa.answers.text import thoughts_apart
from gigavqa.construction.build_folder import canonical_json
from gigavqa.construction.calls.errors import ReplyFaultError
from gigavqa.construction.calls.model_call import FaultyReply

ReplyReader = Callable[[Any], Any]
"""Takes what a reply says, JSON or text, and returns what a stage makes of it; raises ReplyFaultError."""

MOST_CHARACTERS = 200_000
"""Of a reply that is read; no stage asks for as much."""

MOST_COMPLAINTS = 2
"""How often a call is asked again behind a reply that could not be read."""

FINAL_REASONS = frozenset({"refused"})
"""Reasons for which nobody asks again: who refuses once does so again, and each time is paid for."""

_SHOWN_CHARACTERS = 2000
_MOST_PROBLEMS, _LONGEST_PROBLEM = 5, 240
_FENCE = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
_MOST_LISTS = 100
_REFUSAL = re.compile(
    r"\b(?:i(?:'|’)?m sorry|i am sorry|i (?:can(?:no|'|’)t|am (?:not able|unable) to|won(?:'|’)t) (?:help|assist|"
    r"comply|identify|provide|fulfil|continue|do that)|as an ai\b)",
    re.IGNORECASE,
)
_REFUSAL_CHARACTERS = 300


def read_reply(text: str, finish_reason: str, schema: Mapping[str, Any] | None, read: ReplyReader | None = None) -> Any:
    """Return what a reply says: its JSON where there is a schema, else its text; `read` makes more of it.

    Raises ReplyFaultError by reason: refused, empty, long, unfinished, no-json, schema, or one of `read`'s own.
    """
    if finish_reason == "content_filter":
        raise ReplyFaultError("refused", "The answer was withheld.")
    said = _said(text, finish_reason)
    try:
        value = said if schema is None else _json_of(said, schema)
        return value if read is None else read(value)
    except ReplyFaultError as fault:
        if _REFUSAL.search(said[:_REFUSAL_CHARACTERS]):
            raise ReplyFaultError("refused", "The answer was refused.") from fault
        raise


def faulty_reply(text: str, fault: ReplyFaultError) -> FaultyReply:
    """Return a reply as the model is shown it again: its beginning, and the complaint."""
    return FaultyReply(text[:_SHOWN_CHARACTERS], f"{fault.complaint} Answer the question above again, completely.")


def _said(text: str, finish_reason: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise ReplyFaultError(
            "long", f"Your answer has {len(text)} characters, of which {MOST_CHARACTERS} at most are read. Be brief."
        )
    _, said = thoughts_apart(text)
    if said is None or (not said.strip() and finish_reason == "length"):
        raise ReplyFaultError("unfinished", "You thought without end, and gave no answer. Think less.")
    if not said.strip():
        raise ReplyFaultError("empty", "Your answer was empty.")
    if finish_reason == "length":
        raise ReplyFaultError("unfinished", "Your answer broke off, since it was too long. Be brief.")
    return said.strip()


def _json_of(said: str, schema: Mapping[str, Any]) -> Any:
    """Return the last value of a text that fits the schema. Raises ReplyFaultError."""
    found = list(_values(said))
    whole = [value for value in found if not isinstance(value, TruncatedJson)]
    if not whole:
        if found:
            raise ReplyFaultError("unfinished", "The JSON of your answer is not closed.")
        raise ReplyFaultError("no-json", "Your answer holds no JSON. Return JSON only.")
    validator = _validator(canonical_json(schema))
    problems: list[ValidationError] = []
    for value in reversed(whole):
        wrong = list(islice(validator.iter_errors(value), _MOST_PROBLEMS))
        if not wrong:
            return value
        problems = problems or wrong
    told = "; ".join(map(_problem_text, problems))
    raise ReplyFaultError("schema", f"The JSON of your answer has not the form that was asked for: {told}.")


def _values(said: str) -> Iterator[Any]:
    """Yield the JSON values of a text: the whole of it where it is JSON, else its lists and objects in their order."""
    fenced = _FENCE.findall(said)
    for text in (said, *reversed(fenced)):
        value = _strict(text.strip())
        if value is not None:
            yield value
            return
    places = [(span.start, span.end, span.value) for span in read_objects(said)]
    lists = list(_lists(said))
    inside = [place for place in places if not any(start < place[0] and place[1] <= end for start, end, _ in lists)]
    for _, _, value in sorted([*lists, *inside], key=lambda place: place[0]):
        if isinstance(value, TruncatedJson) or _is_writable(value):
            yield value


def _lists(said: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the outermost lists that stand in a text as JSON."""
    position = -1
    for _ in range(_MOST_LISTS):
        position = said.find("[", position + 1)
        if position < 0:
            return
        try:
            value, end = json.JSONDecoder(parse_constant=_no_constant).raw_decode(said, position)
        except (ValueError, RecursionError):
            continue
        if any(isinstance(each, dict | list) for each in value) and not is_deep(value, said, position, end):
            yield position, end, value
            position = end - 1


def _strict(text: str) -> Any:
    """Return a text as JSON; None where it is none, nests too deep, or holds what no file can."""
    if not text.startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return None if is_deep(value, text) or not _is_writable(value) else value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _is_writable(value: Any) -> bool:
    """Return whether a value is JSON that can be written as UTF-8: NaN is none, and halves of surrogates cannot."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=64)
def _validator(schema: str) -> Draft202012Validator:
    read = json.loads(schema)
    Draft202012Validator.check_schema(read)
    return Draft202012Validator(read)


def _problem_text(problem: ValidationError) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem.absolute_path)
    told = problem.message
    if len(told) > _LONGEST_PROBLEM:  # it repeats the value, whatever its size
        told = f"is not valid by '{problem.validator}'"
    return f"{place.lstrip('.') or 'the whole'}: {told}"
