"""Of a chat is kept what tables need: counted calls, why it ended, what it saw and found, and what judges said."""

from typing import Any

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.judging import VistaHopDetails, VistaHopJudge
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.benchmarks.vistahop.sidecars import Sidecars
from gigavqa.contract.responses import Response
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.sample_judges import SampleJudges
from gigavqa.evaluation.tally import Tally
from gigavqa.evaluation.verdicts import Verdict
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.tiling.geometry import Size
from tests.benchmarks.vistahop.examples import call, chat, crop, direct, reported, said, sample
from tests.reports.tables import values_of

ANCHOR = {"label": "mark", "kind": "logo", "box": (0.2, 0.4, 0.21, 0.41)}
"""600 x 400 pixels of the picture."""


def judged(of: VistaHopSample, response: Response, beside: Sidecars | None = None) -> Verdict:
    """The verdict on a chat."""
    return VistaHopJudge(of, beside or Sidecars())(reply_of(response), BoxFrame("unit", None))


def kept(of: VistaHopSample, response: Response, beside: Sidecars | None = None) -> VistaHopDetails:
    """What is kept of it."""
    details = judged(of, response, beside).details
    assert details is not None
    return details


def test_an_answer_is_right_by_any_truth_and_no_answer_is_wrong() -> None:
    """A chat that ran out of rounds or of context has none; a failure says nothing."""
    one = sample(answers=("1911", "in 1911"))
    assert judged(one, chat(one, "in 1911")).outcome == "right"
    assert judged(one, chat(one, "1912")).outcome == "wrong"
    for stop in ("rounds", "context"):
        verdict = judged(one, chat(one, None, [call()], stop=stop))
        assert (verdict.score, verdict.status) == (0.0, stop)
    judges = SampleJudges([one], VistaHop().judge, {})
    assert judges.judge(reply_of(direct(one, None)), 0) is None
    assert judges.judge(reply_of(chat(one, None, [call()])), 0) is not None


def test_a_question_without_a_truth_has_no_score() -> None:
    """It awaits an expert."""
    one = sample(answers=())
    assert judged(one, chat(one, "1911")).outcome == "unscored"


def test_lettered_questions_are_right_by_their_letter() -> None:
    """However it is announced."""
    one = sample(options={"A": "1911", "B": "1912"}, answers=("B",))
    for answer in ("B", "b.", "(B) 1912", "The answer is B"):
        assert judged(one, chat(one, answer)).score == 1
    assert judged(one, chat(one, "A")).score == 0


def test_valid_calls_are_counted_that_of_the_last_round_too() -> None:
    """What was answered by an error is no counted call, and some of those lose the sample elsewhere."""
    one = sample()
    statuses = ("ok", "empty", "unknown_tool", "bad_arguments", "bad_box", "ok")
    found = kept(one, chat(one, None, [*(call(status) for status in statuses), call("not_run")], limit=7))
    assert (found.rounds, found.calls, found.stop, found.voided) == (7, 3, "rounds", True)
    assert found.tools == (
        ("", "bad_arguments", 1), ("", "unknown_tool", 1), ("text_search_tool", "bad_box", 1),
        ("text_search_tool", "empty", 1), ("text_search_tool", "not_run", 1), ("text_search_tool", "ok", 2),
    )  # fmt: skip
    assert not kept(one, chat(one, "1911", [call("empty"), call("unknown_tool")])).voided
    assert (found.cached, found.prompt) == (100 * sum(range(1, 7)), 100 * sum(range(2, 8)))


def test_a_malformed_call_is_the_answer() -> None:
    """Its status is told, and it is not counted."""
    one = sample()
    response = chat(one, "1911")
    turn = response.turns[0].model_copy(update={"call": call("malformed", "", "{")})
    found = kept(one, response.model_copy(update={"turns": (turn,)}))
    assert (found.calls, found.stop, found.tools) == (0, "answered", (("", "malformed", 1),))


