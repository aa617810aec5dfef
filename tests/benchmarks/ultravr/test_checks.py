"""The paper's checklists: a good record passes, and every rule catches the record that breaks it."""

from collections.abc import Callable
from typing import Any

import pytest

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.benchmarks.ultravr.operations import AD_LAST_STEPS
from gigavqa.benchmarks.ultravr.wording import grid_wording
from tests.benchmarks.ultravr.good_records import GOOD, good_record, sample_from, step_of

Change = Callable[[dict[str, Any]], object]


def truth(step_id: str, value: Any) -> Change:
    """Change the ground truth of one step."""
    return lambda record: step_of(record, step_id).update(ground_truth=value)


def key(name: str, value: Any) -> Change:
    """Change one key of the record."""
    return lambda record: record.update({name: value})


def option(letter: str, text: str) -> Change:
    """Change the text of one option."""
    return lambda record: record["options"].update({letter: text})


def asked(step_id: str, text: str) -> Change:
    """Change the question of one step."""
    return lambda record: step_of(record, step_id).update(question=text)


def both(*changes: Change) -> Change:
    """Make several changes."""
    return lambda record: [change(record) for change in changes]


BROKEN: list[tuple[str, str, Change, str]] = [
    ("cctv-comparison", "a step in other words", asked("S7", "Sum?"), 'step S7 asks "Sum?", but must ask "What is the'),
    ("cctv-comparison", "a step on others", asked("S3", "How many dogs are there?"), '"How many standing adults are'),
    ("cctv-comparison", "a question on others", key("question", "Comparing cats and dogs?"), "question must read"),
    (
        "rs-logic",
        "another orientation",
        asked("S2", "How many vertical ships are in the upper-left quadrant?"),
        'must ask "How many horizontal [many] are in the upper-left quadrant?"',
    ),
    ("wsi-comparison", "a step in other words", asked("Q2", "Zoom in?"), 'must ask "Is closer ROI review needed?'),
    ("cctv-comparison", "another subcategory", key("subcategory", "free"), "subcategory must be"),
    ("cctv-comparison", "three options", lambda r: r["options"].pop("D"), "exactly four options"),
    ("cctv-comparison", "twice the same option", option("A", GOOD["cctv-comparison"]["options"]["B"]), "same text"),
    ("cctv-comparison", "an empty answer", key("answer", ""), "the answer is empty"),
    ("cctv-comparison", "a schema label", key("question", "Is it group_a_more?"), "schema label 'group_a_more'"),
    (
        "cctv-comparison",
        "a repeated question",
        key("question", "Which claim family is supported by the results from Steps 7 to 10?"),
        "repeats",
    ),
    ("cctv-comparison", "a missing step", lambda r: r["reasoning_supervision"]["steps"].pop(), "steps must be S1"),
    ("cctv-comparison", "a wrong format", lambda r: step_of(r, "S1").update(answer_format="integer"), "format boolean"),
    ("cctv-comparison", "a boolean that is none", truth("S1", "yes"), "step S1 must be true or false"),
    ("cctv-comparison", "a negative count", truth("S3", -1), "step S3 must be a count"),
    ("cctv-comparison", "a choice that is no text", truth("S9", 2), "step S9 must be a text"),
    ("cctv-comparison", "boxes in pixels", truth("S2", [[1, 2, 30, 40]]), "within 0 to 1"),
    ("cctv-comparison", "a box without an area", truth("S2", [[0.2, 0.2, 0.2, 0.3]]), "within 0 to 1"),
    ("cctv-comparison", "a box twice", truth("S2", [[0.1, 0.1, 0.2, 0.2]] * 2), "lists a box twice"),
    ("cctv-comparison", "existence against boxes", truth("S1", False), "S1 is False, but S2 lists 2"),
    ("cctv-comparison", "a count against boxes", truth("S3", 3), "S3 is 3, but S2 lists 2"),
    ("cctv-comparison", "a box in both groups", truth("S5", [[0.1, 0.1, 0.12, 0.12]]), "share the box"),
    ("cctv-comparison", "a wrong total", truth("S7", 4), "S7 is 4, but must be 3"),
    ("cctv-comparison", "a wrong difference", truth("S8", 2), "S8 is 2, but must be 1"),
    ("cctv-comparison", "a wrong ratio", truth("S9", "4:2"), "S9 is '4:2', but must be '2:1'"),
    ("cctv-comparison", "a wrong ordering", truth("S10", "same_count"), "S10 is 'same_count'"),
    ("cctv-comparison", "an unknown claim family", truth("S11", "guess"), "S11 is 'guess'"),
    ("cctv-comparison", "a family that is not true", truth("S11", "ratio_claim"), "S11 is 'ratio_claim'"),
    (
        "cctv-comparison",
        "two true claims",
        option("A", "The absolute difference of the counts is 1."),
        "but 2 are: A, B",
    ),
    (
        "cctv-comparison",
        "a claim family twice",
        option("C", "The total count of both is 9."),
        "one difference, one total",
    ),
    ("cctv-comparison", "a wrong letter", key("answer", "C"), "the answer is C, but must be B"),
    ("cctv-logic", "a box in another quadrant", truth("S3", [[0.1, 0.6, 0.2, 0.7]]), "not the upper-right quadrant"),
    ("cctv-logic", "a count against boxes", truth("S2", 1), "S2 is 1, but S1 lists 2"),
    ("cctv-logic", "a wrong sum", truth("S9", 4), "S9 is 4, but must be 3"),
    ("cctv-logic", "a wrong extreme", truth("S10", "tie"), "S10 is 'tie', but must be 'upper-left'"),
    (
        "cctv-logic",
        "a tie unseen",
        both(
            truth("S1", []),
            truth("S2", 0),
            truth("S9", 1),
            truth("S3", [[0.6, 0.1, 0.7, 0.2]]),
            key("question", "Claim A: there are exactly 3. Claim B: the upper-right region contains the fewest."),
        ),
        "must be 'tie'",
    ),
    ("cctv-logic", "claim A misjudged", truth("S11", False), "S11 is False, but must be True"),
    ("cctv-logic", "claim B misjudged", truth("S12", True), "S12 is True, but must be False"),
    ("cctv-logic", "a wrong pattern", truth("S13", "count_match_and_region_match"), "S13 is"),
    ("cctv-logic", "claims not quoted", key("question", "What holds?"), "must quote Claim A"),
    ("cctv-logic", "other options", option("A", "Both are true."), "the four fixed texts"),
    ("cctv-logic", "a wrong letter", key("answer", "A"), "the answer is A, but must be B"),
    ("cctv-relation", "an unknown direction", truth("S3", "north"), "S3 is 'north'"),
    ("cctv-relation", "a wrong combination", truth("S7", "front-left"), "S7 is 'front-left', but must be 'back-left'"),
    ("cctv-relation", "the same person twice", truth("S2", [0.1, 0.1, 0.12, 0.12]), "the same box"),
    (
        "cctv-relation",
        "a direction told",
        key("question", "Person A, facing left. Person B. Where?"),
        "facing direction",
    ),
    ("cctv-relation", "persons undefined", key("question", "Where is the adult?"), "define Person A and Person B"),
    ("cctv-relation", "coloured boxes", asked("S1", "Where is the red bounding box?"), "red or green"),
    ("cctv-relation", "other options", option("A", "above"), "the options must be front-left"),
    ("cctv-relation", "a wrong letter", key("answer", "A"), "the answer is A, but must be C"),
    ("rs-comparison", "a landmark outside", truth("S1", [0.4, 0.1, 0.6, 0.2]), "S1, the landmark"),
    ("rs-comparison", "an object in another region", truth("S7", [[0.6, 0.6, 0.7, 0.7]]), "not the upper-right"),
    ("rs-comparison", "a wrong difference", truth("S9", 2), "S9 is 2, but must be 1"),
    ("rs-comparison", "existence against boxes", truth("S6", False), "S6 is False"),
    ("rs-comparison", "options that are no numbers", option("A", "none"), "non-negative integers"),
    ("rs-comparison", "the number in no option", option("B", "7"), "exactly one option must be S9 = 1"),
    ("rs-comparison", "a wrong letter", key("answer", "C"), "the answer is C, but must be B"),
    (
        "rs-comparison",
        "one region twice",
        both(*(asked(f"S{n}", "In the upper-left quadrant?") for n in range(5, 9))),
        "about another",
    ),
    (
        "rs-comparison",
        "regions in another order",
        key("question", "Ships in the upper-right and the upper-left?"),
        "and then",
    ),
    ("rs-logic", "a wrong conjunction", truth("S5", True), "S5 is True, but must be False"),
    ("rs-logic", "a count against boxes", truth("S4", 1), "S4 is 1"),
    ("rs-logic", "a wrong letter", key("answer", "A"), "the answer is A, but must be B"),
    ("rs-logic", "an option off its pattern", option("D", "None at all."), "option D does not follow"),
    ("rs-logic", "no orientation", key("question", "Ships in the upper-left and lower-right?"), "name the orientation"),
    ("rs-relation", "a box where nothing is", truth("S1", False), "S2 must be null exactly when S1 is false"),
    ("rs-relation", "no box where something is", truth("S4", None), "S4 must be null exactly when S3 is false"),
    ("rs-relation", "a verdict where nothing is", both(truth("S1", False), truth("S2", None)), "S5 must be null"),
    ("rs-relation", "both regions empty", both(truth("S1", False), truth("S3", False)), "both false"),
    ("rs-relation", "a wrong relation", truth("S5", True), "S5 is True, but must be False"),
    ("rs-relation", "a draw", truth("S4", [0.6, 0.2, 0.62, 0.22]), "same center"),
    (
        "rs-relation",
        "diagonal regions",
        lambda r: [
            step.update(question=step["question"].replace("upper-right", "lower-right"))
            for step in r["reasoning_supervision"]["steps"]
        ],
        "not adjacent",
    ),
    (
        "rs-relation",
        "options of the other axis",
        option("A", "The upper-left ship is west of the upper-right ship"),
        "option A",
    ),
    (
        "rs-relation",
        "no extreme object",
        key("question", "The ship in the upper-left, the ship in the upper-right?"),
        "extreme",
    ),
    ("rs-relation", "a wrong letter", key("answer", "A"), "the answer is A, but must be B"),
    (
        "wsi-comparison",
        "an answer behind a closed gate",
        truth("Q5.1", ["DCIS grading criteria"]),
        "Q5.1 must be blank",
    ),
    ("wsi-comparison", "a blank behind an open gate", truth("Q3", None), "Q3 must be answered"),
    ("wsi-comparison", "a region beyond the grid", truth("Q2.1", [37]), "integers from 1 to 36"),
    ("wsi-comparison", "a region twice", truth("Q2.1", [8, 8]), "lists a region twice"),
    ("wsi-comparison", "a region without evidence", truth("Q2.1", [8, 10]), "that the evidence"),
    ("wsi-comparison", "an unknown magnification", truth("Q3", "5x"), "none of its options"),
    ("wsi-comparison", "an unknown feature", truth("Q4", ["Beauty"]), "names 'Beauty'"),
    (
        "wsi-comparison",
        "six features",
        truth("Q4", ["Nuclear atypia", "Mitoses", "Necrosis", "Apoptosis", "Keratinization", "Loss of polarity"]),
        "at most 5",
    ),
    ("wsi-comparison", "a text of other choices", truth("Q1", "Tumor-rich area"), "must be a list"),
    ("wsi-comparison", "no conclusion", truth("Q6.3", ""), "Q6.3 must be answered"),
    ("ad-coordinate", "a gap in the steps", lambda r: r["reasoning_supervision"]["steps"].pop(2), "without a gap"),
    (
        "ad-coordinate",
        "too few steps",
        lambda r: r["reasoning_supervision"]["steps"].pop(),
        "pushpins has 7 steps, not 6",
    ),
    ("ad-coordinate", "another cell", key("answer", "(3, 8)"), "the anomaly is at (3, 7)"),
    ("ad-coordinate", "no annotated cell", key("evidence", {}), "evidence.cell must say"),
    ("ad-coordinate", "another last step", truth("S7", "(1, 1)"), "the last step says (1, 1)"),
    ("ad-choice", "the letter of another cell", key("answer", "A"), "the anomaly is at (3, 7)"),
    ("ad-choice", "an option that is no cell", option("B", "the middle"), "option B must be a coordinate"),
]


