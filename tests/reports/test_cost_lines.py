"""A report counts the work behind it: tokens, those that were cached, pictures, and time."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.contract.responses import Response, Timings, TurnResponse, Usage
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.reply_costs import ReplyCost, WorkTally, WorkTotals
from gigavqa.reports.report import build_report, report_on_tally, tally_replies
from gigavqa.reports.writers.cost_lines import work_lines
from tests.evaluation.responses import response
from tests.reports.pages import CATALOGUE, DATASET, raster


def turn(prompt: int, cached: int, **changes: Any) -> TurnResponse:
    """One turn that read and wrote tokens, and took a second to wait, two to read and three to write."""
    usage = Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=10)
    return TurnResponse(
        text="B", finish_reason="stop", usage=usage, timings=Timings(queued=1, prefill=2, decode=3), **changes
    )


def three() -> list[Response]:
    """Three responses in three minutes: one of two turns, one over the same raster, one over another."""
    at = [datetime(2026, 11, 21, 10, minute, tzinfo=UTC) for minute in (0, 1, 3)]
    return [
        response("c1", "", turns=(turn(100, 0, asks="S1"), turn(120, 100)), rasters=(raster("a" * 32),),
                 rendering_seconds=4.0, queued_seconds=0.5, created_at=at[0]),
        response("c2", "", turns=(turn(80, 60),), rasters=(raster("a" * 32),), rendering_seconds=0.25,
                 created_at=at[1]),
        response("c2", "", "V1", turns=(turn(50, 0),), rasters=(raster("b" * 32),), created_at=at[2]),
    ]  # fmt: skip


def work_of(responses: list[Response]) -> WorkTotals:
    """The work of a report over responses."""
    return build_report(DATASET, responses, CATALOGUE).work


def test_tokens_pictures_and_seconds_are_summed() -> None:
    """Over all turns, and the middle of one request; of three pictures shown two differ; the slowest is named."""
    work = work_of(three())
    assert work.medians and work.medians.model_dump() == pytest.approx(
        {"queued": 1.0, "rendering": 0.25, "prefill": 2.0, "decode": 3.0}, rel=0.01
    )
    assert work.model_copy(update={"medians": None}) == WorkTotals(
        requests=3,
        prompt_tokens=350,
        cached_tokens=160,
        completion_tokens=40,
        views=3,
        rasters=2,
        queued_seconds=4.5,
        rendering_seconds=4.25,
        prefill_seconds=8.0,
        decode_seconds=12.0,
        slowest_image=raster().view.image,
        slowest_seconds=4.0,
        first_at=datetime(2026, 11, 21, 10, 0, tzinfo=UTC),
        last_at=datetime(2026, 11, 21, 10, 3, tzinfo=UTC),
    )


def test_medians_are_of_those_that_recorded_seconds_and_right_within_a_hundredth() -> None:
    """Whatever one request took, the middle one tells; in any order, and of tallies that were merged."""
    seconds = [0.0, 0.003, 0.42, 0.5, 7.7, 31.0, 86_400.0]
    tallies = [WorkTally() for _ in range(3)]
    for at, taken in enumerate(seconds):
        tallies[at % 2].add(ReplyCost(queued=taken, decode=1.0), (), 0.0)
        tallies[at % 2].add(ReplyCost(), (), 0.0)
    for one in tallies[:2]:
        tallies[2].merge(json.loads(json.dumps(one.plain)))
    medians = tallies[2].total.medians
    assert medians and medians.queued == pytest.approx(0.5, rel=0.01)
    assert medians.decode == 1.0
    assert WorkTally().total.medians is None


def test_copies_and_responses_to_unknown_samples_are_no_work() -> None:
    """The same response twice took its tokens once; in any order."""
    stray = response("stray", "B", turns=(turn(7, 0),))

    assert work_of([*three(), *three(), stray]) == work_of([stray, *reversed(three())]) == work_of(three())


def test_a_reply_that_was_asked_for_again_took_both_times() -> None:
    """A failure that a later attempt replaced took its seconds, too."""
    failed = response("c1", None, queued_seconds=2.0)
    again = response("c1", "", turns=(turn(100, 0),))

    assert work_of([failed, again]).queued_seconds == 3.0
    assert work_of([again, failed]) == work_of([failed, again])


@settings(deadline=None, max_examples=30, derandomize=True)
@given(times=st.lists(st.integers(0, 5), min_size=1, max_size=8), rasters=st.integers(0, 3))
def test_work_counts_every_copy_of_another_time_and_results_count_one(times: list[int], rasters: int) -> None:
    """However often and in whatever order one response was recorded, and a file was named."""
    at = [datetime(2026, 11, 21, 10, minute, tzinfo=UTC) for minute in times]
    copies = [response("c1", "B", created_at=one, rasters=(raster(),) * rasters) for one in at]
    tally = tally_replies(DATASET, map(reply_of, copies), CATALOGUE)
    report = report_on_tally(DATASET, tally, CATALOGUE)
    (score,) = report.cells
    assert report.work.requests == len(set(times))
    assert (score.answered, score.duplicates) == (1, len(times) - 1)
    assert tally.frame().counts("num_rasters") == {rasters: 1}
    told = dict(work_lines(report))["Requests"]
    assert told.endswith("in tables of results one") == (len(times) > 1)


def test_what_others_are_paid_is_summed_and_told() -> None:
    """In dollars; nothing is said of a report whose engines were one's own."""
    usage = Usage(prompt_tokens=100, completion_tokens=10, dollars=0.6)
    paid = response("c1", "", turns=(TurnResponse(text="B", finish_reason="stop", usage=usage),) * 2)
    report = build_report(DATASET, [paid, *three()[1:]], CATALOGUE)
    assert report.work.dollars == 1.2
    assert dict(work_lines(report))["Cost"] == "1.20 US dollars, by the prices of the catalogue"
    assert "Cost" not in dict(work_lines(build_report(DATASET, three(), CATALOGUE)))


def test_the_saving_is_told_in_words() -> None:
    """What was read and cached, shown and rendered, and how long it took."""
    told = dict(work_lines(build_report(DATASET, three(), CATALOGUE)))

    assert told["Requests"] == "3, recorded within 3 min 0 s"
    assert told["Tokens read"] == "350, of which 160 (46 %) from the prefix cache"
    assert told["Pictures"] == "3 shown, 2 different: 1 rendering saved"
    assert told["Time of a request"] == (
        "1.0 s waiting, 0.25 s for pictures, 2.0 s reading the prompt, 3.0 s writing the answer: medians; "
        "requests run side by side"
    )
    assert told["Slowest picture"] == f"{raster().view.image}, rendered after 4.0 s"


@pytest.mark.parametrize("name", ["Tokens read", "Pictures", "Slowest picture", "Time of a request"])
def test_what_nobody_recorded_is_not_told(name: str) -> None:
    """Lines of one's own have texts alone: no zero stands where nothing is known."""
    told = dict(work_lines(build_report(DATASET, [response("c1", "B")], CATALOGUE)))

    assert told["Requests"] == "1"
    assert name not in told
