"""Infer from all rows of a file what no single row tells: the base of numbers, and the columns of options."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from gigavqa.answers.numerals import is_number
from gigavqa.benchmarks.questions.columns import RecordColumns, text_of
from gigavqa.benchmarks.questions.numbers import NumberConvention, decimal_sign_of, is_ambiguous
from gigavqa.benchmarks.questions.options import (
    AnswerOptions,
    QuestionWithOptions,
    letter_options,
    options_of,
    split_question,
)
from gigavqa.benchmarks.questions.samples import AnswerKind
from gigavqa.benchmarks.questions.truth_texts import list_truths
from gigavqa.benchmarks.questions.truths import find_option, read_kind, read_letters, unwrap_single
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.errors import ColumnError
from gigavqa.evaluation.records import Record

_LAYOUT = "\0layout"
MAY_BE_CHOICES = (None, "choice", "choices", "yes_no")
"""The types that a question with options may have; None where none is declared."""
_WRAPPERS = ("questions", "samples", "records", "data", "annotations")
_COUNTED = {"answer": 0, "answer_index": 0, "answer_from_1": 1}
"""Fields that may hold an option's number, and what it counts from."""
_CHANCE_LEVEL = 0.01
"""How likely it may be that numbers from 0 never hold 0; below, they may as well count from 1."""


@dataclass
class FileLayout:
    """One file's rows, looked at together; `wrong` says what is wrong with a column, whatever row is read.

    `within` tells that every row that may be a choice lists its options in its question's text, and `shared` is what
    stands behind them in all of them alike: an instruction. `several` names the categories in which a question has
    several true options.
    """

    within: bool = False
    shared: str = ""
    several: set[str] = field(default_factory=set)
    wrong: str = ""


def find_wrapper(record: Record) -> str | None:
    """Return the name under which a record that is alone in its file holds a list of rows.

    None where it is one itself.
    """
    named = (name for name in _WRAPPERS if _is_list_of_rows(record.value.get(name)))
    return next(named, None) if record.alone else None


def rows_of(record: Record) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a record: those of a list that it wraps, else itself."""
    wrapper = find_wrapper(record)
    yield from record.value[wrapper] if wrapper else [record.value]


def _is_list_of_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def read_layout(record: Record, origin: RecordContext) -> FileLayout:
    """Return the layout of a record's file, looked at once. Raises ColumnError naming a column and the remedy."""
    if _LAYOUT not in origin.seen:
        origin.seen[_LAYOUT] = _survey_rows(record, origin)
    layout: FileLayout = origin.seen[_LAYOUT]
    if layout.wrong:
        raise ColumnError(layout.wrong)
    return layout


def is_self_contained(columns: RecordColumns, kind: AnswerKind | None, record: Record) -> bool:
    """Return whether a row of a declared type tells all of itself.

    Its options, the right letters, a number without commas.
    """
    value = unwrap_single(next((inner for name in _COUNTED for _, inner in columns.all(name)), None))
    text = text_of(value)
    if kind in ("choice", "choices"):
        has_options = any(True for _ in columns.all("options")) or {"a", "b"} <= columns.plain_names
        return has_options and not text.isdecimal()
    if kind == "number":
        return not isinstance(value, str) or (record.decimal == "." and "," not in text)
    return kind in ("text", "open")


def _survey_rows(record: Record, origin: RecordContext) -> FileLayout:
    survey = _LayoutSurvey(record)
    for other in origin.again():
        if isinstance(other.value, dict):
            for row in rows_of(other):
                survey.look_at(row, other)
    layout = FileLayout(several=survey.several)
    layout.wrong = next(survey.wrong(), "")
    if survey.within and None not in survey.within:
        layout.within = True
        tails = {one.behind for one in survey.within if one}
        heads = {one.before for one in survey.within if one}
        layout.shared = tails.pop() if len(tails) == 1 and len(heads) > 1 else ""
        told = f"; what stands behind them in all rows is left out: '{layout.shared}'" if layout.shared else ""
        origin.note(
            f"options are read out of the questions' texts, where all {len(survey.within)} rows list them{told}"
        )
    if layout.several:
        names = ", ".join(sorted(filter(None, layout.several))) or "this file"
        origin.note(
            f"several letters are asked for in all choices of {names}, since some of them have several true ones"
        )
    return layout


