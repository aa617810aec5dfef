"""Bad rows are named by file, row and column with their remedy, and good ones can go in without them."""

import json
from pathlib import Path

import pytest

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.reader_choice import find_reader
from tests.benchmarks.questions.files import bring, draw_pictures

HEADER = "id,image,question,A,B,answer\n"
GOOD = "good,red.jpg,Which?,x,y,A\n"
BAD = {
    "q,gone.jpg,Which?,x,y,A": "q: images: there is no image 'gone.jpg'",
    "q,broken.jpg,Which?,x,y,A": "broken.jpg",
    "q,http://a.b/c.jpg,Which?,x,y,A": "images: image 'http://a.b/c.jpg' is below no listed address",
    "q,ftp://a.b/c.jpg,Which?,x,y,A": "image: 'ftp://a.b/c.jpg' is an address that no images are read from",
    "q,red.jpg,Which?,x,y,E": "answer: 'E' is none of the options A, B",
    "q,red.jpg,Which?,x,y,7": "answer: '7' is none of the options A, B; numbers count from 0, in a column",
    "q,red.jpg,Which?,1,0,1": "answer: '1' is option A's text, and counted from 0 it is option B; name the column",
    "q,red.jpg,,x,y,A": "question: is empty here",
    "q,red.jpg,Which?,x,y": "has 5 fields where the header names 6",
    "good,red.jpg,Which?,x,y,A": "good: the id is already used at bad.csv:2",
    '"q,red.jpg,Which?,x,y,A': "is no row of a table",
}


def _write(tmp_path: Path, row: str) -> tuple[Path, Path]:
    pictures = draw_pictures(tmp_path / "pictures")
    (pictures / "broken.jpg").write_bytes(b"no picture")
    (tmp_path / "bad.csv").write_text(f"{HEADER}{GOOD}{row}\n", encoding="utf-8")
    return tmp_path / "bad.csv", pictures


@pytest.mark.parametrize("row", BAD)
def test_a_bad_row_is_named_and_nothing_is_made(tmp_path: Path, row: str) -> None:
    """Its place is that of the row, the header being line 1."""
    source, pictures = _write(tmp_path, row)
    with pytest.raises(DatasetInvalidError) as caught:
        bring(source, pictures, tmp_path / "data" / "made")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("bad.csv", 3)
    assert BAD[row] in str(problem) and caught.value.others == 1
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("row", BAD)
def test_the_good_rows_go_in_without_it(tmp_path: Path, row: str) -> None:
    """With the pictures of the good rows, and no others."""
    source, pictures = _write(tmp_path, row)
    made = bring(source, pictures, tmp_path / "data" / "made", leave_out_bad=True)
    assert [sample.id for sample in load_dataset(made.folder).samples] == ["good"]
    assert len(made.left_out) == 1
    assert [path.name for path in (made.folder / "images").iterdir()] == ["red.jpg"]


_PLACED = {"image": "gone.jpg", "question": "Which?", "choices": ["x", "y"], "answer": "x"}
SEVERAL = {
    "gone.jpg,,1,2,Z,": ("question: is empty here", "answer: 'Z' is none of", "there is no image 'gone.jpg'"),
    'red.jpg,Which?,x,y,Z,"1,2,0,4"': ("answer: 'Z' is none of", "regions: a region is x,y,w,h"),
    json.dumps({**_PLACED, "evidence": [{"image": 3, "region": "0,0,9,9"}]}): (
        "evidence: image 3 is named",
        "there is no image 'gone.jpg'",
    ),
}


@pytest.mark.parametrize("row", SEVERAL)
def test_all_that_is_wrong_with_a_row_is_told_at_once(tmp_path: Path, row: str) -> None:
    """Whoever mends it mends it once; what rests on what is wrong is not judged."""
    source = tmp_path / ("bad.jsonl" if row.startswith("{") else "bad.csv")
    header = "image,question,A,B,answer,regions\n" if source.suffix == ".csv" else ""
    source.write_text(f"{header}{row}\n", encoding="utf-8")
    with pytest.raises(DatasetInvalidError) as caught:
        bring(source, draw_pictures(tmp_path / "pictures"), tmp_path / "data" / "made")
    told = [str(problem) for problem in caught.value.problems]
    assert len(told) == len(SEVERAL[row])
    assert all(wanted in line for wanted, line in zip(SEVERAL[row], told, strict=True)), told


