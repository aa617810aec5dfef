"""Forced answers without pictures are held against chance, with an interval over groups that share a picture."""

from collections.abc import Iterable

import pytest

from gigavqa.benchmarks.questions.samples import Question
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.tables import Row
from gigavqa.reports.leakage_table import group_by_images
from gigavqa.reports.report import Report, build_report
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL, response

OPTIONS = {"A": "red", "B": "blue", "C": "green", "D": "grey"}


def question(name: str, *images: str) -> Question:
    """One of four options, about some images."""
    fields = {"id": name, "kind": "choice", "question": "Which?", "options": OPTIONS, "answers": ("A",)}
    return Question.model_validate({**fields, "images": images})


def said(name: str, letter: str, condition: str = "V0F", repeat: int = 0, protocol: str = "direct") -> Response:
    """A reply under a condition."""
    text = f"Final answer: {letter}"
    identity = f"{name}:{protocol}-{condition}:{MODEL}:{repeat}"
    return response(name, text, condition, protocol=protocol, request_id=identity, repeat=repeat)


def reported(questions: Iterable[Question], replies: Iterable[Response]) -> Report:
    """The report of these replies."""
    return build_report(dataset_of(list(questions), benchmark="questions"), list(replies), load_catalogue())


def rows(report: Report) -> dict[str, Row]:
    """The table's rows by protocol."""
    table = report.table("leakage")
    return {row.keys["protocol"]: row for row in table.rows} if table else {}


def value(row: Row, at: int) -> float | None:
    """A number of a row."""
    found = row.values[at]
    return found if isinstance(found, int) else found.value  # type: ignore[union-attr]


MANY = [question(f"q{number}", f"{number}.png") for number in range(60)]


def test_accuracy_stands_beside_chance_and_the_free_answers() -> None:
    """45 of 60 are right when forced, repeats averaged; free, a third abstains and as many are right."""
    forced = [said(one.id, "B" if at % 4 == 0 else "A", repeat=k) for at, one in enumerate(MANY) for k in (0, 1)]
    free = [said(one.id, ("A", "B", "not sure")[at % 3], "V0") for at, one in enumerate(MANY)]
    row = rows(reported(MANY, [*forced, *free]))["direct"]
    assert [value(row, at) for at in (0, 1)] == [60, 60]
    assert [value(row, at) for at in range(2, 8)] == pytest.approx([0.75, 0.25, 0.5, 0.0, 1 / 3, 1 / 3])


def test_who_gives_no_answer_though_one_is_required_is_wrong_and_counted() -> None:
    """So that a model that refuses does not look as if it knew nothing."""
    replies = [said(one.id, "not sure" if at < 30 else "A") for at, one in enumerate(MANY)]
    row = rows(reported(MANY, replies))["direct"]
    assert (value(row, 2), value(row, 5)) == (0.5, 0.5)


def test_questions_that_share_a_picture_widen_the_interval() -> None:
    """The same answers, about sixty pictures and about six: what ten questions share is one chance less."""
    few = [question(f"q{number}", f"{number // 10}.png") for number in range(60)]
    replies = [said(one.id, "A" if at < 30 else "B") for at, one in enumerate(few)]
    wide, narrow = (rows(reported(each, replies))["direct"] for each in (few, MANY))
    assert (value(wide, 1), value(narrow, 1)) == (6, 60)
    far, near = wide.values[2], narrow.values[2]
    assert far.high - far.low > 1.5 * (near.high - near.low)  # type: ignore[union-attr,operator]


def test_pictures_are_shared_through_others_too() -> None:
    """A question of two pictures joins those of either."""
    samples = [question("a", "1"), question("b", "2"), question("c", "3"), question("d", "1", "2"), question("e")]
    assert group_by_images(samples).tolist() == [0, 0, 1, 0, 2]


def test_a_warning_tells_of_questions_that_give_answers_away() -> None:
    """More than 8 points above chance with an interval above it; not at chance, nor for a few lucky answers."""

    def warned(right: int, questions: list[Question]) -> list[str]:
        replies = [said(one.id, "A" if at < right else "B") for at, one in enumerate(questions)]
        return [caveat.text for caveat in reported(questions, replies).caveats if "give answers away" in caveat.text]

    (told,) = warned(45, MANY)
    assert "75.0 % are right without a picture, where chance gives 25.0 %" in told
    assert warned(15, MANY) == []
    assert warned(2, MANY[:4]) == []


def test_several_protocols_have_a_row_together() -> None:
    """Each by itself, and their mean over questions."""
    steps = [said(one.id, "A", protocol="step-by-step") for one in MANY]
    found = rows(reported(MANY, [*(said(one.id, "B") for one in MANY), *steps]))
    assert {name: value(row, 2) for name, row in found.items()} == {"direct": 0.0, "step-by-step": 1.0, "all": 0.5}


def test_there_is_no_table_where_nobody_was_forced() -> None:
    """V0 alone says who withholds answers, not who knows them."""
    assert rows(reported(MANY, [said(one.id, "A", "V0") for one in MANY])) == {}


def test_chance_of_a_coordinate_is_one_cell_of_the_grid() -> None:
    """Of options one of them."""
    assert (good_sample("ad-coordinate").chance, good_sample("rs-logic").chance) == (0.01, 0.25)
