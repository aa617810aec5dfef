"""Read a question's type and truths: type, truths and tolerance of a record."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from gigavqa.answers.answer_space import key_of
from gigavqa.answers.lexicon import phrases
from gigavqa.answers.numerals import is_number
from gigavqa.benchmarks.questions.columns import RecordColumns, parse_list, plain_name, text_of
from gigavqa.benchmarks.questions.numbers import NumberConvention, leading_number, parse_number, strip_percent
from gigavqa.benchmarks.questions.options import AnswerOptions, split_option
from gigavqa.benchmarks.questions.samples import LONGEST_SHORT, AnswerKind
from gigavqa.benchmarks.questions.truth_texts import (
    MAY_BE_NONE,
    NO_TRUTHS,
    as_written,
    known_truths,
    list_literal_truths,
    list_truths,
)

_KINDS: Mapping[str, AnswerKind] = {
    **dict.fromkeys(("choice", "multiple_choice", "multi_choice", "single_choice", "mcq", "mc"), "choice"),
    **dict.fromkeys(
        (
            "choices",
            "multi_select",
            "multiple_select",
            "multiple_answer",
            "multiple_answers",
            "multi_answer",
            "multi_label",
            "multiple_response",
            "select_all",
            "checkbox",
        ),
        "choices",
    ),
    **dict.fromkeys(("yes_no", "yes/no", "yesno", "y/n", "boolean", "bool", "binary"), "yes_no"),
    **dict.fromkeys(("number", "numeric", "numerical", "integer", "float", "count"), "number"),
    **dict.fromkeys(("text", "short", "short_text", "short_answer", "phrase", "exact"), "text"),
    **dict.fromkeys(("open", "open_ended", "free", "free_text", "free_form", "long"), "open"),
}
_TRUE = frozenset(phrases("truth_yes"))
_FALSE = frozenset(phrases("truth_no"))
_LISTS = frozenset(("list", "array", "sequence", "tuple"))
_OPEN_NUMBERS = (
    "some truths of questions whose type is open are numbers, and no open question is scored by rules; "
    "`--map COLUMN=ignored` of the type's column reads the type from each truth"
)
_LETTER_LIST = re.compile(r"[(\[]?[A-Za-z][)\].]*(?:\s*(?:[,;/&+|]|\band\b)\s*[(\[]?[A-Za-z][)\].]*)+")
_LETTER_RUN = re.compile(r"[A-Z]{2,}")


class TruthConvention(NamedTuple):
    """The convention by which a file writes truths: whether its values have types, how its numbers are written, which
    letters are several.

    `several` tells that several letters are asked for, whatever this row's truth is; `note` takes what people should
    know of how a truth was read.
    """

    typed: bool = True
    convention: NumberConvention = NumberConvention()
    several: bool = False
    note: Callable[[str], None] = lambda text: None


def read_truth(
    columns: RecordColumns, kind: AnswerKind | None, options: AnswerOptions | None, said: TruthConvention
) -> dict[str, Any]:
    """Take truths and tolerance of a question, whose type may be declared.

    Options make a choice, unless the type is number, text or open; several letters make a choice of several. Without a
    type, and without options: no truth makes an open question; yes, no, true and false in several languages a
    yes-or-no one; one number one of number; texts of at most 80 characters a short text, and longer ones an open
    question. Raises ValueError naming the column.
    """
    if options and kind in (None, "choice", "choices", "yes_no"):
        answers = _read_choice(columns, options, said)
        is_several = kind == "choices" or len(answers) > 1 or (said.several and kind is None)
        return {"kind": "choices" if is_several else "choice", "answers": answers}
    name, value = columns.first("answer")
    literal_name, literal = columns.first("answer_text")
    if literal is not None:
        name, value, kind = literal_name, literal, kind or "text"
    if kind in ("choice", "choices"):
        raise ValueError(columns.missing("options"))
    is_list = literal is None and _asks_for_a_list(columns)
    try:
        if is_list:
            texts = [as_written(value)] if value is not None else []
            kind = "text" if kind in (None, "open") and len("".join(texts)) <= LONGEST_SHORT else kind
        elif literal is not None:
            texts = list_literal_truths(value, typed=said.typed)
        else:
            texts = known_truths(columns.called(name), list_truths(value, typed=said.typed, kind=kind), kind, said.note)
        if kind == "open" and len(texts) == 1 and parse_number(strip_percent(texts[0]), said.convention) is not None:
            said.note(_OPEN_NUMBERS)
        kind = kind or _infer_kind(value, texts, said.convention)
        answers = _require_number(texts, said.convention) if kind == "number" else _READERS[kind](texts)
    except ValueError as error:
        raise ValueError(f"{columns.called(name)}: {error}") from error
    tolerances = _tolerances(columns, said.convention) if kind == "number" else {}
    return {"kind": kind, "answers": answers, "lettered": is_list or literal is not None, **tolerances}


def read_kind(columns: RecordColumns) -> AnswerKind | None:
    """Take the type that a record declares; that of its answer goes before a question's that is free in its form."""
    declared: AnswerKind | None = None
    for name, value in [*columns.all("type")]:
        if isinstance(value, str) and (kind := _KINDS.get(plain_name(value))):
            columns.drop(name)
            if kind != "open" or plain_name(value) == kind:
                return kind
            declared = kind
    return declared


