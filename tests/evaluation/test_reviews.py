"""Reviews: which verdict counts, what is written and read again, and what an export makes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError, ReviewRefusedError, ReviewsOpenError
from gigavqa.evaluation.review_export import ReviewCounts, apply_reviews
from gigavqa.evaluation.review_files import ReviewLog, digests_in, read_reviews
from gigavqa.evaluation.review_table import answer_is_right, review_table
from gigavqa.evaluation.reviews import ReviewEntry, Reviews


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of questions: two with options, yes or no, a number, and an open one."""
    return write(tmp_path / "ships")


RECORDS: list[dict[str, Any]] = [
    {"id": "a", "question": "Which?", "choices": ["red", "green"], "answer": "green", "boxes": [[0, 0, 9, 9]]},
    {"id": "b", "question": "Who?", "choices": ["ann", "bob", "cy"], "answer": "ann"},
    {"id": "c", "question": "Is there a ship?", "answer": "yes"},
    {"id": "d", "question": "How many?", "answer": 3},
]


def write(folder: Path, records: list[dict[str, Any]] = RECORDS) -> Path:
    """Write a data set of questions about one picture, which nobody opens here."""
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "questions"\n')
    lines = (json.dumps({"image": "images/port.png", "category": "ships", **record}) for record in records)
    (folder / "samples/all.jsonl").write_text("\n".join(lines))
    return folder


def entry(dataset: Dataset, sample: str, verdict: str = "keep", id: str = "", **fields: Any) -> ReviewEntry:
    """A verdict on a sample as it is now."""
    digest = digests_in(dataset)(sample) or "0" * 32
    named = id or f"{sample}-{verdict}-{'x' * 8}"
    return ReviewEntry(id=named, sample=sample, digest=digest, verdict=verdict, **fields)  # type: ignore[arg-type]


def given(folder: Path, **entries: list[ReviewEntry]) -> Reviews:
    """Write what each reviewer says, and read it again."""
    for reviewer, told in entries.items():
        log = ReviewLog(folder / f"reviews/{reviewer}.jsonl")
        for one in told:
            log.append(one)
    return read_reviews(folder, load_dataset(folder))


def test_the_last_verdict_counts_that_was_not_undone(folder: Path) -> None:
    """Of a reviewer, on a sample: an undoing brings back what stood before."""
    dataset = load_dataset(folder)
    keep, drop = entry(dataset, "a"), entry(dataset, "a", "drop", reason="unclear")
    undo = entry(dataset, "a", "undo", undoes=drop.id)
    assert given(folder, ada=[keep, drop]).decision("a").state == "drop"
    assert given(folder, ada=[undo]).decision("a").state == "keep"
    with pytest.raises(ReviewRefusedError, match="is not the verdict that counts"):
        given(folder, ada=[undo.model_copy(update={"id": "another-undo"})])
    assert given(folder, ada=[entry(dataset, "a", "undo", id="undo-all", undoes=keep.id)]).by_sample == {}


def test_a_changed_sample_is_asked_again(folder: Path) -> None:
    """What was said of another question of its name does not count, and is told of."""
    found = given(folder, ada=[entry(load_dataset(folder), name) for name in "ab"])
    assert sorted(found.by_sample) == ["a", "b"]
    write(folder, [{**RECORDS[0], "question": "Which one?"}, *RECORDS[1:]])
    found = read_reviews(folder, load_dataset(folder))
    assert (sorted(found.by_sample), found.outdated) == (["b"], {"ada": 1})


@pytest.mark.parametrize(
    ("verdict", "fields", "said"),
    [
        ("drop", {}, "why a sample is dropped"),
        ("drop", {"reason": "other"}, "note"),
        ("drop", {"reason": "boring"}, "reason"),
        ("keep", {"reason": "unclear"}, "reason"),
        ("mend", {}, "what is mended"),
        ("mend", {"fields": {}}, "none is mended"),
        ("mend", {"fields": {"boxes": [[5, 0, 5, 9]]}}, "left, top, right and bottom"),
        ("undo", {}, "undoes"),
    ],
)
def test_a_verdict_that_says_too_little_is_refused(folder: Path, verdict: str, fields: Any, said: str) -> None:
    """By the name of the field."""
    with pytest.raises(ValidationError, match=said):
        entry(load_dataset(folder), "a", verdict, **fields)


def test_a_crash_at_any_byte_loses_none_and_doubles_none(folder: Path) -> None:
    """Whatever of a line is on the disk: who was not told that it is taken says it again, and it stands there once."""
    dataset, path = load_dataset(folder), folder / "reviews/ada.jsonl"
    first, second = entry(dataset, "a"), entry(dataset, "b")
    ReviewLog(path).append(first)
    known = path.read_bytes()
    ReviewLog(path).append(second)
    whole = path.read_bytes()
    for length in range(len(known), len(whole) + 1):
        path.write_bytes(whole[:length])
        log = ReviewLog(path)
        log.append(second)
        assert [line.sample for line in log.lines()] == ["a", "b"], length
        assert path.read_bytes().count(b"\n") == 2


def test_two_processes_write_one_file(folder: Path) -> None:
    """Each line is read by the other, also where the file has another's place taken since."""
    dataset, path = load_dataset(folder), folder / "reviews/ada.jsonl"
    one, other = ReviewLog(path), ReviewLog(path)
    one.append(entry(dataset, "a"))
    other.append(entry(dataset, "b"))
    one.append(entry(dataset, "c"))
    assert [line.sample for line in other.lines()] == ["a", "b", "c"]
    assert other.append(entry(dataset, "c")) == one.lines()[-1]
    with pytest.raises(ReviewRefusedError, match="that of another entry"):
        other.append(entry(dataset, "d", id="c-keep-xxxxxxxx"))
    restored = path.with_suffix(".old")
    restored.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    restored.replace(path)
    assert [line.sample for line in one.lines()] == ["a"]


