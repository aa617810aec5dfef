"""The official table: a base row is a question, rotated rows are its orders of options, pictures come once."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import QUESTION_TYPES
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from tests.benchmarks.mmcr.examples import COLOURS, right
from tests.benchmarks.mmcr.files import bring, encoded, official_row, page, write_table


def names(document: str, count: int = 2) -> str:
    """File names of a document's pages, as the table lists them."""
    return str([f"{document}/{number}.jpg" for number in range(1, count + 1)])


ROWS: list[dict[str, Any]] = [
    official_row(4, image=encoded(10, 20), image_path=names("tides"), split="test", hint="Look twice."),
    official_row(7, image="4", image_path=names("tides"), category="table"),
    official_row(9, image=encoded(30), image_path=names("reefs", 1), category="Text Comprehension"),
    *(official_row(4, k, image="4") for k in (1, 2, 3, 4)),
    official_row(7, 2, image="4"),
]


def read(tmp_path: Path, rows: list[dict[str, Any]], **more: Any) -> list[MMCRSample]:
    """The samples of a table that was imported, as the data set has them."""
    (tmp_path / "none").mkdir(exist_ok=True)
    source = write_table(tmp_path / "MMCR.tsv", rows)
    made = bring(source, tmp_path / "none", tmp_path / "data" / "papers", **more)
    return [sample for sample in load_dataset(made.folder).samples if isinstance(sample, MMCRSample)]


def problems_of(tmp_path: Path, rows: list[dict[str, Any]]) -> list[str]:
    """Everything that keeps a table from being imported."""
    with pytest.raises(DatasetInvalidError) as caught:
        read(tmp_path, rows)
    return [str(problem) for problem in caught.value.problems]


def test_a_table_becomes_pages_and_questions(tmp_path: Path) -> None:
    """Three questions about two documents, whose three pages are written once; columns that nobody knows are kept."""
    found = {sample.id: sample for sample in read(tmp_path, ROWS)}
    assert sorted(found) == ["MMCR-4", "MMCR-7", "MMCR-9"]
    first, second, third = (found[name] for name in sorted(found))
    assert (first.document, second.document, third.document) == ("tides", "tides", "reefs")
    assert first.images == second.images and len(first.images) == 2
    assert len(list((tmp_path / "data" / "papers" / "images").iterdir())) == 3
    assert [one.type for one in (first, second, third)] == ["figure_table", "table", "text"]
    kept = {"split": "test", "image_path": ["tides/1.jpg", "tides/2.jpg"]}
    assert (first.hint, first.extra, first.answer) == ("Look twice.", kept, "B")


def test_rotated_rows_are_asked_as_they_are(tmp_path: Path) -> None:
    """Whatever their direction: here they shift to the right; those that are missing follow the rule."""
    turned = [official_row(4, image=encoded(10), image_path=names("tides", 1))]
    texts = list(COLOURS.values())
    for k in (1, 2):
        order = texts[-k:] + texts[:-k]
        shown = dict(zip("ABCDE", order, strict=True))
        turned.append(official_row(4, k, image="4", **shown, answer="ABCDE"[order.index("Blue.")]))
    (sample,) = read(tmp_path, turned)
    assert sample.rotations[:3] == ("", "EABCD", "DEABC")
    assert [right(sample, k) for k in range(5)] == ["B", "C", "D", "D", "C"]
    record = json.loads((tmp_path / "data/papers/samples/figure_table.jsonl").read_text())
    assert record["rotations"][1] == "EABCD"


def test_pictures_may_be_files(tmp_path: Path) -> None:
    """Names without pictures are found below the folder of images."""
    folder = tmp_path / "none" / "tides"
    folder.mkdir(parents=True)
    for number in (1, 2):
        (folder / f"{number}.jpg").write_bytes(page(number, "JPEG"))
    (sample,) = read(tmp_path, [official_row(4, image_path=names("tides"))])
    assert sample.images == ("images/tides/1.jpg", "images/tides/2.jpg")