def test_a_table_of_mostly_bad_rows_is_read_by_its_columns(tmp_path: Path) -> None:
    """Not by who takes its rows because nothing there looks at the options."""
    (tmp_path / "bad.csv").write_text(
        "image,question,A,B,answer\na.jpg,,x,y,Z\nb.jpg,Which?,x,y,Q\nc.jpg,Which?,x,y,A\n"
    )
    assert find_reader(tmp_path / "bad.csv").name == "questions"


def test_all_bad_rows_of_a_list_in_one_object_are_told(tmp_path: Path) -> None:
    """Each by its number; the good ones between them can go in."""
    rows = [{"image": "red.jpg", "question": "Which?", "choices": ["x", "y"], "answer": answer} for answer in "ZABQ"]
    (tmp_path / "bad.json").write_text(json.dumps({"questions": rows}), encoding="utf-8")
    source, pictures = tmp_path / "bad.json", draw_pictures(tmp_path / "pictures")
    with pytest.raises(DatasetInvalidError) as caught:
        bring(source, pictures, tmp_path / "data" / "made")
    assert [problem.message.partition(":")[0] for problem in caught.value.problems] == [
        "row 1 of 'questions'",
        "row 4 of 'questions'",
    ]
    made = bring(source, pictures, tmp_path / "data" / "made", leave_out_bad=True)
    assert [sample.truth for sample in load_dataset(made.folder).samples] == ["A", "B"]


def test_broken_base64_is_a_bad_row(tmp_path: Path) -> None:
    """A picture that was cut in the middle of a cell, as a spreadsheet cuts them."""
    cell = "/9j/" + "A" * 1001
    (tmp_path / "cut.tsv").write_text(f"index\timage\tquestion\tanswer\n5\t{cell}\tWhich?\tyes\n", encoding="utf-8")
    with pytest.raises(
        DatasetInvalidError, match=r"cut\.tsv:2: 5: image: holds a picture in base64 that is cut or broken"
    ):
        bring(tmp_path / "cut.tsv", tmp_path, tmp_path / "data" / "made")


def test_a_row_that_is_wrong_all_over_is_told_at_once(tmp_path: Path) -> None:
    """So that nobody mends a file fault by fault."""
    source, pictures = _write(tmp_path, '"q\tq",http://a.b/c.jpg,,x,y,E')
    with pytest.raises(DatasetInvalidError) as caught:
        bring(source, pictures, tmp_path / "data" / "made")
    told = [
        "image 'http://a.b/c.jpg' is below no listed",
        "question: is empty here",
        "answer: 'E' is none of the options",
    ]
    lines = [str(problem) for problem in caught.value.problems]
    assert all(line.startswith("bad.csv:3: ") for line in lines)
    assert [any(words in line for line in lines) for words in told] == [True] * len(told)


def test_rows_behind_a_bad_one_of_the_same_object_are_read(tmp_path: Path) -> None:
    """Each fault is told by its row, and the others may go in."""
    pictures, source = draw_pictures(tmp_path / "pictures"), tmp_path / "all.json"
    told = enumerate(["", "", "Why?"])
    rows = [{"id": str(at), "image": "red.jpg", "question": text, "answer": "x"} for at, text in told]
    source.write_text(json.dumps({"data": rows}), encoding="utf-8")
    made = bring(source, pictures, tmp_path / "data" / "made", leave_out_bad=True)
    assert [sample.id for sample in load_dataset(made.folder).samples] == ["2"]
    assert [problem.message.split(": ")[0] for problem in made.left_out] == ["row 1 of 'data'", "row 2 of 'data'"]
