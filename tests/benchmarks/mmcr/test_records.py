"""Records in the paper's shape: read leniently, written as they are read, and all that is wrong told at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.mmcr.benchmark import MMCR
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError, EvidenceMissingError
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.tiling.headers import read_header
from tests.benchmarks.mmcr.examples import COLOURS
from tests.benchmarks.mmcr.files import PAGES, RECORD, draw_pages, write_dataset


def only(folder: Path) -> MMCRSample:
    """The one sample of a data set."""
    (sample,) = load_dataset(folder).samples
    assert isinstance(sample, MMCRSample)
    return sample


def problems_of(folder: Path) -> list[str]:
    """Everything that keeps a data set from being asked."""
    with pytest.raises(DatasetInvalidError) as caught:
        load_dataset(folder)
    return [str(problem) for problem in caught.value.problems]


def test_a_record_reads_as_it_is_written(tmp_path: Path) -> None:
    """Written again it is the same sample, with what nobody knows of it."""
    sample = only(write_dataset(tmp_path / "papers", [RECORD | {"author": "K.", "hint": "Look twice."}]))
    assert (sample.images, sample.answer, sample.evidence.pages) == (PAGES, "B", (1, 2))
    assert sample.groups == {"type": "figure_table", "subject": "vision", "document": "tides", "source": "cross"}
    again = write_dataset(tmp_path / "again", [MMCR().record(sample)])
    assert only(again) == sample and sample.extra == {"author": "K."}


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"type": "Figure-Table Comprehension"}, "type", "figure_table"),
        ({"type": "multi-figure"}, "type", "multi_figure"),
        ({"options": list(COLOURS.values())}, "options", COLOURS),
        ({"options": [f"{letter}. {text}" for letter, text in COLOURS.items()]}, "options", COLOURS),
        ({"answer": "B. Blue."}, "answer", "B"),
        ({"answer": "B."}, "answer", "B"),
        ({"answer": ""}, "answer", ""),
        ({"pages": "images/tides"}, "images", PAGES),
        ({"subject": None}, "subject", "no subject"),
    ],
)
def test_records_are_read_leniently(tmp_path: Path, changes: dict[str, Any], field: str, value: object) -> None:
    """Titles, lists, answers with their text, and folders."""
    assert getattr(only(write_dataset(tmp_path / "papers", [RECORD | changes])), field) == value


def test_a_folders_pages_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Page 9 comes before page 10."""
    folder = write_dataset(tmp_path / "papers", [RECORD | {"pages": "images/reefs", "document": "reefs"}])
    draw_pages(folder / "images" / "reefs", 11)
    for path in sorted((folder / "images" / "reefs").iterdir()):
        path.rename(path.with_name(f"page-{int(path.stem)}.png"))
    assert [name.rpartition("-")[2] for name in only(folder).images] == [f"{number}.png" for number in range(1, 12)]


def test_documents_may_name_their_pages_once(tmp_path: Path) -> None:
    """Questions then need not; their own subject goes before the document's."""
    bare = {name: value for name, value in RECORD.items() if name not in ("pages", "subject")}
    text = json.dumps({"tides": {"pages": "images/tides", "subject": "coasts"}})
    folder = write_dataset(tmp_path / "papers", [bare, {**RECORD, "id": "q2"}], **{"documents.json": text})
    assert [(one.images, one.groups["subject"]) for one in load_dataset(folder).samples] == [
        (PAGES, "coasts"), (PAGES, "vision"),
    ]  # fmt: skip