def test_a_row_may_share_the_pictures_of_a_later_one(tmp_path: Path) -> None:
    """Rows come in any order, rotated ones before their base."""
    rows = [official_row(4, 1, image="7"), official_row(4, image="7"), official_row(7, image=encoded(10, 20))]
    first, second = read(tmp_path, rows)
    assert first.images == second.images and first.document == second.document == "document-1"
    assert first.rotations[1] == "BCDEA"


BAD: dict[str, dict[str, Any]] = {
    "index 3000005 has no base row 5": official_row(5, 3, image="4"),
    "rotation 3 of question 4 has other options than its base": official_row(4, 3, image="4", C="Pink."),
    "rotation 2 holds the right answer under E by its options, but says D": official_row(4, 2, image="4", answer="D"),
    "rotation 1 of question 4 has another question than its base": official_row(4, 1, image="4", question="What?"),
    "rotation 5 of question 4: of 5 options there are rotations up to 4": official_row(4, image="4")
    | {"index": 5000004},
    "image refers to row 12, which holds no picture": official_row(10, image="12"),
    "picture 3 is not base64": official_row(11, image=str([*json.loads(encoded(1, 2).replace("'", '"')), "%%%"])),
    "3 pictures, 2 names": official_row(13, image=encoded(1, 2, 3), image_path=names("x")),
    "image_path '../x.jpg' does not lie in the data set's folder": official_row(14, image_path="../x.jpg"),
    "type: 'chart' is not known": official_row(15, image="4", category="chart"),
    "image: is a list that cannot be read": official_row(16, image="[open('x')]" + 60 * " "),
    "index: 'x' is no whole number": official_row(17, image="4") | {"index": "x"},
}


def test_all_that_is_wrong_in_a_table_is_told_at_once(tmp_path: Path) -> None:
    """By line; lists are read as literals, and names do not leave the folder."""
    found = problems_of(tmp_path, [ROWS[0], *BAD.values()])
    for line, told in enumerate(BAD, start=3):
        assert any(problem.startswith(f"MMCR.tsv:{line}: ") and told in problem for problem in found), (told, found)
    assert len(found) == len(BAD)


def test_missing_columns_are_named_once(tmp_path: Path) -> None:
    """Not at every row."""
    rows = [{name: value for name, value in row.items() if name not in ("answer", "image")} for row in ROWS[:3]]
    rows = [{name: value for name, value in row.items() if name != "image_path"} for row in rows]
    found = problems_of(tmp_path, rows)
    there = "index, question, A, B, C, D, E, category, split, hint"
    told = f"has no column 'answer', 'image', or nothing in it; there are {there}; `--map COLUMN=answer` names one"
    assert found == [f"MMCR.tsv:2: {told}"]


def test_a_row_that_repeats_another_is_told(tmp_path: Path) -> None:
    """Of the same content it changes nothing, be it a base row or a rotated one."""
    rows = [*ROWS, official_row(4, 2, image="4"), official_row(9, image=encoded(30), category="Text Comprehension")]
    source = write_table(tmp_path / "MMCR.tsv", rows)
    (tmp_path / "none").mkdir()
    made = bring(source, tmp_path / "none", tmp_path / "data" / "papers")
    assert made.samples == 3
    (note,) = made.notes
    assert "rows that repeat another (2 records)" in note.message


def test_all_faults_of_a_row_are_told_at_once(tmp_path: Path) -> None:
    """Of a base row, and of a rotated one."""
    base = official_row(5, image="12", category="chart", answer="F")
    rotated = official_row(4, 3, image="12", question="What?", C="Pink.")
    found = problems_of(tmp_path, [ROWS[0], base, rotated])
    assert [problem.partition(": ")[2] for problem in found] == [
        "MMCR-5: type: 'chart' is not known: " + ", ".join(QUESTION_TYPES),
        "MMCR-5: image refers to row 12, which holds no picture",
        "image refers to row 12, which holds no picture",
        "rotation 3 of question 4 has another question than its base",
        "rotation 3 of question 4 has other options than its base",
    ]


