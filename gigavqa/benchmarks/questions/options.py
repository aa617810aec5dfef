"""Read a record's options: in a column, in one column each, or as lettered lines of its question's text."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gigavqa.benchmarks.questions.columns import RecordColumns, parse_list, text_of
from gigavqa.benchmarks.questions.samples import LETTERS

_LETTERED = re.compile(r"[(\[]?([A-Z])[.)\]:．：、]\s*(\S.*)", re.DOTALL)
"""An option with its letter: "(A) red", "A. red", "A) red", "A: red"."""
_OPENING_LETTER = re.compile(r"\s*[(\[]?[A-Z][.)\]:．：、]\s*\S")
_MARKED = re.compile(
    r"[(\[（【]\s*([A-Za-z]|\d{1,2})\s*[)\]）】][.:：]?\s*(\S.*)"
    r"|([A-Za-z])(?:[.)\]:．：、）]\s*|\s+[-–—]\s+)(\S.*)"
    r"|(\d{1,2})[.)\]:．：、）]\s+(\S.*)"
    r"|([①-⑳Ⓐ-ⓩ])[.:]?\s*(\S.*)",
    re.DOTALL,
)
"""An option with its mark, however it is written: "a. red", "(1) red", "1. red", "A - red", "（A）red", "① red"."""
_OF_AN_OPTION = re.compile(r"(?:option|choice|opt)?_?([a-z]|\d{1,2})")
_TEXTS = ("text", "content", "value", "option_text", "answer_text", "description", "option", "choice", "answer")
_LABELS = ("label", "letter", "key", "id", "index", "option_id", "name", "option", "choice")
"""Fields of an option that is an object, which hold its text and its label: the first that there is of each."""


class AnswerOptions(NamedTuple):
    """Options by their letters, and the letter of each by what the record itself calls it, where it calls it at all."""

    texts: dict[str, str]
    called: Mapping[str, str] = {}

    @property
    def numbered(self) -> bool:
        """Whether the record calls its options by numbers."""
        return bool(self.called) and all(name.isdecimal() for name in self.called)

    def named(self, text: str) -> str:
        """Return the letter of the option that the record calls so; nothing where it calls none so."""
        return self.called.get(text) or self.called.get(_label(text), "")

    def letter(self, text: str) -> str:
        """The letter of the option that a text names by its letter, in whatever brackets; nothing of any other text.

        Letters by which the record calls its options go before their order.
        """
        letter = text.strip(" .()[]（）").upper()
        if any(len(name) == 1 and name.isalpha() for name in self.called):
            return self.called.get(letter, "")
        return letter if letter in self.texts else ""


class QuestionWithOptions(NamedTuple):
    """A question whose text lists options: what stands before them, their texts, and what stands behind them."""

    before: str
    options: tuple[str, ...]
    behind: str


def options_of(columns: RecordColumns) -> AnswerOptions | None:
    """Take the options, lettered from A.

    Raises ValueError for options without a text, of an unknown form, or with a gap.
    """
    name, value = columns.first("options")
    own, value = columns.called(name), parse_list(value)
    found = _options_in(own, value) if value else _options_from_columns(columns)
    if not found:
        return None
    if len(found) > len(LETTERS):
        raise ValueError(
            f"{own}: {len(found)} options are more than there are letters ({len(LETTERS)}); leave this question out, "
            f"or ask it without options: `--map {own}=ignored`, its answer as a text by answer_text"
        )
    return _label_options([label for label, _ in found], [text for _, text in found], own)


def _label_options(labels: Sequence[str], texts: Sequence[str], name: str) -> AnswerOptions:
    """Return the options by letters; without labels, their marks are what they are called by.

    Of options by letters, as data sets keep them, only letters of a usual form are taken for marks.
    """
    bare, marks = _strip_marks(texts, _LETTERED if "".join(labels) == LETTERS[: len(labels)] else _MARKED)
    if any(labels) and (len(set(labels)) < len(labels) or not all(labels)):
        raise ValueError(f"{name}: its options are called {', '.join(labels)}; each must have a name of its own")
    called = labels if any(labels) else marks
    return AnswerOptions(dict(zip(LETTERS, bare, strict=False)), dict(zip(called, LETTERS, strict=False)))


def letter_options(texts: Sequence[str]) -> dict[str, str]:
    """Return the texts by their letters, without those that they are all written with."""
    return dict(zip(LETTERS, _strip_marks(texts, _MARKED)[0], strict=False))


def split_option(text: str) -> tuple[str, str] | None:
    """Return the letter and the text of an option that is written with its mark, whatever that is."""
    mark, bare = _split_mark(text, _MARKED)
    place = _position_of(mark)
    return (LETTERS[place], bare) if 0 <= place < len(LETTERS) else None


def split_question(text: str) -> QuestionWithOptions | None:
    """Split a text whose lines list options, each behind its letter and in order from A; None for any other.

    Before them stands what is asked.
    """
    lines = text.strip().splitlines()
    start = next((at for at, line in enumerate(lines) if _is_option(line, 0)), 0)
    count = sum(1 for _ in _lettered_run(lines[start:]))
    before, behind = lines[:start], lines[start + count :]
    if count < 2 or not any(map(str.strip, before)) or any(map(_OPENING_LETTER.match, behind)):
        return None
    texts = [match[2].strip() for line in lines[start : start + count] if (match := _LETTERED.fullmatch(line.strip()))]
    return QuestionWithOptions("\n".join(before).strip(), tuple(texts), "\n".join(behind).strip())


def _lettered_run(lines: Sequence[str]) -> Iterator[str]:
    for at, line in enumerate(lines):
        if not _is_option(line, at):
            return
        yield line


def _is_option(line: str, at: int) -> bool:
    match = _LETTERED.fullmatch(line.strip())
    return bool(match) and at < len(LETTERS) and match[1] == LETTERS[at]  # type: ignore[index]


def _options_in(name: str, value: Any) -> list[tuple[str, str]]:
    """Return the labels, which may be empty, and the texts of options; those that are empty at the end are left out."""
    labels: list[Any] = []
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        labels, value = value.get("label") or [], value["text"]
    if isinstance(value, dict):
        return _options_by_key(name, value)
    if isinstance(value, str):
        value = [part for part in re.split(r"\n|\|", value) if part.strip()]
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError(f"{name}: must be a list of two texts or more, or one text with | between the options")
    found = _drop_empty_end([_option(name, at, one) for at, one in enumerate(value, start=1)])
    if empty := [at for at, (_, text) in enumerate(found, start=1) if not text]:
        raise ValueError(f"{name}: option {empty[0]} has no text; {_FORM}")
    if isinstance(labels, list) and len(labels) == len(found):
        found = [(text_of(label), text) for label, (_, text) in zip(labels, found, strict=True)]
    return found


def _options_by_key(name: str, value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options by what an object calls them, in the order of letters or numbers; in its own of any other names."""
    last = max((at for at, one in enumerate(value.values()) if one is not None), default=-1)
    there = list(value.items())[: last + 1]
    found = [(_label(str(key)), _option(name, str(key), one)[1]) for key, one in there]
    if all(label.isdecimal() for label, _ in found):
        found.sort(key=lambda one: int(one[0]))
    elif all(len(label) == 1 for label, _ in found):
        found.sort()
    if found and found[0][0] in ("0", "1", "A"):
        _require_no_gap([label for label, _ in found])
    return found