BAD = {
    "type: 'chart' is not known: figure, multi_figure, figure_table, figure_text, figure_formula, table, multi_table, "
    "text, formula, pseudocode": {"type": "chart"},
    "pages: page 'images/tides/004.png' does not exist": {"pages": ["images/tides/004.png"]},
    "pages: the folder images/reefs holds no image": {"pages": "images/reefs"},
    "pages is empty": {"pages": []},
    "pages: is missing; a list of images, a folder of them, or a PDF": {"pages": None},
    "pages 'images/../../x.png' does not lie in the data set's folder": {"pages": ["images/../../x.png"]},
    "answer 'F' is none of the options A, B, C, D, E": {"answer": "F"},
    "answer 'B. Yellow.' does not fit option B, 'Blue.'": {"answer": "B. Yellow."},
    "evidence.pages: 9 is beyond the document's 2 pages": {"evidence": {"pages": [9]}},
    "options: must be two to five, lettered from A without a gap, not ['A', 'C']": {"options": {"A": "x", "C": "y"}},
    "rotations: 'ABC' is no order of the letters ABCDE": {"rotations": ["", "ABC"]},
    "type: is missing": {"type": None},
    "there is no document 'tides.pdf', which `gigavqa dataset import` renders": {"pages": "tides.pdf"},
}


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """By file, line and record, one sentence each; the good record in the middle is none of them."""
    records = [{**RECORD, "id": f"q{at}", "document": f"d{at}", **changes} for at, changes in enumerate(BAD.values())]
    found = problems_of(write_dataset(tmp_path / "papers", [*records, RECORD]))
    assert len(found) == len(BAD)
    for number, (told, problem) in enumerate(zip(BAD, found, strict=True), start=1):
        assert problem.startswith(f"samples/a.jsonl:{number}: ") and told in problem


def test_a_document_has_the_same_pages_everywhere(tmp_path: Path) -> None:
    """The second question is told where the first one stands; an id is used once."""
    other = {**RECORD, "id": "q2", "pages": list(PAGES[:1]), "evidence": {}}
    found = problems_of(write_dataset(tmp_path / "papers", [RECORD, other, RECORD]))
    assert found == [
        "samples/a.jsonl:3: tides-q1: the id is already used at samples/a.jsonl:1",
        "samples/a.jsonl:2: q2: document 'tides' has other pages here than at samples/a.jsonl:1",
    ]


def test_what_is_doubtful_is_a_warning(tmp_path: Path) -> None:
    """It can be asked, and a reader knows."""
    same = {**RECORD, "id": "q2", "options": {**COLOURS, "D": "blue."}, "rotations": ["", "BCDEA"]}
    alone = {**RECORD, "id": "q3", "document": "reefs", "pages": list(PAGES[:1]), "evidence": {}}
    folder = write_dataset(tmp_path / "papers", [RECORD, same, alone])
    found = inspect_dataset(folder, lambda image, show: read_header(folder / image, show).size)
    assert [problem.message for problem in found.warnings] == [
        *["V5 cannot show it: all its 2 images hold evidence"] * 2,
        "options B and D have the same wording; stage 2 could never decide",
        "rotations 2, 3, 4 are missing; they are asked by the rule",
        "document 'tides' has 2 questions, fewer than eight",
        "document 'reefs' has 1 question, fewer than eight",
        "document 'reefs' has one page",
    ]
    assert not found.errors


def test_local_evidence_needs_evidence_pages() -> None:
    """Every sample without any is named, under each condition that would show them."""
    sample = MMCRSample.model_validate(
        {**{name: value for name, value in RECORD.items() if name not in ("pages", "evidence")}, "images": PAGES}
    )
    with pytest.raises(EvidenceMissingError, match="sample 'tides-q1': no evidence pages, which V3 shows"):
        MMCR().validate([sample], [*MMCR.plans["mmcr"], MMCR.plans["mmcr"][0].model_copy(update={"condition": "V3"})])
    MMCR().validate([sample], MMCR.plans["mmcr"])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("documents.json", "{", "documents.json: is not JSON"),
        ("documents.json", '{"tides": {}}', "documents.json: 'tides' must have `pages`"),
        ("errors.jsonl", '{"sample_id": "q"}', "errors.jsonl: line 1: must be an object with the texts sample_id"),
        (
            "errors.jsonl",
            '\n{"sample_id": "q", "model": "m", "category": "bad luck"}',
            "errors.jsonl: line 2: category 'bad luck' is not known: hallucinated evidence, incomplete evidence",
        ),
    ],
)
def test_files_beside_are_checked(tmp_path: Path, name: str, text: str, told: str) -> None:
    """They are named with what is wrong in them."""
    assert any(
        problem.startswith(told) for problem in problems_of(write_dataset(tmp_path / "p", [RECORD], **{name: text}))
    )
