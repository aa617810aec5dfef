"""What is recorded as answered and is no answer: broken off, filtered, empty, or ended by a server's own limit.

Two samples: r1, RS logical verification, and v1, CCTV relational inference; their answers are B.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, Response, TurnResponse, Usage
from gigavqa.evaluation.errors import ResponsesInvalidError
from gigavqa.evaluation.outcomes import SampleOutcome, sample_outcomes
from gigavqa.evaluation.response_files import read_replies
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.score import outcomes_of_files
from tests.benchmarks.ultravr.responders import answer, everything
from tests.benchmarks.ultravr.test_process import CATALOGUE, SAMPLES
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL, response
from tests.reports.tables import caveats_of, values_of

DATASET = dataset_of([SAMPLES["r1"], SAMPLES["v1"]])
REMOTE = EngineInfo(name="remote", version="x", device="remote")
RIGHT = "Final answer: B"


def ended(name: str, reason: str, text: str = RIGHT, tokens: int = 5, **changes: Any) -> Response:
    """A response whose one answer ended for a reason."""
    turn = TurnResponse(text=text, finish_reason=reason, usage=Usage(prompt_tokens=90, completion_tokens=tokens))
    return response(name, "", turns=(turn,), **changes)


def chat_with(name: str, number: int, **changes: Any) -> Response:
    """A chat under S4 in which all is right, but for what one turn is changed to."""
    whole = answer(SAMPLES[name], "S4", knows=everything)
    turns = list(whole.turns)
    turns[number] = turns[number].model_copy(update=changes)
    return whole.model_copy(update={"turns": tuple(turns), "engine": response("r1", "").engine})


def report_of(*responses: Response) -> Report:
    """Report on responses alone."""
    return build_report(DATASET, responses, CATALOGUE)


def outcome_of(given: Response) -> SampleOutcome:
    """What became of one response."""
    (found,) = sample_outcomes(DATASET, [given], CATALOGUE)
    return found


def told(report: Report, words: str) -> str:
    """The one caveat that says so."""
    (found,) = [caveat for caveat in caveats_of(report) if words in caveat]
    return found


@pytest.mark.parametrize("reason", ["error", "abort", "unknown", "tool_calls", "SAFETY", "repetition"])
def test_what_an_engine_broke_off_is_a_failure_whatever_its_text(reason: str) -> None:
    """It is left out of the accuracy of the one answer that there is."""
    report = report_of(ended("r1", "stop"), ended("v1", reason))
    (cell,) = report.cells
    assert (cell.accuracy.value, cell.accuracy.count, cell.answered) == (1.0, 1, 1)
    assert ("failed: GenerationFailedError", 1) in {(part.reason, part.count) for part in cell.excluded}
    assert outcome_of(ended("v1", reason)).failure == "GenerationFailedError"


@pytest.mark.parametrize("number", [0, 3, -1], ids=["a step", "a later step", "the answer"])
def test_a_chat_with_an_answer_that_was_broken_off_is_a_failure(number: int) -> None:
    """Wherever in it that happened, for what came behind was asked with it in the history."""
    found = outcome_of(chat_with("v1", number, finish_reason="error"))
    assert (found.failure, found.outcome, found.text, found.parts) == ("GenerationFailedError", "failed", None, ())


def test_a_reason_that_nobody_recorded_says_nothing_against_an_answer() -> None:
    """Files of other programs have none."""
    assert outcome_of(ended("r1", "")).outcome == "right"


def test_what_a_server_filtered_counts_as_wrong_and_is_named() -> None:
    """The letter in what it let pass is not read."""
    report = report_of(ended("r1", "stop"), ended("v1", "content_filter"))
    (cell,) = report.cells
    assert (cell.accuracy.value, cell.accuracy.count, cell.answered, cell.filtered) == (0.5, 2, 2, 1)
    assert cell.statuses == {"filtered": 1, "marker": 1}
    assert cell.unreadable.value == 0
    assert "1 of 2 replies was filtered or refused by the server" in told(report, "filtered")
    found = outcome_of(ended("v1", "content_filter"))
    assert (found.outcome, found.status, found.score, found.filtered, found.text) == (
        "filtered", "filtered", 0.0, True, None,
    )  # fmt: skip


def test_a_step_that_was_filtered_is_missing_and_the_rest_is_judged() -> None:
    """Of v1's seven steps one."""
    report = report_of(chat_with("v1", 2, finish_reason="content_filter"))
    (cell,) = report.cells
    assert (cell.accuracy.value, cell.filtered) == (1.0, 1)
    assert values_of(report, "steps")["statuses"] == "missing 1, parsed 6"


