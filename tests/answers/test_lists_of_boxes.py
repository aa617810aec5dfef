"""How many boxes decoded JSON holds: a list of four boxes is no box of four numbers."""

import json

import pytest

from gigavqa.answers.boxes import UNIT_FRAME, read_box, read_boxes

BOXES = [(0.1 * n, 0.1, 0.1 * n + 0.05, 0.3) for n in range(1, 7)]


@pytest.mark.parametrize("many", range(1, 7))
@pytest.mark.parametrize("as_objects", [False, True], ids=["lists", "objects"])
def test_a_list_of_boxes_gives_all_of_them(many: int, as_objects: bool) -> None:
    """Four among them, which is as many as a box has numbers."""
    listed = [{"bbox": box} if as_objects else list(box) for box in BOXES[:many]]
    assert read_boxes(json.dumps(listed), UNIT_FRAME).value == tuple(BOXES[:many])


@pytest.mark.parametrize("four", [["a", "b", "c", "d"], [True, False, True, True]])
def test_four_values_that_are_no_numbers_are_no_box(four: list[object]) -> None:
    """Booleans are numbers to Python, and none to a reader."""
    assert read_boxes(json.dumps(four), UNIT_FRAME).value is None


def test_of_two_boxes_the_one_that_lies_in_the_image_is_the_answer() -> None:
    """However little the other one reaches out of it."""
    text = "First [0.5, 0.5, 1.01, 0.9], or else [0.1, 0.1, 0.2, 0.2]."
    assert read_box(text, UNIT_FRAME).value == (0.1, 0.1, 0.2, 0.2)