class _LayoutSurvey:
    """Notes what rows say, one by one."""

    def __init__(self, record: Record) -> None:
        self._convention = NumberConvention(record.decimal, record.decimal_told)
        self.within: list[QuestionWithOptions | None] = []
        self.several: set[str] = set()
        self._numbers: dict[str, list[tuple[int, int, str]]] = {}
        self._others: dict[str, tuple[str, str]] = {}
        self._signs: dict[str, tuple[str, str]] = {}
        self._unsure: tuple[str, str] | None = None
        self._names: dict[str, str] = {}
        self._declared: set[str] = set()
        self._unnamed: dict[str, tuple[str, str, str]] = {}
        self._from_1 = False

    def look_at(self, row: Mapping[str, Any], record: Record) -> None:
        """Note one row; what is wrong with it alone is told where it is read."""
        columns = RecordColumns(row, record)
        try:
            options = options_of(columns)
        except ValueError:
            return
        question, kind = text_of(columns.first("question")[1]), read_kind(columns)
        if question and kind in MAY_BE_CHOICES:
            self.within.append(None if options else split_question(question))
            options = AnswerOptions(letter_options(self.within[-1].options)) if self.within[-1] else options
        if options and kind in MAY_BE_CHOICES:
            self._note_choice(columns, options, record)
        elif kind in (None, "number"):
            self._note_number(columns, record)

    def _note_choice(self, columns: RecordColumns, options: AnswerOptions, record: Record) -> None:
        for name in ("answer_from_1", "answer_index", "answer"):
            own, value = columns.first(name)
            if value is None:
                continue
            value = unwrap_single(value)
            self._names[name] = columns.called(own)
            text = text_of(value)
            if own in record.called:
                self._declared.add(name)
            if name == "answer" and options.numbered and text.isdecimal():
                if text not in options.called:
                    self._unnamed.setdefault(columns.called(own), (record.place, text, ", ".join(options.called)))
            elif (is_number(value) or not find_option(text, options)) and text.isdecimal():
                if int(text) <= len(options.texts):
                    self._numbers.setdefault(name, []).append((int(text), len(options.texts), record.place))
                    self._from_1 = self._from_1 or (options.numbered and "0" not in options.called)
            elif len(read_letters(value, options)) > 1:
                self.several.add(text_of(columns.first("category")[1]))
            elif text:
                self._others.setdefault(name, (record.place, text))
            return

    def _note_number(self, columns: RecordColumns, record: Record) -> None:
        name, value = columns.first("answer")
        try:
            texts = [] if isinstance(value, int | float) else list_truths(value, typed=record.typed)
        except ValueError:
            return
        if len(texts) == 1:
            self._names["number"] = columns.called(name)
            if sign := decimal_sign_of(texts[0]):
                self._signs.setdefault(sign, (record.place, texts[0]))
            elif "," in texts[0] and is_ambiguous(texts[0]):
                self._unsure = self._unsure or (record.place, texts[0])

    def wrong(self) -> Iterator[str]:
        """Say what is wrong with a column, whatever row is looked at."""
        for name, numbers in self._numbers.items():
            yield from self._wrong_count(name, numbers)
        for own, (line, text, names) in self._unnamed.items():
            yield (
                f"{own}: holds {text} (row at {line}), and the options are called {names}: what its numbers count "
                f"from is not told; say `--map {own}=answer_index` if they count from 0, "
                f"`--map {own}=answer_from_1` if from 1"
            )
        yield from self._wrong_signs()

    def _wrong_count(self, name: str, numbers: list[tuple[int, int, str]]) -> Iterator[str]:
        own, base = self._names[name], _COUNTED[name]
        last = next(((number, line) for number, count, line in numbers if number == count), None)
        zero = next((line for number, _, line in numbers if number == 0), None)
        if base == 1 and zero is not None:
            yield f"{own}: holds 0 (row at {zero}), so it counts from 0; say `--map {own}=answer_index`"
        if base == 0 and last and zero is None:
            yield (
                f"{own}: holds {last[0]} of {last[0]} options (row at {last[1]}) and never 0, so it counts from "
                f"1; say `--map {own}=answer_from_1`"
            )
        mixed = name in self._others
        if base == 0 and not last and zero is None and not mixed and name not in self._declared:
            by_chance = prod(1 - 1 / count for _, count, _ in numbers)
            if by_chance < _CHANCE_LEVEL or self._from_1:
                yield (
                    f"{own}: holds numbers in {len(numbers)} rows, and never 0 nor the number of the options: whether "
                    f"they count from 0 or from 1 is not told; say `--map {own}=answer_index` if they count from 0, "
                    f"`--map {own}=answer_from_1` if from 1"
                )
        if base == 0 and not last and zero is None and mixed:
            line, text = self._others[name]
            yield (
                f"{own}: holds numbers in some rows ({numbers[0][2]}: {numbers[0][0]}) and texts or letters in "
                f"others ({line}: '{text[:40]}'), and never 0: what the numbers count from is not told; make one "
                f"table of each, and say `--map {own}=answer_from_1` or `--map {own}=answer_index` of the numbers"
            )

    def _wrong_signs(self) -> Iterator[str]:
        if self._convention.told or "," not in {*self._signs, "," if self._unsure else ""}:
            return
        own = self._names["number"]
        line, text = self._signs.get(",") or self._unsure or ("", "")
        if self._convention.decimal == "." and "," in self._signs:
            yield (
                f"{own}: '{text}' (row at {line}) has a decimal comma, and in this file a point is the decimal "
                "sign; say `--decimal ,` if all its numbers have commas, or `--decimal .` if this is a text"
            )
        elif self._convention.decimal == "," and "." in self._signs:
            other = self._signs["."]
            yield (
                f"{own}: holds '{text}' (row at {line}) and '{other[1]}' (row at {other[0]}), with two "
                "decimal signs; write all with one, and say `--decimal ,` or `--decimal .`"
            )
