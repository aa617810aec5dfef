"""Rotations of options: what is shown under which letter, back again, and the right letter of every protocol."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.mmcr.benchmark import MMCR
from gigavqa.benchmarks.mmcr.judging import MMCRJudge
from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.benchmark import cross_plan
from gigavqa.evaluation.replies import reply_of
from tests.benchmarks.mmcr.examples import COLOURS, LETTERS, question, reply, right

FRAME = BoxFrame("unit", None)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(0, 4), st.integers(0, 4))
def test_the_right_letter_moves_from_a_to_a_less_k(num_options: int, answer: int, rotation: int) -> None:
    """Under the j-th letter stands option j + k; every letter leads back to its option."""
    answer, rotation = answer % num_options, rotation % num_options
    options = dict(list(COLOURS.items())[:num_options])
    sample = question("q", options=options, answer=LETTERS[answer])
    shown = sample.shown(rotation)
    assert list(shown) == list(options)
    assert sorted(shown.values()) == sorted(options.values())
    assert right(sample, rotation) == LETTERS[(answer - rotation) % num_options]
    assert all(options[sample.original(letter, rotation) or ""] == text for letter, text in shown.items())


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(0, 4), st.integers(0, 4))
def test_a_closing_turn_means_what_its_rotation_shows(num_options: int, answer: int, rotation: int) -> None:
    """It is held to the letters that are shown; each is the option that the judge of free answers finds by it."""
    answer, rotation = answer % num_options, rotation % num_options
    options = dict(list(COLOURS.items())[:num_options])
    sample = question("q", options=options, answer=LETTERS[answer])
    form = MMCR().closed_form(sample, f"N{rotation}")
    assert form is not None
    for letter in options:
        free = MMCRJudge(sample)(reply_of(reply(sample, f"N{rotation}", letter)), FRAME)
        closed = form.value_of(letter)
        assert (closed, form.is_right(closed or "")) == (free.value, free.score == 1)


def test_the_judge_knows_what_each_protocol_showed() -> None:
    """The same letter is right under one rotation and wrong under another; the value is the option that was meant."""
    sample = question("q", answer="B")
    judge = MMCRJudge(sample)
    found = [judge(reply_of(reply(sample, f"N{k}", "A")), FRAME) for k in range(5)]
    assert [one.score for one in found] == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert [one.value for one in found] == list("ABCDE")
    assert [one.details.shown for one in found] == ["A"] * 5


def test_an_order_of_the_sources_own_wins() -> None:
    """A table that rotates by other places is asked and judged as it does."""
    sample = question("q", answer="A", rotations=("", "EABCD"))
    assert sample.shown(1)["A"] == COLOURS["E"]
    assert right(sample, 1) == "B"
    assert sample.order(2) == "CDEAB"


def test_there_are_as_many_rotations_as_options() -> None:
    """Of a question with three options, rotations 3 and 4 are neither asked nor expected."""
    sample = question("q", options={"A": "x", "B": "y", "C": "z"})
    asked = [cell.protocol for cell in MMCR.plans["mmcr-cot"] if MMCR().applies(sample, cell)]
    assert asked == ["N0", "N1", "N2", "C0", "C1", "C2"]


def test_plans_are_those_of_the_document() -> None:
    """1,380, 2,760, 552, 2,760 and 4,140 requests a model on 276 questions of five options."""
    assert {name: 276 * len(cells) for name, cells in MMCR.plans.items()} == {
        "mmcr": 1380, "mmcr-cot": 2760, "mmcr-plain": 552, "leakage": 2760, "sources": 4140,
    }  # fmt: skip
    assert MMCR.plans["mmcr-plain"] == cross_plan("N0 C0", "V2")
    assert Cell(protocol="I4", condition="V2").protocol in MMCR.protocols


def test_a_filtered_reply_is_matched_with_nothing() -> None:
    """Though the letter stands in what the server let pass; an empty one is read as it is."""
    sample = question("q", answer="A")
    given = reply(sample, "N0", "A")
    filtered = given.model_copy(
        update={"turns": (given.turns[0].model_copy(update={"finish_reason": "content_filter"}),)}
    )
    found = MMCRJudge(sample)(reply_of(filtered), FRAME)
    assert (found.outcome, found.status, found.score, found.details) == ("filtered", "filtered", 0.0, ("", "", ""))
    assert MMCRJudge(sample)(reply_of(reply(sample, "N0", "")), FRAME).outcome == "unreadable"


def test_a_protocol_is_described_with_its_rotation() -> None:
    """By how much the options are shifted; nothing of the one that shifts none."""
    described = MMCR.protocols
    assert described["C2"] == f"{described['C0']}, options shifted by 2"
    assert "shifted" not in described["C0"]