def test_an_anchor_is_seen_where_a_crop_shows_half_of_it_large_enough() -> None:
    """Its shorter side, 400 pixels, needs 24 of the raster's; the first picture is no crop."""
    one = sample(anchors=(ANCHOR,))
    cases: dict[tuple[str, Size, int], int] = {
        ("12000,16000,6000,4000", Size(960, 640), 1): 1,  # whole, at 64 pixels
        ("12300,16000,6000,4000", Size(960, 640), 1): 1,  # half of it
        ("12301,16000,6000,4000", Size(960, 640), 1): 0,
        ("12000,16000,20000,10000", Size(960, 640), 1): 1,  # at 25.6 pixels
        ("12000,16000,20000,12000", Size(960, 640), 1): 0,  # at 21.3
        ("0,0,60000,40000", Size(3520, 2336), 0): 0,
    }
    for (region, raster, turn), seen in cases.items():
        assert kept(one, chat(one, "1911", [call()], rasters=(crop(region, raster, turn),))).anchor == seen, region
    assert kept(sample(), chat(one, "1911")).anchor == -1


def test_documents_are_found_among_the_results() -> None:
    """A hop is lost where none of its own was."""
    chain = [{"from": "a", "to": "b", "documents": ["d1", "d2"]}, {"from": "b", "to": "c", "documents": ["d3"]}]
    one = sample(chain=chain)
    found = kept(one, chat(one, "1911", [call(documents=("d2", "d9")), call(documents=("d2",))]))
    assert (found.found, found.documents, found.drift) == (1, 3, 1)
    assert kept(one, chat(one, "1911", [call(documents=("d2", "d3"))])).drift == 0
    assert kept(sample(), chat(one, "1911")).drift == -1


def test_what_others_said_of_a_chat_is_kept_beside_the_rules() -> None:
    """Scores that were recorded with it, and those of people, by job and request."""
    one = sample()
    response = chat(one, "1911", details={"verdicts": {"llm_score": 0}})
    place = (response.job_id, response.request_id)
    beside = Sidecars(judgements={place: (("ann", True),)}, failures={place: "drift"})
    found = kept(one, response, beside)
    assert found.judges == (("annotator ann", 1), ("llm_score", 0), ("rules/2", 1))
    assert found.label == "drift"


def test_a_tally_that_was_stored_reports_the_same() -> None:
    """As plain lists, texts and numbers."""
    samples = [sample("a"), sample("b", 12)]
    chats = [chat(samples[0], "1911", [call()]), chat(samples[1], None, [call("not_run")], limit=1)]
    fresh = Tally(samples, SampleJudges(samples, VistaHop().judge, {}), map(reply_of, chats))
    merged = Tally(samples, SampleJudges(samples, VistaHop().judge, {}), [])
    merge_tally(merged, "job", plain(dump_tally(fresh)), VistaHop())
    first, second = ([(key, *row) for key, _, *row in tally.frame()] for tally in (fresh, merged))
    assert repr(first) == repr(second)
    assert [key.rounds for key, *_ in first] == [1, 10]
    assert values_of(reported(samples, chats), "process", rounds="1")["cut_off"] == 0


def plain(told: Any) -> Any:
    """As it comes back from JSON, whose lists are no tuples."""
    if isinstance(told, dict):
        return {name: plain(value) for name, value in told.items()}
    return [plain(one) for one in told] if isinstance(told, list | tuple) else told


def test_a_chat_whose_answer_was_filtered_is_wrong_and_one_with_a_round_broken_off_failed() -> None:
    """The year in what the server let pass is not read; why chats ended has a column for it where there are such."""
    one = sample()
    filtered, lost = (
        ended(chat(one, said("1911"), [call(), call()]), reason) for reason in ("content_filter", "error")
    )
    assert (judged(one, filtered).outcome, judged(one, filtered).score, kept(one, filtered).stop) == (
        "filtered", 0.0, "filtered",
    )  # fmt: skip
    assert values_of(reported([one], [filtered]), "process")["filtered"].value == 1
    assert "filtered" not in values_of(reported([one], [chat(one, "1911")]), "process")
    first = lost.model_copy(update={"turns": (lost.turns[-1], *lost.turns[1:])})
    for broken in (lost, first):
        reply = reply_of(broken)
        assert (reply.text, reply.failure, reply.stop, len(reply.rounds)) == (None, "GenerationFailedError", None, 3)
        assert SampleJudges([one], VistaHop().judge, {}).judge(reply, 0) is None


def ended(given: Response, reason: str) -> Response:
    """The chat, its last answer ended for this reason."""
    last = given.turns[-1].model_copy(update={"finish_reason": reason})
    return given.model_copy(update={"turns": (*given.turns[:-1], last)})
