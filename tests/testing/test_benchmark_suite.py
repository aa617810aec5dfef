"""Every benchmark here passes the checks that its authors would be given, and the checks find what is wrong."""

import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gigavqa.benchmarks.questions.benchmark import CustomQuestions
from gigavqa.evaluation.closing_turns import choice_form
from gigavqa.evaluation.verdicts import ReplyJudge, Verdict
from gigavqa.testing import BenchmarkSuite
from tests.evaluation.test_anybodys_answers import RECORDS

SAMPLES: Mapping[str, dict[str, Any]] = {
    **{name: record | {"image": "images/a.png"} for name, record in RECORDS.items() if "image" in record},
    "vistahop": {**RECORDS["vistahop"], "images": ["images/a.png"]},
    "mmcr": {**RECORDS["mmcr"], "pages": ["images/a.png", "images/b.png"], "evidence": {"pages": [1]}},
}
CHECKS = [name for name in dir(BenchmarkSuite) if name.startswith("test_")]


def checks_of(folder: Path, benchmark: str, **changes: Any) -> BenchmarkSuite:
    """The checks over a data set of one sample of a benchmark."""
    (folder / "mine" / "images").mkdir(parents=True)
    for name in ("a", "b", "001"):
        Image.new("L", (1200, 800), 90).save(folder / "mine" / "images" / f"{name}.png")
    (folder / "mine" / "samples").mkdir()
    (folder / "mine" / "dataset.toml").write_text(f'name = "mine"\nbenchmark = "{benchmark}"\n')
    (folder / "mine" / "samples" / "a.json").write_text(json.dumps([SAMPLES[benchmark] | changes]))
    return type("Checks", (BenchmarkSuite,), {"folder": folder / "mine"})()


@pytest.mark.parametrize("benchmark", SAMPLES)
@pytest.mark.parametrize("check", CHECKS)
def test_every_benchmark_here_passes(tmp_path: Path, benchmark: str, check: str) -> None:
    """Of whatever kind its replies are."""
    getattr(checks_of(tmp_path, benchmark), check)()


def wrong(checks: BenchmarkSuite, check: str) -> str:
    """What a check says is wrong."""
    with pytest.raises(AssertionError) as caught:
        getattr(checks, check)()
    return str(caught.value)


def test_a_truth_that_nothing_can_be_is_found(tmp_path: Path) -> None:
    """With the file and the sample."""
    told = wrong(checks_of(tmp_path, "questions", image="images/none.png"), "test_every_record_can_be_asked")
    assert "samples/a.json:1" in told and "none.png" in told


@pytest.mark.parametrize(
    ("check", "broken", "told"),
    [
        ("test_a_truth_is_right", ("judge", lambda self, sample: _always("wrong", 0.0)), "q: none of"),
        ("test_an_abstention_is_never_right", ("judge", lambda self, sample: _always("B", 1.0)), "is right, by made"),
        ("test_what_is_written_reads_the_same", ("record", lambda *_: {**SAMPLES["questions"], "answer": "A"}),
         "q: written as"),
        ("test_a_closing_turn_can_be_right", ("closed_form", lambda *_: choice_form("AB", lambda letter: False)),
         "none of A, B, none is right"),
        ("test_the_order_of_replies_changes_nothing", ("judge", lambda *_: _in_turn), "another order"),
        ("test_every_plan_asks_the_same_every_time", ("applies", lambda self, sample, cell: False), "asks none of"),
    ],
)  # fmt: skip
def test_a_benchmark_that_breaks_a_rule_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str, broken: tuple[str, Any], told: str
) -> None:
    """By the sample, and what was found."""
    monkeypatch.setattr(CustomQuestions, *broken)
    assert told in wrong(checks_of(tmp_path, "questions"), check)


_TURNS = count()


def _in_turn(reply: object, frame: object) -> Verdict:
    return Verdict("made", "made", float(next(_TURNS) % 3 == 0))


def _always(value: str, score: float) -> ReplyJudge:
    return lambda reply, frame: Verdict(value, "made", score)