def test_empty_replies_are_scored_as_they_are_and_counted() -> None:
    """One of two, in whole, and a step of another; a text of no tokens, and no text of many, are not such."""
    report = report_of(ended("r1", "stop"), ended("v1", "stop", "", 0), chat_with("r1", 1, text="", usage=Usage()))
    assert [cell.empty for cell in report.cells] == [1, 1]
    assert report.cells[0].accuracy.value == 0.5
    assert "2 of 3 replies are empty" in told(report, "replies are empty")
    assert "`gigavqa retry JOB --empty` asks them again" in told(report, "replies are empty")
    assert not report_of(ended("r1", "stop", "A", 0), ended("v1", "stop", "", 7)).cells[0].empty


def test_an_image_about_which_nothing_was_said_is_named_first() -> None:
    """Its questions without the picture were answered; of the other image one reply has text."""
    r1, v1 = (SAMPLES[name].images[0] for name in ("r1", "v1"))
    assert r1 != v1
    report = report_of(
        ended("r1", "stop", condition="V0"),
        *(ended("r1", "stop", "", 0, condition=condition) for condition in ("V1", "V2")),
        ended("v1", "stop", "", 0, condition="V1"),
        ended("v1", "stop"),
    )
    caveat = told(report, "every reply about")
    assert f"every reply about the image {r1} is empty" in caveat
    assert caveats_of(report).index(caveat) < caveats_of(report).index(told(report, "3 of 5 replies are empty"))


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (Usage(prompt_tokens=90, completion_tokens=50), {"cut_off": 1, "capped": 1, "overflowed": 0}),
        (Usage(prompt_tokens=90, completion_tokens=100), {"cut_off": 1, "capped": 0, "overflowed": 0}),
        (
            Usage(prompt_tokens=90, completion_tokens=40, reasoning_tokens=60),
            {"cut_off": 1, "capped": 0, "overflowed": 0},
        ),
        (
            Usage(prompt_tokens=CATALOGUE[MODEL].max_model_len - 50, completion_tokens=50),
            {"cut_off": 0, "capped": 0, "overflowed": 1},
        ),
        (
            Usage(prompt_tokens=CATALOGUE[MODEL].max_model_len - 51, completion_tokens=1, reasoning_tokens=50),
            {"cut_off": 0, "capped": 0, "overflowed": 1},
        ),
        (Usage(), {"cut_off": 1, "capped": 0, "overflowed": 0}),
    ],
    ids=["server's limit", "job's limit", "with thoughts", "context", "context with thoughts", "nobody counted"],
)
def test_a_server_s_own_limit_is_no_overflow(usage: Usage, counted: dict[str, int]) -> None:
    """Only prompt and answer that fill the context are; the text is judged as it is."""
    turn = TurnResponse(text=RIGHT, finish_reason="length", usage=usage)
    given = response("r1", "", turns=(turn,), sampling=Sampling(max_tokens=100), engine=REMOTE)
    report = report_of(given)
    (cell,) = report.cells
    assert (cell.accuracy.value, {name: getattr(cell, name) for name in counted}) == (1.0, counted)
    found = outcome_of(given)
    assert (found.cut_off, found.overflowed) == (bool(counted["cut_off"]), bool(counted["overflowed"]))
    assert any("the server's own limit" in caveat for caveat in caveats_of(report)) is bool(counted["capped"])


def test_of_two_copies_the_one_with_text_counts(tmp_path: Path) -> None:
    """Parts keep an empty reply that a retry took back, and its successor came later."""
    empty = ended("r1", "stop", "", 0)
    later = ended("r1", "stop", created_at="2026-11-22T00:00:00Z")
    for copies in ([empty, later], [later, empty]):
        (cell,) = report_of(*copies).cells
        assert (cell.accuracy.value, cell.empty, cell.duplicates) == (1.0, 0, 1)
        lines = tmp_path / "lines.jsonl"
        lines.write_text("".join(one.model_dump_json() + "\n" for one in copies))
        assert [one.text for one in outcomes_of_files(DATASET, lines, catalogue=CATALOGUE)] == [RIGHT]


def test_a_line_of_ones_own_that_ended_for_an_unknown_reason_is_refused(tmp_path: Path) -> None:
    """Nobody could say whether the text is an answer."""
    lines = tmp_path / "own.jsonl"
    lines.write_text(json.dumps({"sample_id": "r1", "text": "B", "finish_reason": "eos"}))
    with pytest.raises(ResponsesInvalidError, match="finish_reason: 'eos' is none of content_filter, length, stop"):
        list(read_replies([lines], "S0"))