def test_a_line_that_is_none_is_named(folder: Path) -> None:
    """By file and line: somebody wrote into the file."""
    given(folder, ada=[entry(load_dataset(folder), "a")])
    path = folder / "reviews/ada.jsonl"
    path.write_text(path.read_text() + '{"sample": "b"}\n')
    with pytest.raises(DatasetInvalidError, match=r"reviews/ada.jsonl:2: is no verdict"):
        read_reviews(folder, load_dataset(folder))


def test_an_export_keeps_mends_and_drops(folder: Path) -> None:
    """In the form that each record has; what nobody looked at stays, and is counted."""
    dataset = load_dataset(folder)
    mends = {
        "a": {"options": {"A": "red", "B": "sea green"}, "boxes": [[1, 2, 30, 40.5]]},
        "d": {"answer": "4", "question": "How many are there?"},
    }
    told = [entry(dataset, name, "mend", fields=fields) for name, fields in mends.items()]
    reviews = given(folder, ada=[*told, entry(dataset, "b", "drop", reason="guessable")])
    records, counts = apply_reviews(RECORDS, reviews)
    assert counts == ReviewCounts(kept=0, mended=2, dropped=1, unreviewed=1)
    assert [record["id"] for record in records] == ["a", "c", "d"]
    mended = {"choices": ["red", "sea green"], "answer": "sea green", "boxes": [[1, 2, 30, 40.5]]}
    assert records[0] == {**RECORDS[0], **mended}
    assert (records[2]["answer"], records[2]["question"]) == (4, "How many are there?")
    assert RECORDS[0]["answer"] == "green"


def test_a_mended_letter_is_written_as_the_record_does(folder: Path) -> None:
    """As a letter, or as the option's text."""
    dataset = load_dataset(folder)
    reviews = given(folder, ada=[entry(dataset, "b", "mend", fields={"answer": "C"})])
    lettered = {"id": "b", "options": {"A": "ann", "B": "bob", "C": "cy"}, "answer": "A"}
    assert apply_reviews([RECORDS[1]], reviews)[0][0]["answer"] == "cy"
    assert apply_reviews([lettered], reviews)[0][0]["answer"] == "C"
    reviews = given(folder, ada=[entry(dataset, "b", "mend", id="mend-to-z", fields={"answer": "Z"})])
    with pytest.raises(ReviewsOpenError, match="'Z' is none of the options A, B, C"):
        apply_reviews([lettered], reviews)


def test_a_conflict_is_settled_before_an_export(folder: Path) -> None:
    """Two that differ leave it open; who settles it decides, whatever is said later."""
    dataset = load_dataset(folder)
    drop = entry(dataset, "a", "drop", reason="unclear")
    reviews = given(folder, ada=[entry(dataset, "a"), entry(dataset, "b")], bob=[drop, entry(dataset, "b")])
    assert (reviews.decision("a").state, reviews.decision("b").state) == ("conflict", "keep")
    with pytest.raises(ReviewsOpenError, match="reviewers differ on a: settle them"):
        apply_reviews(RECORDS, reviews)
    settled = given(folder, cy=[entry(dataset, "a", settles=True)], dan=[drop])
    assert settled.decision("a").state == "keep"
    assert apply_reviews(RECORDS, settled)[1] == ReviewCounts(kept=2, unreviewed=2)


def test_a_table_tells_progress_accuracy_and_agreement(folder: Path) -> None:
    """Blind answers are held against the truth; agreement is over what two have seen."""
    dataset = load_dataset(folder)
    answers = {"a": "B", "b": "B", "c": "Yes", "d": "3.0"}
    ada = [entry(dataset, name, answer=answer, seconds=number) for number, (name, answer) in enumerate(answers.items())]
    bob = [entry(dataset, "a", answer="b"), entry(dataset, "b", "drop", reason="unclear", answer="A")]
    table = review_table(dataset, given(folder, ada=ada, bob=bob))
    assert table.states == {"unreviewed": 0, "keep": 3, "mend": 0, "drop": 0, "conflict": 1}
    rows = {row.reviewer: row for row in table.reviewers}
    assert (rows["ada"].keep, rows["ada"].accuracy.value, rows["ada"].seconds) == (4, 0.75, 1.5)
    assert (rows["bob"].drop, rows["bob"].accuracy.value) == (1, 1.0)
    (pair,) = table.agreement
    assert (pair.reviewers, pair.verdicts.value, pair.answers.value) == (("ada", "bob"), 0.5, 0.5)
    assert pair.kappa.value == 0


def test_three_reviewers_have_a_kappa_of_each_two_and_of_all(folder: Path) -> None:
    """Of those samples that two of them saw."""
    dataset = load_dataset(folder)
    kept, dropped = entry(dataset, "a"), entry(dataset, "b", "drop", reason="unclear")
    table = review_table(dataset, given(folder, ada=[kept, dropped], bob=[kept, dropped], cy=[dropped]))
    assert [len(row.reviewers) for row in table.agreement] == [2, 2, 2, 3]
    assert table.agreement[-1].kappa.value == 1


def test_an_open_question_has_no_right_answer(tmp_path: Path) -> None:
    """No rule can tell, so that it does not count."""
    dataset = load_dataset(write(tmp_path / "open", [{"id": "o", "question": "Why?", "type": "open", "answer": "So"}]))
    assert answer_is_right(dataset, dataset.samples[0], "So") is None