def unwrap_single(value: Any) -> Any:
    """Return what a list of one holds, also one that a text writes; anything else as it is."""
    value = parse_list(value)
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _read_choice(columns: RecordColumns, called: AnswerOptions, said: TruthConvention) -> tuple[str, ...]:
    options = called.texts
    for field, read in (
        ("answer_text", _option_by_text),
        ("answer_index", _option_by_index),
        ("answer_from_1", _option_by_number),
    ):
        name, value = columns.first(field)
        if value is not None:
            return _require_letter(columns.called(name), value, read(text_of(value), options), options)
    name, value = columns.first("answer")
    name, value = columns.called(name), unwrap_single(value)
    if value is None or value == []:
        return ()
    text = text_of(value)
    letter = _option_by_name(name, text, called) or _option_by_position(name, value, called, said)
    if not letter and (several := read_letters(value, called)):
        return several
    if not letter and text.lower() in NO_TRUTHS | MAY_BE_NONE:
        said.note(f"{name}: '{text}' is no option, and taken as no truth")
        return ()
    return _require_letter(name, value, letter, options)


def _option_by_position(name: str, value: Any, called: AnswerOptions, said: TruthConvention) -> str:
    """Return the option of a number, or of a letter or text. Raises ValueError where a text may be either."""
    text = text_of(value)
    counted = "" if called.numbered else _option_by_index(text, called.texts)
    if is_number(value):
        return counted
    letter = find_option(text, called)
    if said.typed or not counted or letter in ("", counted):
        return letter or ("" if said.typed else counted)
    raise ValueError(
        f"{name}: '{text}' is option {letter}'s text, and counted from 0 it is option {counted}; name the column "
        "answer_text or answer_index"
    )


def _option_by_name(name: str, text: str, called: AnswerOptions) -> str:
    """Return the option that the record itself calls so. Raises ValueError where that is another option's text."""
    letter = called.named(text)
    other = _option_by_text(text, called.texts) if letter and text not in called.texts else ""
    if other and other != letter:
        raise ValueError(
            f"{name}: '{text}' is option {other}'s text, and option {letter} is called so; name the column answer_text "
            "or answer_from_1"
        )
    return letter


def find_option(text: str, options: AnswerOptions) -> str:
    """Return the option that a text names by its letter or its words; nothing where it names none, or several."""
    return options.letter(text) or _option_by_text(text, options.texts)


