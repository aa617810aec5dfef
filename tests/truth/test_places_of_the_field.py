"""Pictures, rows and truths are found where files have them, or it is said which are not."""

import base64
import json
import shutil
from pathlib import Path

import pytest

from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.reader_choice import find_reader
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from tests.benchmarks.questions.files import bring
from tests.truth.reading import PICTURES, imported, refusal, written

_ROW = {"image": "harbour.png", "question": "What is it?"}
_CHOICE = {**_ROW, "options": ["a crane", "a ship", "a tug"]}


def _source(folder: Path, *rows: dict[str, object]) -> Path:
    return written(folder, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def _refused(source: Path, pictures: Path, folder: Path) -> str:
    with pytest.raises(DatasetInvalidError) as caught:
        bring(source, pictures, folder / "made")
    return str(caught.value)


def _folders(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PICTURES / "harbour.png", folder / name)
    return folder


@pytest.mark.parametrize("empty", [None, "", []])
@pytest.mark.parametrize("pictures", [("only.png",), ("rows.png", "other.png"), ("7.png", "other.png")])
def test_an_empty_image_gets_no_other_picture(tmp_path: Path, empty: object, pictures: tuple[str, ...]) -> None:
    """Neither the only one, nor that of the file's name or of the id; a file without such a column has these."""
    folder = _folders(tmp_path / "pictures", *pictures)
    row = {"id": 7, "question": "What is it?", "answer": "a ship"}
    assert "rows.jsonl:1: 7: image: is empty here" in _refused(
        _source(tmp_path, {**row, "image": empty}), folder, tmp_path
    )
    assert bring(_source(tmp_path, row), folder, tmp_path / "made").samples == 1


@pytest.mark.parametrize("named", ["one.png", "elsewhere/one.png", "/data/one.png", "..\\one.png", "one"])
def test_a_name_of_two_pictures_is_refused(tmp_path: Path, named: str) -> None:
    """Both are named; a path of one's own folder is sure."""
    folder = _folders(tmp_path / "pictures", "a/one.png", "b/one.png")
    message = _refused(_source(tmp_path, {**_ROW, "image": named, "answer": "a ship"}), folder, tmp_path)
    assert "may be a/one.png or b/one.png" in message
    for at, sure in enumerate(["b/one.png", "/data/b/one.png", "C:\\data\\b\\one.png"]):
        made = bring(_source(tmp_path, {**_ROW, "image": sure, "answer": "x"}), folder, tmp_path / f"sure-{at}")
        assert [path.name for path in (made.folder / "images").iterdir()] == ["b"]


@pytest.mark.parametrize("column", ["solution_number", "truth_column"])
@pytest.mark.parametrize("truths", [("A", "C", "B"), (1, 2, 1), ("a tug", "a crane", "a ship")])
def test_choices_without_any_truth_name_what_may_hold_it(
    tmp_path: Path, column: str, truths: tuple[object, ...]
) -> None:
    """An import warns of it, and so does a check."""
    made, _ = imported(_source(tmp_path, *({**_CHOICE, column: truth} for truth in truths)), tmp_path)
    (warning,) = map(str, made.warnings)
    assert "none of the 3 choices has a truth" in warning
    assert f"`--map {column}=answer`" in warning
    assert f"`--map {column}=answer`" in str(inspect_dataset(made.folder, lambda image, show: Size(8, 6)).warnings[0])


def test_nothing_is_said_where_a_truth_is_known(tmp_path: Path) -> None:
    """Whatever else there is."""
    rows = [{**_CHOICE, "answer": "A", "other": "B"}, {**_CHOICE, "other": "C"}]
    assert imported(_source(tmp_path, *rows), tmp_path)[0].warnings == []


@pytest.mark.parametrize(
    "column",
    [
        "correct_choice_idx",
        "gold_index",
        "answer_idx",
        "answer_index",
        "correct_option_index",
        "label",
        "correct_option",
    ],
)
def test_known_columns_of_truths_are_read(tmp_path: Path, column: str) -> None:
    """Numbers count from 0, where 0 is one of them."""
    samples = imported(_source(tmp_path, *({**_CHOICE, column: at} for at in (0, 2, 1))), tmp_path)[1]
    assert [one.truth for one in samples] == ["A", "C", "B"]


@pytest.mark.parametrize(
    "options",
    [
        {"options": ["red", "green"]}, {"choices": ["red", "green"]}, {"option_a": "red", "option_b": "green"},
        {"Option 1": "red", "Option 2": "green"}, {"A": "red", "B": "green"}, {"answer_choices": "red|green"},
        {"candidates": {"A": "red", "B": "green"}},
    ],
)  # fmt: skip
def test_a_table_of_options_is_one_of_questions(tmp_path: Path, options: dict[str, object]) -> None:
    """No benchmark takes it that leaves options unread."""
    source = _source(tmp_path, *({**_ROW, **options, "answer": letter} for letter in "AB"))
    assert find_reader(source).name == "questions"


@pytest.mark.parametrize("wrapper", [None, "data"])
def test_a_row_of_a_document_in_one_line_has_a_number(tmp_path: Path, wrapper: str | None) -> None:
    """The line alone would tell nothing."""
    rows: object = [{**_CHOICE, "answer": "A"}, {**_CHOICE, "answer": "Z"}]
    source = written(tmp_path, "all.json", json.dumps({wrapper: rows} if wrapper else rows))
    message = refusal(source, tmp_path)
    assert ("row 2 of 'data': answer" if wrapper else "all-2: answer") in message


def test_rows_on_lines_of_their_own_have_these(tmp_path: Path) -> None:
    """As ever."""
    rows = [{**_CHOICE, "answer": "A"}, {**_CHOICE, "answer": "Z"}]
    source = written(tmp_path, "all.json", "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    assert "all.json:3: all-2: answer: 'Z'" in refusal(source, tmp_path)


def test_pictures_in_records_need_no_folder(tmp_path: Path) -> None:
    """Those that are files do."""
    inside = base64.b64encode((PICTURES / "harbour.png").read_bytes()).decode()
    reader = find_benchmark("questions")
    _source(tmp_path, {**_ROW, "image": inside, "answer": "a ship"})
    made = import_dataset(reader, tmp_path / "rows.jsonl", None, tmp_path / "made", check_image=read_header)
    assert (made.samples, made.images) == (1, 1)
    _source(tmp_path, {**_ROW, "answer": "a ship"})
    with pytest.raises(DatasetInvalidError, match="name the folder of the images, --images FOLDER"):
        import_dataset(reader, tmp_path / "rows.jsonl", None, tmp_path / "other", check_image=read_header)