def _label(text: str) -> str:
    bare = text.strip(" .:()[]")
    match = _OF_AN_OPTION.fullmatch(bare.lower())
    return match[1].upper() if match else bare


def _option(name: str, place: int | str, one: Any) -> tuple[str, str]:
    """Return the label and the text of one option, which may be an object of both.

    Raises ValueError for any other form.
    """
    if one is None or isinstance(one, str | int | float):
        return "", text_of(one)
    if not isinstance(one, dict):
        raise ValueError(f"{name}: option {place} is a {type(one).__name__}; {_FORM}")
    fields = {str(key).lower(): inner for key, inner in one.items() if inner is not None}
    if len(fields) == 1 and (alone := next(iter(fields))) not in _TEXTS and len(_label(alone)) == 1:
        return _label(alone), _text_in(name, place, fields[alone])
    text = next((field for field in _TEXTS if field in fields), None)
    label = next((field for field in _LABELS if field in fields and field != text), None)
    if text is None:
        raise ValueError(f"{name}: option {place} has {', '.join(fields) or 'no field'}, and no text; {_FORM}")
    if others := [field for field in fields if field not in (text, label)]:
        raise ValueError(f"{name}: option {place} has {others[0]}, which nobody reads, beside its {text}; {_FORM}")
    return _label(text_of(fields[label])) if label else "", _text_in(name, place, fields[text])


