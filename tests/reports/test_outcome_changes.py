"""Reports say which versions of readers changed the verdicts of a job, and how many."""

import copy
import json
import random
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa import answers
from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.console import out
from gigavqa.cli.reporting import print_report
from gigavqa.evaluation.capabilities import ReaderVersions
from gigavqa.evaluation.outcome_changes import OutcomeChange, Revision, read_version_notes, readers_of, revisions_of
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.score_frame import ReplyScore
from gigavqa.reports.report import report_on_tally, tally_replies
from gigavqa.reports.tallies import dump_tally, made_by, merge_tally, revise
from tests.benchmarks.ultravr.test_process import DATASET
from tests.reports.test_tallies import many

CATALOGUE = load_catalogue()
BENCHMARKS = [entry.load()() for entry in entry_points(group="gigavqa.benchmarks")]
NOTES = {"reader/1": "reads.", "reader/2": "reads more.", "reader/3": "reads less."}
OUTCOMES = ("right", "wrong", "abstained", "unreadable")


def told(seed: int, version: str, **beside: str) -> dict[str, Any]:
    """What a tally of random answers is written as, one to each request of a job, made by one version of a reader."""
    of_job = {(one.sample_id, one.protocol, one.condition, one.repeat): one for one in many(seed)}
    tally = tally_replies(DATASET, map(reply_of, of_job.values()), CATALOGUE)
    made = made_by(DATASET, CATALOGUE, tally)
    made |= {"readers": {"answers": version}, "beside": made["beside"] | beside}
    written: dict[str, Any] = json.loads(json.dumps({**dump_tally(tally), "made": made}))
    return written


def revision(before: dict[str, Any], after: dict[str, Any]) -> tuple[Revision, ...]:
    """What a report tells of a tally that another one replaced."""
    tally = tally_replies(DATASET, (), CATALOGUE)
    merge_tally(tally, "one", after | {"revised": revise(before, after)}, DATASET.benchmark)
    return revisions_of(tally.revised, NOTES)


def changed(tally: dict[str, Any], draw: random.Random) -> Counter[tuple[str, str]]:
    """Change the outcomes of some verdicts, and return from what to what, with the number of answers."""
    changes = Counter[tuple[str, str]]()
    answers = Counter(tally["rows"][-1])
    at = ReplyScore._fields.index("outcome")
    for number, score in enumerate(tally["scores"]):
        outcome = draw.choice([one for one in OUTCOMES if one != score[at]])
        if draw.random() < 0.4:
            changes[outcome, score[at]] += answers[number]
            score[at] = outcome
    return changes


@settings(deadline=None, max_examples=25, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_every_verdict_that_differs_is_counted_by_its_outcomes(seed: int) -> None:
    """Whatever an older version said of whichever answers; the others are alike."""
    after = told(seed, "reader/2")
    before = copy.deepcopy(after) | {"made": {**after["made"], "readers": {"answers": "reader/1"}}}
    changes = changed(before, random.Random(seed))
    (one,) = revision(before, after)
    assert {(each.was, each.now): each.answers for each in one.differences} == changes
    assert one.compared == len(after["rows"][0])
    assert (one.then, one.now, one.not_compared) == ({"answers": "reader/1"}, {"answers": "reader/2"}, 0)


def test_the_same_version_revises_nothing() -> None:
    """Though its verdicts differ, as where records were mended."""
    assert revision(told(1, "reader/1"), told(1, "reader/1", records="mended")) == ()


def test_verdicts_by_other_records_are_not_compared() -> None:
    """Which of both changed a verdict cannot be told."""
    (one,) = revision(told(1, "reader/1", records="mended"), told(1, "reader/2"))
    assert (one.compared, one.differences) == (0, ())
    assert str(one).endswith(f"{one.not_compared} not compared, since records or models changed as well")


def test_a_tally_that_tells_no_version_is_not_compared() -> None:
    """Releases before wrote none."""
    before = told(1, "reader/1")
    del before["made"]
    assert revision(before, told(1, "reader/2")) == ()


def test_each_step_of_versions_stays_told() -> None:
    """What the second version changed is told beside what the third did."""
    second, third = told(1, "reader/2"), told(1, "reader/3")
    second["revised"] = revise(told(1, "reader/1"), second)
    found = revision(second, third)
    assert [(one.then["answers"], one.now["answers"]) for one in found] == [
        ("reader/1", "reader/2"),
        ("reader/2", "reader/3"),
    ]


def test_versions_that_go_back_and_forth_are_counted_once() -> None:
    """Two gateways of two releases, each of which makes the report twice."""
    first, second = told(1, "reader/1"), told(1, "reader/2")
    once = revise(first, second)
    again = revise(first | {"revised": revise(second | {"revised": once}, first)}, second)
    assert sum(one[-1] for one in again) == 2 * sum(one[-1] for one in once)


@pytest.mark.parametrize(
    ("then", "now", "changes"),
    [
        ("reader/1", "reader/2", ["reader/2 reads more."]),
        ("reader/1", "reader/3", ["reader/2 reads more.", "reader/3 reads less."]),
        (None, "reader/2", ["reader/1 reads.", "reader/2 reads more."]),
        ("reader/2", None, ["reader/2 reads no more"]),
        ("reader/3", "reader/1", ["reader/1: what it changed against reader/3 is not noted"]),
        ("reader/1", "reader/9", ["reader/9: what it changed against reader/1 is not noted"]),
    ],
)
def test_a_line_is_told_for_every_version_in_between(then: str | None, now: str | None, changes: list[str]) -> None:
    """Oldest first; what nobody noted is said to be so."""
    versions = [((("answers", version),) if version else ()) for version in (then, now)]
    (one,) = revisions_of(Counter({OutcomeChange(versions[0], versions[1], "wrong", "right"): 1}), NOTES)
    assert list(one.changes) == changes


def test_a_terminal_tells_what_a_page_tells() -> None:
    """Versions, numbers, and the sentence of each version."""
    (one,) = revision(told(1, "reader/1"), told(1, "reader/2"))
    report = report_on_tally(DATASET, tally_replies(DATASET, (), CATALOGUE), CATALOGUE)
    with out.capture() as printed:
        print_report(report.model_copy(update={"revisions": (one,)}))
    shown = " ".join(printed.get().split())
    assert f"The same answers were read before by reader/1, then by reader/2: 0 of {one.compared} verdicts" in shown
    assert "reader/2 reads more." in shown


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda one: str(one.name))
def test_every_version_of_a_benchmark_is_noted(benchmark: Any) -> None:
    """The newest last, so that no version is raised without a sentence on what it changes."""
    own = ReaderVersions.of(benchmark)
    notes = {**read_version_notes(Path(answers.__file__).parent), **own.version_notes}
    newest = {version.partition("/")[0]: version for version in notes}
    for version in readers_of(own.versions).values():
        stem, _, number = version.partition("/")
        assert (newest[stem], notes[version][-1]) == (version, ".")
        assert number == max((one.partition("/")[2] for one in notes if one.startswith(f"{stem}/")), key=int)
