"""The results of the authors' program are scored as they are, and say what our own chats say."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.evaluation.errors import ResponsesInvalidError
from gigavqa.reports.report import Report
from gigavqa.reports.score import score_files
from tests.benchmarks.vistahop.examples import call, chat, reported, sample
from tests.benchmarks.vistahop.files import QUESTION, RUNNERS
from tests.reports.tables import value_of, values_of

SYSTEM = '# Tools\n<tools>\n{"name": "image_zoom_in_tool"}\n{"name": "text_search_tool"}\n</tools>'
SEARCHED = (
    '<thinking>Look.</thinking><tool_call>\n{"name": "text_search_tool", "arguments": {"query": "q"}}\n</tool_call>'
)
FLOWN = '<tool_call>{"name": "fly", "arguments": {}}</tool_call>'
RESULT = "<tool_response>\nFinal summary generated for query: q\nIt was 1911.\n</tool_response>"
UNKNOWN = "<tool_response>\nError: Unknown tool 'fly'.\n</tool_response>"


def joined(*messages: str) -> str:
    """Turns of model and user, joined by chat marks, the first of the model."""
    roles = ("assistant", "user")
    marked = (f"<|im_start|>{roles[at % 2]}\n{text}<|im_end|>\n" for at, text in enumerate(messages))
    return "".join(marked).removeprefix("<|im_start|>assistant\n")


def line(number: int, *messages: str, ended: str = "no_tool_calls", **changes: Any) -> dict[str, Any]:
    """What the program writes of a sample."""
    rounds = (len(messages) + 1) // 2
    return {
        "sample_id": f"harbours-{number}",
        "dataset": "harbours",
        "input": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}],
        "output": joined(*messages),
        "gts": ["1911"],
        "finish_reason": ended,
        "num_round": rounds,
        "llm_score": 1.0,
        **changes,
    }


LINES = [
    line(0, SEARCHED, RESULT, "<thinking>So.</thinking><answer>1911</answer>"),
    line(1, FLOWN, UNKNOWN, "<answer>1912</answer>", llm_score=0.0),
    line(2, SEARCHED, RESULT, SEARCHED, RESULT, SEARCHED, RESULT, ended="max_turns", llm_score=0.0),
    line(3, "", ended="error", llm_score=0.0),
    line(4, "<tool_call>{broken</tool_call> 1911", llm_score=0.5),
]


def scored(tmp_path: Path, *runs: list[dict[str, Any]]) -> Report:
    """The report of runs over records of the program's own shape."""
    records = tmp_path / "harbours.jsonl"
    records.write_text("".join(json.dumps(RUNNERS) + "\n" for _ in range(5)))
    files = [tmp_path / f"run{at}" / "results.jsonl" for at in range(len(runs))]
    for file, lines in zip(files, runs, strict=True):
        file.parent.mkdir()
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return score_files(records, *files)


def test_rounds_calls_stops_and_verdicts_are_taken_over(tmp_path: Path) -> None:
    """The limit is that which chats ran into; an error is a failure, which the program counts as wrong in silence."""
    report = scored(tmp_path, LINES)
    numbers = {
        name: value_of(report, "table4", name, protocol="search_crop").value for name in ("p1", "calls", "rounds")
    }
    assert numbers == {"p1": 0.25, "calls": 1.0, "rounds": 2.0}
    assert value_of(report, "table4", "utilization", protocol="search_crop").value == pytest.approx(1 / 3)
    found = values_of(report, "process", protocol="search_crop", rounds="3")
    assert (found["failed"], found["chats"], found["whole"]) == (1, 4, 1)
    assert value_of(report, "process", "rounds", protocol="search_crop").value == 0.25
    by_judge = values_of(report, "by_judge", judge="llm_score")
    assert (by_judge["judged"], by_judge["unreadable"]) == (3, 1)
    assert values_of(report, "calls", status="unknown_tool")["calls"] == 1


def test_a_sample_counts_once_a_run_and_runs_are_repeats(tmp_path: Path) -> None:
    """A second line of one file is a copy of the first, as after an interruption."""
    right, wrong = LINES[0], line(0, "<answer>1912</answer>")
    report = scored(tmp_path, [right, right], [wrong], [wrong], [right])
    assert values_of(report, "table4", protocol="search_crop")["chats"] == 4
    assert value_of(report, "table4", "p1", protocol="search_crop").value == 0.5


def test_the_same_chats_of_our_own_give_the_same_numbers(tmp_path: Path) -> None:
    """Pass@1, calls and rounds of a file are those of the responses that a worker records."""
    report = scored(tmp_path, LINES[:3])
    samples = [sample(f"harbours-{at}", None, answers=("1911", "in 1911")) for at in range(5)]
    found = call("ok", "text_search_tool")
    own = reported(
        samples,
        [
            chat(samples[0], "1911", [found], limit=3),
            chat(samples[1], "1912", [call("unknown_tool", "fly")], limit=3),
            chat(samples[2], None, [found, found, call("not_run")], limit=3),
        ],
    )
    for column in ("p1", "calls", "rounds", "utilization"):
        ours, theirs = (value_of(one, "table4", column, protocol="search_crop") for one in (own, report))
        assert ours == theirs


def test_without_tools_a_line_is_no_loop(tmp_path: Path) -> None:
    """It is told by what the input declares."""
    report = scored(tmp_path, [line(0, "<answer>1911</answer>", input=QUESTION)])
    assert value_of(report, "table4", "p1", protocol="direct").value == 1
    assert report.table("process") is not None


@pytest.mark.parametrize(
    ("tools", "protocol"),
    [("text_search_tool", "search"), ("text_search_tool, image_zoom_in_tool", "search_crop"), ("none", "direct")],
)
def test_tools_that_were_declared_and_never_called_name_the_setting(tmp_path: Path, tools: str, protocol: str) -> None:
    """A model may answer at once."""
    report = scored(tmp_path, [line(0, "<answer>1911</answer>", input=[{"role": "system", "content": tools}])])
    assert value_of(report, "table4", "p1", protocol=protocol).value == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"finish_reason": "tired"}, "finish_reason: 'tired' is none of no_tool_calls, max_turns, error"),
        ({"num_round": "two"}, "num_round: must be a whole number, not 'two'"),
        ({"output": 7}, "output: must be a text, or a list of messages"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    """By file, line and field."""
    with pytest.raises(ResponsesInvalidError, match=f"results.jsonl:2: {told}"):
        scored(tmp_path, [LINES[0], {**LINES[1], **change}])


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """By its field; one that is missing is none."""
    with pytest.raises(ResponsesInvalidError, match="llm_score: must be a number, or true or false, not 'yes'"):
        scored(tmp_path, [line(0, "<answer>1911</answer>", llm_score="yes")])