_FORM = "make each option a text, or an object of `label` and `text`; options that are pictures cannot be asked"


def _text_in(name: str, place: int | str, value: Any) -> str:
    if not (text := text_of(value)):
        raise ValueError(f"{name}: option {place} has no text; {_FORM}")
    return text


def _drop_empty_end(found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    last = max((at for at, (_, text) in enumerate(found) if text), default=-1)
    return list(found[: last + 1])


def _options_from_columns(columns: RecordColumns) -> list[tuple[str, str]]:
    """Return the options that have a column each: option_a, option_1, choice_a ..., or A, B, C ..."""
    found = columns.named(r"(?:option|choice)_?([a-z]|\d{1,2})")
    letters = [name for name in sorted(columns.plain_names) if len(name) == 1 and "a" <= name <= "z"]
    if not found and letters[:2] == ["a", "b"]:
        found = columns.named(rf"([{''.join(_drop_detached(letters))}])")
    keys = sorted(found, key=lambda key: (int(key) if key.isdecimal() else 0, key))
    _require_no_gap([key.upper() for key in keys])
    return [(key.upper(), _option("options", key.upper(), found[key])[1]) for key in keys]


def _require_no_gap(keys: Sequence[str]) -> None:
    """Refuse letters from A, or numbers from 0 or 1, that do not follow each other."""
    numbers = bool(keys) and keys[0].isdecimal()
    expected = [str(at) for at in range(keys[0] == "1", 100)] if numbers else list(LETTERS)
    if gap := [key for key, other in zip(expected, keys, strict=False) if key != other]:
        raise ValueError(f"options {', '.join(keys)} have a gap: there is no {gap[0]}")


def _drop_detached(letters: list[str]) -> list[str]:
    """Options are A to J, and what follows without a gap; columns x and y of a table are none."""
    run = [letter for at, letter in enumerate(letters) if letter == LETTERS[at].lower()]
    return [letter for letter in letters if letter in run or letter <= "j"]


def _strip_marks(texts: Sequence[str], form: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Return the options' texts without their marks, and these, where all are written with theirs in order."""
    found = [_split_mark(text, form) for text in texts]
    bare = [text for _, text in found]
    places = [_position_of(mark) for mark, _ in found]
    if len(texts) < 2 or places != list(range(len(texts))) or len(set(bare)) < len(set(texts)):
        return list(texts), []
    return _strip_marks(bare, form)[0], [mark for mark, _ in found]


def _split_mark(text: str, form: re.Pattern[str]) -> tuple[str, str]:
    """Return the letter or number that an option's text begins with, and the rest; nothing and the text without one."""
    match = form.fullmatch(text)
    if match is None:
        return "", text
    mark, bare = filter(None, match.groups())
    return unicodedata.normalize("NFKC", mark).upper(), bare


def _position_of(mark: str) -> int:
    """Return the place of an option from 0 by its letter, or by its number from 1; -1 of no mark, or of 0."""
    if mark.isdecimal():
        return int(mark) - 1
    return LETTERS.find(mark) if len(mark) == 1 else -1