def read_letters(value: Any, called: AnswerOptions) -> tuple[str, ...]:
    """The several options that a value names, in their order: a list, "A, C", or "AC" where letters follow each other.

    Nothing where it names fewer than two, or something else beside them.
    """
    options = called.texts
    if isinstance(value, list | tuple):
        found = [
            called.named(text_of(one)) or (find_option(one, called) if isinstance(one, str) else "") for one in value
        ]
    elif isinstance(value, str) and _LETTER_LIST.fullmatch(value.strip()):
        found = [called.letter(letter) for letter in re.findall(r"\b[A-Za-z]\b", value)]
    elif (
        isinstance(value, str) and _LETTER_RUN.fullmatch(value.strip()) and list(value.strip()) == sorted(value.strip())
    ):
        found = [called.letter(letter) for letter in value.strip()]
    else:
        return ()
    named = set(found)
    if len(named) < 2 or len(named) < len(found) or not named <= set(options):
        return ()
    return tuple(letter for letter in options if letter in named)


def _require_letter(name: str, value: Any, letter: str, options: Mapping[str, str]) -> tuple[str, ...]:
    if letter:
        return (letter,)
    counted = "" if not text_of(value).isdecimal() else "; numbers count from 0, in a column answer_from_1 from 1"
    raise ValueError(f"{name}: '{text_of(value) or value}' is none of the options {', '.join(options)}{counted}")


def _option_by_text(text: str, options: Mapping[str, str]) -> str:
    exact = [letter for letter, option in options.items() if option.strip() == text]
    alike = exact or [letter for letter, option in options.items() if key_of(option) == key_of(text) != ""]
    written = split_option(text)
    if not alike and written and key_of(options.get(written[0], "")) == key_of(written[1]):
        return written[0]
    return alike[0] if len(alike) == 1 else ""


def _option_by_index(text: str, options: Mapping[str, str]) -> str:
    return list(options)[int(text)] if text.isdecimal() and int(text) < len(options) else ""


def _option_by_number(text: str, options: Mapping[str, str]) -> str:
    return _option_by_index(str(int(text) - 1), options) if text.isdecimal() else ""


def _asks_for_a_list(columns: RecordColumns) -> bool:
    for name, value in [*columns.all("type")]:
        if isinstance(value, str) and plain_name(value) in _LISTS:
            columns.drop(name)
            return True
    return False


def _infer_kind(value: Any, texts: list[str], convention: NumberConvention) -> AnswerKind:
    if not texts:
        return "open"
    if isinstance(value, bool) or all(text.lower() in _TRUE | _FALSE for text in texts):
        return "yes_no"
    if len(texts) == 1 and parse_number(strip_percent(texts[0]), convention) is not None:
        return "number"
    return "text" if all(len(text) <= LONGEST_SHORT for text in texts) else "open"


def _read_yes_no(texts: Iterable[str]) -> tuple[str, ...]:
    words = {**dict.fromkeys((*_TRUE, "1"), "yes"), **dict.fromkeys((*_FALSE, "0"), "no")}
    if unknown := [text for text in texts if text.lower() not in words]:
        raise ValueError(f"'{unknown[0]}' is neither yes nor no")
    return tuple(dict.fromkeys(words[text.lower()] for text in texts))


def _require_number(texts: list[str], convention: NumberConvention) -> tuple[str, ...]:
    if not texts:
        return ()
    found = leading_number(texts[0], convention) if len(texts) == 1 else None
    if found is None:
        sign = "a comma" if convention.decimal == "," else "a point"
        raise ValueError(f"'{' | '.join(texts)}' is not one number; {sign} is the decimal sign here (`--decimal`)")
    return (found,)


_READERS: Mapping[AnswerKind, Any] = {"yes_no": _read_yes_no, "text": tuple, "open": tuple}


def _tolerances(columns: RecordColumns, convention: NumberConvention) -> dict[str, float]:
    found = {}
    for field in ("tolerance", "relative_tolerance"):
        name, value = columns.first(field)
        text = text_of(value)
        share = text.endswith("%")
        if text:
            try:
                number = float(parse_number(text.removesuffix("%").strip(), convention) or "none")
            except ValueError as error:
                told = f"{columns.called(name)}: '{text}' is neither a number nor a share such as 5%"
                raise ValueError(f"{told}: {error}" if "--decimal" in str(error) else told) from error
            found["relative_tolerance" if share else field] = number / 100 if share else number
    return found
