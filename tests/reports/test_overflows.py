"""Chats that outgrow the context by what the model wrote: wrong answers, and no failures.

Two samples: r1, RS logical verification, and v1, CCTV relational inference, under S4.
"""

from typing import Any

import pytest

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import Failure, Response, TurnResponse, Usage
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.writers.markdown import render_markdown
from tests.benchmarks.ultravr.responders import answer, everything
from tests.benchmarks.ultravr.test_process import CATALOGUE, SAMPLES
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tests.reports.tables import caveats_of, estimates_of, values_of

DATASET = dataset_of([SAMPLES["r1"], SAMPLES["v1"]])
OURS = Failure(type="EngineLostError", message="gone")
OVERFLOW = Failure(type="ChatOverflowError", message="full", by_model=True)


def report_of(*responses: Response) -> Report:
    """Report on responses alone."""
    return build_report(DATASET, responses, CATALOGUE)


def broken_off(name: str, failure: Failure, num_turns: int) -> Response:
    """A chat whose first steps were answered rightly, and then it ended."""
    whole = answer(SAMPLES[name], "S4", knows=everything)
    return whole.model_copy(update={"turns": whole.turns[:num_turns], "failure": failure})


def test_an_overflow_counts_as_wrong_and_stays_in_the_denominator() -> None:
    """r1 is right, v1 overflowed: RS 1, CCTV 0, macro 0.5 over two; its share is named."""
    report = report_of(answer(SAMPLES["r1"], "S4", knows=everything), broken_off("v1", OVERFLOW, 3))
    (cell,) = report.cells

    assert (cell.accuracy.value, cell.accuracy.count, cell.answered, cell.overflowed) == (0.5, 2, 2, 1)
    assert cell.statuses == {"marker": 1, "overflowed": 1}
    assert not any("failed" in part.reason for part in cell.excluded)
    told = "1 of 2 chats (50 %) outgrew the model's context"
    assert any(told in warning for warning in caveats_of(report))
    assert told in render_markdown(report)


def test_steps_that_were_answered_before_stay_judged() -> None:
    """Of v1's seven steps the first three are right, the others were never answered."""
    report = report_of(broken_off("v1", OVERFLOW, 3))

    assert values_of(report, "steps")["statuses"] == "missing 4, parsed 3"
    assert {name: found.value for name, found in estimates_of(report, "steps_domains", domain="cctv").items()} == {
        "GND": 1.0, "PER": 0.5, "INT": 0.0, "INF": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("failure", [OURS, Failure(type="ContextExceededError", message="never fitted")])
def test_failures_of_ours_stay_out(failure: Failure) -> None:
    """An engine that died, and a prompt that never fitted, say nothing about the model."""
    report = report_of(answer(SAMPLES["r1"], "S4", knows=everything), broken_off("v1", failure, 3))

    assert (report.cells[0].accuracy.value, report.cells[0].accuracy.count, report.cells[0].overflowed) == (1.0, 1, 0)


@pytest.mark.parametrize(
    ("tokens", "finish", "counted"),
    [
        (50, "length", {"cut_off": 0, "overflowed": 1}),
        (100, "length", {"cut_off": 1, "overflowed": 0}),
        (50, "stop", {"cut_off": 0, "overflowed": 0}),
        (0, "length", {"cut_off": 1, "overflowed": 0}),
    ],
    ids=["before its limit", "at its limit", "by itself", "nobody counted"],
)
def test_an_answer_that_ends_because_the_context_is_full_is_told_apart(
    tokens: int, finish: str, counted: dict[str, int]
) -> None:
    """Its text is judged as it is: B, as it happens, is right."""
    turn = TurnResponse(text="Final answer: B", finish_reason=finish, usage=Usage(completion_tokens=tokens))
    fields: dict[str, Any] = {"turns": (turn,), "sampling": Sampling(max_tokens=100)}

    (cell,) = report_of(response("r1", "", **fields)).cells

    assert (cell.accuracy.value, {name: getattr(cell, name) for name in counted}) == (1.0, counted)


def test_responses_that_were_stored_before_stay_readable() -> None:
    """A failure without a word on whose it is, is no overflow."""
    stored = broken_off("v1", OURS, 3).model_dump(mode="json")
    del stored["failure"]["by_model"]

    assert Response.model_validate(stored).failure == OURS