@pytest.mark.parametrize("name", GOOD)
def test_a_good_record_breaks_no_rule(name: str) -> None:
    """The records that every other test of checks starts from are good."""
    assert check_sample(sample_from(good_record(name))) == []


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [pytest.param(name, change, told, id=f"{name}: {what}") for name, what, change, told in BROKEN],
)
def test_a_record_that_breaks_one_rule_is_told_so(name: str, change: Change, told: str) -> None:
    """One change breaks one rule, and a sentence says which."""
    record = good_record(name)
    change(record)

    problems = check_sample(sample_from(record))

    assert any(told in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("missing", "letter"),
    [(("S1", "S2"), "C"), (("S3", "S4"), "D")],
    ids=["in the first region", "in the second region"],
)
def test_nulls_of_a_missing_object_are_legal(missing: tuple[str, str], letter: str) -> None:
    """RS relational inference writes null for a box, and for the comparison, where a region lacks the object."""
    record = good_record("rs-relation")
    both(truth(missing[0], False), truth(missing[1], None), truth("S5", None), key("answer", letter))(record)

    assert check_sample(sample_from(record)) == []


@pytest.mark.parametrize(
    ("name", "question"),
    [
        (
            "cctv-relation",
            "Consider Person A: the adult in a pink coat. Consider Person B: the child with a kite. Relative to Person "
            "B, which option best describes where Person A is?",
        ),
        (
            "rs-comparison",
            "What is the absolute difference between the counts of ships in the upper-left quadrant satisfying near "
            "the red pier and ships in the upper-right quadrant satisfying near the round tank?",
        ),
    ],
)
def test_every_form_of_a_question_that_the_paper_has_is_right(name: str, question: str) -> None:
    """A category with two forms of its question takes both."""
    record = good_record(name)
    record["question"] = question
    assert check_sample(sample_from(record)) == []


def test_each_product_has_as_many_conditions_as_table_c5_has_steps() -> None:
    """S1 to S3 ground the grid, the last step names the cell, and each step between them is a condition."""
    products = grid_wording().products
    assert {name: len(product.conditions) + 4 for name, product in products.items()} == AD_LAST_STEPS