@pytest.mark.parametrize("rotation", [0, 2])
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"question": "Another?"}, "question"),
        ({"A": COLOURS["B"], "B": COLOURS["A"]}, "options"),
        ({"answer": "A"}, "answer"),
        ({"category": "Table Comprehension", "answer": "A"}, "answer and category"),
    ],
)
def test_a_row_that_contradicts_another_of_its_index_is_refused(
    tmp_path: Path, rotation: int, changes: dict[str, str], told: str
) -> None:
    """With the lines of both; which of them is meant nobody knows."""
    hint = {} if rotation else {"hint": "Look twice."}
    rows = [*ROWS, official_row(4, rotation, image="4") | hint | changes]
    first = 2 if rotation == 0 else 6
    (problem,) = problems_of(tmp_path, rows)
    index = 4 + rotation * 1_000_000
    assert problem == f"MMCR.tsv:10: index {index} stands at line {first} already, with another {told}"


def test_a_wrong_letter_of_a_base_row_is_no_fault_of_its_rotations(tmp_path: Path) -> None:
    """One line is wrong, and one is named."""
    rows = [official_row(4, image=encoded(10), answer="F"), *(official_row(4, k, image="4") for k in (1, 2, 3, 4))]
    (problem,) = problems_of(tmp_path, rows)
    assert problem.startswith("MMCR.tsv:2:") and "answer 'F'" in problem


def test_names_of_pictures_that_lie_in_the_table_are_kept(tmp_path: Path) -> None:
    """Who looks for a page in the paper's own files finds it; where the name is the picture's own, once is enough."""
    found = {sample.id: sample for sample in read(tmp_path, ROWS)}
    assert found["MMCR-9"].extra == {"image_path": ["reefs/1.jpg"]}


def test_a_picture_that_is_none_is_called_by_its_number(tmp_path: Path) -> None:
    """It has no file that anybody has seen."""
    rows = [official_row(4, image=str([base64.b64encode(page(10)).decode(), base64.b64encode(b"no picture").decode()]))]
    (problem,) = problems_of(tmp_path, rows)
    told = "images: picture 2 of the record: the first bytes are those of no image format"
    assert problem == f"MMCR.tsv:2: MMCR-4: {told}"


def test_a_question_without_an_answer_is_a_warning(tmp_path: Path) -> None:
    """It is asked, and counts nowhere."""
    rows = [official_row(4, image=encoded(10), answer=""), official_row(5, image="4")]
    source = write_table(tmp_path / "MMCR.tsv", rows)
    (tmp_path / "none").mkdir()
    made = bring(source, tmp_path / "none", tmp_path / "data" / "papers")
    told = "has no answer: it is asked, and left out of every number"
    assert [one.line for one in made.warnings if one.message == told] == [2]


@pytest.mark.parametrize(("wrong", "told"), [
    (0, "MMCR-4: says that C is right, 'Green.'; most of its rotations say 'Blue.', which is B here"),
    (3, "rotation 3 holds the right answer under D by its options, but says"),
])  # fmt: skip
def test_the_row_that_differs_from_most_is_blamed_and_no_other(tmp_path: Path, wrong: int, told: str) -> None:
    """Whether it is the base row or a rotated one."""
    rows = [official_row(4, k, image="4") if k else official_row(4, image=encoded(10)) for k in range(5)]
    rows[wrong]["answer"] = "C" if wrong == 0 else next(letter for letter in "ABCDE" if letter != rows[wrong]["answer"])
    (problem,) = problems_of(tmp_path, rows)
    assert f"MMCR.tsv:{wrong + 2}: {told}" in problem
