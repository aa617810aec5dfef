"""How a question is answered, and which answers are right: options, type, truths and tolerance of a record."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.questions.columns import Columns, listed, plain_name, text_of
from benchmarks.questions.samples import LETTERS, Kind
from evaluation.answers.choices import key_of

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("choice", "multiple_choice", "multi_choice", "single_choice", "mcq", "mc"), "choice"),
    **dict.fromkeys(("yes_no", "yes/no", "yesno", "y/n", "boolean", "bool", "binary"), "yes_no"),
    **dict.fromkeys(("number", "numeric", "numerical", "integer", "float", "count"), "number"),
    **dict.fromkeys(("text", "short", "short_text", "short_answer", "phrase", "exact"), "text"),
    **dict.fromkeys(("open", "open_ended", "free", "free_text", "free_form", "long"), "open"),
}
_TRUE, _FALSE = frozenset({"yes", "true", "y"}), frozenset({"no", "false", "n"})
_NUMBER = re.compile(r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+−]?\.\d+")
_LONGEST_SHORT = 80
"""Characters of a truth at most, for a question to be one with a short answer."""
_LETTERED = re.compile(r"\(?([A-Z])[.):]\s*(\S.*)", re.DOTALL)


def options_of(columns: Columns) -> dict[str, str] | None:
    """Take the options, lettered from A. Raises ValueError for options without an order or with a gap."""
    name, value = columns.first("options")
    value = listed(value)
    found = _lettered(name, value) if value else _from_columns(columns)
    if found and len(found) > len(LETTERS):
        raise ValueError(f"{name}: {len(found)} options are more than there are letters")
    return dict(zip(LETTERS, map(_bare, found, [found] * len(found)), strict=False)) if found else None


def _lettered(name: str, value: Any) -> list[str]:
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = value["text"]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, str):
        value = [part for part in re.split(r"\n|\|", value) if part.strip()]
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError(f"{name}: must be a list of two texts or more, or one text with | between the options")
    return [text_of(one) for one in value]


def _from_columns(columns: Columns) -> list[str]:
    """The options that have a column each: option_a, option_1, choice_a ..., or A, B, C ..."""
    found = columns.named(r"(?:option|choice)_?([a-z]|\d{1,2})")
    letters = [name for name in sorted(columns.plain_names) if len(name) == 1 and "a" <= name <= "z"]
    if not found and letters[:2] == ["a", "b"]:
        found = columns.named(rf"([{''.join(_without_tail(letters))}])")
    keys = sorted(found, key=lambda key: (int(key) if key.isdecimal() else 0, key))
    expected = list(LETTERS.lower()) if keys and keys[0].isalpha() else [str(at) for at in range(100)]
    first = expected.index(keys[0]) if keys and keys[0] in ("0", "1") else 0
    if gap := [key for key, other in zip(expected[first:], keys, strict=False) if key != other]:
        raise ValueError(f"options {', '.join(keys).upper()} have a gap: there is no {gap[0].upper()}")
    return [text_of(found[key]) for key in keys]


def _without_tail(letters: list[str]) -> list[str]:
    """Options are A to J, and what follows without a gap; columns x and y of a table are none."""
    run = [letter for at, letter in enumerate(letters) if letter == LETTERS[at].lower()]
    return [letter for letter in letters if letter in run or letter <= "j"]


def _bare(text: str, others: list[str]) -> str:
    """An option's text without its letter, where all options are written with theirs."""
    matches = [_LETTERED.fullmatch(other) for other in others]
    if all(match and match[1] == LETTERS[at] for at, match in enumerate(matches) if at < len(LETTERS)):
        found = _LETTERED.fullmatch(text)
        return found[2] if found else text
    return text


def truth_of(columns: Columns, options: Mapping[str, str] | None, *, typed: bool) -> dict[str, Any]:
    """Take type, truths and tolerance. `typed` tells that a number in a text is meant as a text.

    Options make a choice, unless the type is number, text or open. Without a type, and without options: no truth makes
    an open question; yes, no, true and false a yes-or-no one; one number one of number; texts of at most 80 characters
    a short text, and longer ones an open question. Raises ValueError naming the column.
    """
    kind = _kind_of(columns)
    if options and kind in (None, "choice", "yes_no"):
        return {"kind": "choice", "answers": _choice(columns, options, typed=typed)}
    name, value = columns.first("answer")
    texts = _texts(value, typed=typed)
    kind = kind or _inferred(value, texts)
    if kind == "choice":
        raise ValueError("options: a choice has none; name their columns A, B, C ..., or one list `choices`")
    try:
        return {"kind": kind, "answers": _READ[kind](texts), **(_tolerances(columns) if kind == "number" else {})}
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _kind_of(columns: Columns) -> Kind | None:
    for name, value in [*columns.all("type")]:
        if isinstance(value, str) and (kind := _KINDS.get(plain_name(value))):
            columns.drop(name)
            return kind
    return None


