"""One table, written in every spelling, reads as the same questions, or is refused; never as others."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.evaluation.errors import DatasetInvalidError
from tests.truth.reading import imported, written

_PICTURES = ("harbour.png", "field.png", "street.png")
_LETTERS = "ABCDE"


@dataclass(frozen=True)
class Row:
    """A question with its options, and the positions of the true ones."""

    question: str
    options: tuple[str, ...]
    true: tuple[int, ...]


@dataclass(frozen=True)
class Spelling:
    """How a table is written."""

    options: str
    answer: str
    delimiter: str
    encoding: str


_TEXTS = st.lists(st.sampled_from(["rot", "grün", "blå", "a crane", "größer", "no entry", "Ürdingen"]), min_size=2,
                  max_size=5, unique=True).map(tuple)  # fmt: skip


@st.composite
def _rows(draw: st.DrawFn) -> list[Row]:
    rows = []
    for at in range(draw(st.integers(1, 4))):
        options = draw(_TEXTS)
        positions = st.integers(0, len(options) - 1)
        true = draw(st.one_of(positions.map(lambda one: (one,)), st.sets(positions, min_size=2).map(sorted).map(tuple)))
        rows.append(Row(f"Which of them, {at}?", options, true))
    return rows


def _marked(form: str) -> Callable[[Row], list[str]]:
    return lambda row: [form.format(letter, text) for letter, text in zip(_LETTERS, row.options, strict=False)]


_WITHIN = "within"
_OPTIONS: Mapping[str, tuple[str, Callable[[Row], str]]] = {
    "a list of JSON": ("options", lambda row: json.dumps(list(row.options))),
    "a list of Python": ("multi-choice options", lambda row: repr(_marked("({}) {}")(row))),
    "with bars": ("Option List", lambda row: "|".join(_marked("{}. {}")(row))),
    "with lines": ("answer_choices", lambda row: "\n".join(_marked("{}) {}")(row))),
    "with colons": ("multiple-choice options", lambda row: "\n".join(_marked("{}: {}")(row))),
    _WITHIN: ("", lambda row: "\n".join(_marked("({}) {}")(row))),
}
"""What options are called, and how they are written."""

_ANSWERS: Mapping[str, Callable[[Row], str]] = {
    "letters with commas": lambda row: ", ".join(_LETTERS[at] for at in row.true),
    "letters together": lambda row: "".join(_LETTERS[at] for at in row.true),
    "a list of letters": lambda row: json.dumps([_LETTERS[at] for at in row.true]),
    "a list of texts": lambda row: json.dumps([row.options[at] for at in row.true], ensure_ascii=False),
    "numbers from 0": lambda row: ",".join(str(at) for at in row.true),
    "numbers from 1": lambda row: ",".join(str(at + 1) for at in row.true),
}
_SPELLINGS = st.builds(
    Spelling,
    st.sampled_from(list(_OPTIONS)),
    st.sampled_from(list(_ANSWERS)),
    st.sampled_from(",;\t"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)


def _table(rows: Sequence[Row], spelling: Spelling) -> str:
    name, write = _OPTIONS[spelling.options]
    text = io.StringIO()
    table = csv.writer(text, delimiter=spelling.delimiter)
    table.writerow(["image", "question", "answer", *([name] if name else [])])
    for at, row in enumerate(rows):
        question = f"{row.question}\n{write(row)}" if not name else row.question
        answer = _ANSWERS[spelling.answer](row)
        table.writerow([_PICTURES[at % 3], question, answer, *([write(row)] if name else [])])
    return text.getvalue()


@given(rows=_rows(), spelling=_SPELLINGS)
def test_every_spelling_reads_as_the_same_questions_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], spelling: Spelling
) -> None:
    """Numbers from 1 that look like numbers from 0 alone are nobody's to know; they name their column for that."""
    folder = tmp_path_factory.mktemp("spelled")
    source = written(folder, "some.csv", _table(rows, spelling), spelling.encoding)
    from_1 = spelling.answer == "numbers from 1"
    columns = {"answer": "answer_from_1"} if from_1 and not _shows_its_base(rows) else {}
    try:
        _, samples = imported(source, folder, columns=columns, leave_out_bad=True)
    except DatasetInvalidError:
        assert spelling.answer.startswith("numbers")
        return
    by_id = {sample.id: sample for sample in samples}
    assert spelling.answer.startswith("numbers") or len(by_id) == len(rows)
    for at, row in enumerate(rows):
        if sample := by_id.get(f"some-{at + 1}"):
            assert sample.question == row.question
            assert sample.options == dict(zip(_LETTERS, row.options, strict=False))
            assert sample.answers == tuple(_LETTERS[position] for position in row.true)


def _shows_its_base(rows: Sequence[Row]) -> bool:
    """Whether a single number is that of the last option, counted from 1."""
    return any(len(row.true) == 1 and row.true[0] + 1 == len(row.options) for row in rows)