def _choice(columns: Columns, options: Mapping[str, str], *, typed: bool) -> tuple[str, ...]:
    for field, read in (("answer_text", _by_text), ("answer_index", _by_index), ("answer_from_1", _by_number)):
        name, value = columns.first(field)
        if value is not None:
            return _told(name, value, read(text_of(value), options), options)
    name, value = columns.first("answer")
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if value is None or value == []:
        return ()
    text = text_of(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _told(name, value, _by_index(text, options), options)
    letter = _by_letter(text, options) or _by_text(text, options)
    if not typed and text.isdecimal() and (other := _by_index(text, options)) and letter != other:
        if letter:
            raise ValueError(
                f"{name}: '{text}' is option {letter}'s text, and counted from 0 it is option {other}; name the column "
                "answer_text or answer_index"
            )
        letter = other
    return _told(name, value, letter, options)


def _told(name: str, value: Any, letter: str, options: Mapping[str, str]) -> tuple[str, ...]:
    if letter:
        return (letter,)
    counted = "" if not text_of(value).isdecimal() else "; numbers count from 0, in a column answer_from_1 from 1"
    raise ValueError(f"{name}: '{text_of(value) or value}' is none of the options {', '.join(options)}{counted}")


def _by_letter(text: str, options: Mapping[str, str]) -> str:
    letter = text.strip(" .()[]").upper()
    return letter if letter in options else ""


def _by_text(text: str, options: Mapping[str, str]) -> str:
    exact = [letter for letter, option in options.items() if option.strip() == text]
    alike = exact or [letter for letter, option in options.items() if key_of(option) == key_of(text) != ""]
    written = _LETTERED.fullmatch(text)
    if not alike and written and key_of(options.get(written[1], "")) == key_of(written[2]):
        return written[1]
    return alike[0] if len(alike) == 1 else ""


def _by_index(text: str, options: Mapping[str, str]) -> str:
    return list(options)[int(text)] if text.isdecimal() and int(text) < len(options) else ""


def _by_number(text: str, options: Mapping[str, str]) -> str:
    return _by_index(str(int(text) - 1), options) if text.isdecimal() else ""


def _texts(value: Any, *, typed: bool) -> list[str]:
    """The truths that a value lists, each once; in a table without types they are listed with | between them."""
    value = listed(value)
    if isinstance(value, str) and not typed:
        value = value.split("|")
    values = value if isinstance(value, list) else [] if value is None else [value]
    inner = (one.get("answer") if isinstance(one, dict) else one for one in values)
    return [text for text in dict.fromkeys(map(text_of, inner)) if text]


def _inferred(value: Any, texts: list[str]) -> Kind:
    if not texts:
        return "open"
    if isinstance(value, bool) or all(text.lower() in _TRUE | _FALSE for text in texts):
        return "yes_no"
    if len(texts) == 1 and _NUMBER.fullmatch(texts[0]):
        return "number"
    return "text" if all(len(text) <= _LONGEST_SHORT for text in texts) else "open"


def _yes_or_no(texts: Iterable[str]) -> tuple[str, ...]:
    words = {**dict.fromkeys((*_TRUE, "1"), "yes"), **dict.fromkeys((*_FALSE, "0"), "no")}
    if unknown := [text for text in texts if text.lower() not in words]:
        raise ValueError(f"'{unknown[0]}' is neither yes nor no")
    return tuple(dict.fromkeys(words[text.lower()] for text in texts))


def _number(texts: list[str]) -> tuple[str, ...]:
    if not texts:
        return ()
    found = _NUMBER.match(texts[0])
    if len(texts) > 1 or not found:
        raise ValueError(f"'{' | '.join(texts)}' is not one number")
    return (found[0].replace(",", "").replace("−", "-"),)


_READ: Mapping[Kind, Any] = {"yes_no": _yes_or_no, "number": _number, "text": tuple, "open": tuple}


def _tolerances(columns: Columns) -> dict[str, float]:
    found = {}
    for field in ("tolerance", "relative_tolerance"):
        name, value = columns.first(field)
        text = text_of(value)
        share = text.endswith("%")
        if text:
            try:
                number = float(text.removesuffix("%"))
            except ValueError as error:
                raise ValueError(f"{name}: '{text}' is neither a number nor a share such as 5%") from error
            found["relative_tolerance" if share else field] = number / 100 if share else number
    return found
