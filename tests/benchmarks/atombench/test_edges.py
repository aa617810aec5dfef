"""Where numbers are missing: repeats, partners, failures, pictures without a level, and models too few to correlate."""

from collections.abc import Sequence

import pytest

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.atombench.judging import AtomJudge
from gigavqa.benchmarks.atombench.metrics import pearson
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import Report, build_report
from tests.benchmarks.atombench.questions import EXAMPLE, FINAL, FIRST, answer, answers, chat, clue, conclusion
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL
from tests.reports.tables import caveats_of, percent_of, row_of, value_of, values_of


def reported(responses: Sequence[Response], samples: Sequence[AtomSample] = EXAMPLE) -> Report:
    """The report on responses to the worked example, or to other questions."""
    return build_report(dataset_of(samples, benchmark="atombench"), responses, load_catalogue())


def percent(report: Report, column: str, table: str = "table2", **keys: str) -> float | None:
    """A rate in %, to two decimals."""
    return percent_of(report, table, column, **keys)


def test_metrics_are_taken_within_each_repeat_and_averaged() -> None:
    """A second repeat in which everything is right: each metric is the mean of both, and the spread is told."""
    right = dict.fromkeys(FIRST, "right")
    report = reported([*answers(), *answers(right, dict.fromkeys(FINAL, "right"), repeat=1)])
    assert [percent(report, name) for name in ("clq", "rcs", "hi", "rrs")] == [81.67, 66.67, 25.00, 60.00]
    first, second, deviation = (values_of_repeat(report, name) for name in ("0", "1", "deviation"))
    assert [first["rcs"], second["rcs"]] == [pytest.approx(1 / 3), 1]
    assert deviation["rcs"] == pytest.approx((2 / 3) / 2**0.5)


def values_of_repeat(report: Report, repeat: str) -> dict[str, float]:
    """The metrics of one repeat, or their deviation."""
    table = report.table("repeats")
    assert table is not None
    (row,) = [row for row in table.rows if row.keys["repeat"] == repeat]
    pairs = zip(table.columns, row.values, strict=True)
    return {c.key: one.value for c, one in pairs if isinstance(one, Estimate) and one.value is not None}


def test_answers_never_join_those_of_another_repeat() -> None:
    """Clues that are right in one repeat support no conclusion that is right in the other."""
    clues = {name: "right" for name in FIRST if "-c" in name}
    conclusions = {name: "right" for name in FIRST if "-q" in name}
    wrong = dict.fromkeys(FIRST, "wrong")
    report = reported([*answers(wrong | clues, {}), *answers(wrong | conclusions, {}, repeat=1)])
    assert (percent(report, "rcs"), percent(report, "hi")) == (0.0, 100.0)


def test_first_and_final_answers_of_different_jobs_are_joined_by_repeat() -> None:
    """AG in a job of its own, and clues and conclusions in two: the same numbers as of one job."""
    clues = {name: outcome for name, outcome in FIRST.items() if "-c" in name}
    conclusions = {name: outcome for name, outcome in FIRST.items() if "-q" in name}
    together = reported(answers())
    apart = reported(
        [*answers(clues, {}, job_id="a"), *answers(conclusions, {}, job_id="b"), *answers({}, FINAL, job_id="c")]
    )
    for name in ("clq", "colq", "rcs", "hi", "rrs", "avg"):
        assert value_of(apart, "table2", name) == value_of(together, "table2", name)


def test_final_answers_without_a_first_one_are_left_out_and_named() -> None:
    """And first ones without a final one."""
    lost = [one for one in answers() if (one.protocol, one.sample_id) not in {("A0", "I3-q1"), ("AG", "I1-q1")}]
    report = reported(lost)
    assert percent(report, "rrs") == round(100 * (2 * 2 / 6 - 1), 2)
    assert row_of(report, "golden_evidence", difficulty="hard", protocol="AG").values[-1] is None
    told = "\n".join(caveats_of(report))
    assert "left out of RRS: 1 answer under AG without one under A0 (I3-q1)" in told
    assert "left out of RRS: 1 answer under A0 without one under AG (I1-q1)" in told


def test_a_failed_request_takes_its_question_out() -> None:
    """Three of I2's clues become two, both right: its conclusion is supported then, and the report says why."""
    report = reported([*answers({**FIRST, "I2-c3": None})])  # type: ignore[dict-item]  # a failure is no outcome
    assert (percent(report, "rcs"), percent(report, "hi")) == (66.67, 0.0)
    assert any("failed requests take 1 question out of the numbers of 1 image" in told for told in caveats_of(report))


def test_what_has_no_number_has_no_value() -> None:
    """No clue questions, nothing wrong at first, no right conclusion: no CLQ_Acc, no correction rate, no HI, no Avg."""
    conclusions = {name: "right" for name in FIRST if "-q" in name}
    report = reported(answers(conclusions, FINAL))
    assert [percent(report, name) for name in ("clq", "rcs", "hi", "avg", "ecs")] == [None] * 5
    assert percent(report, "correction", "figure8") is None
    nothing_right = reported(answers(dict.fromkeys(FIRST, "wrong"), FINAL))
    assert (percent(nothing_right, "hi"), percent(nothing_right, "rcs")) == (None, 0.0)
    assert percent(nothing_right, "clq") == -33.33


def test_intervals_may_reach_below_nothing() -> None:
    """A score below 0 is a number like any other."""
    wrong = {name: "right" if name in ("I1-c1", "I2-c1") else "wrong" for name in FIRST}
    clues = value_of(reported(answers(wrong, FINAL)), "table2", "clq")
    assert clues.value is not None and clues.low is not None and clues.high is not None
    assert clues.low < clues.value < 0 < clues.high + 0.1


def test_pictures_without_a_level_are_named_and_left_out_of_support() -> None:
    """One with clues alone, one with a conclusion alone; their questions count in the accuracies."""
    samples = (*EXAMPLE, clue("I4", 1), conclusion("I5", 1))
    extra = [answer("I4-c1", "right"), answer("I5-q1", "right")]
    report = reported([*answers(), *extra], samples)
    assert percent(report, "rcs") == 33.33
    assert percent(report, "raw_clq") == round(100 * 8 / 11, 2)
    told = "\n".join(caveats_of(report))
    assert "1 image has no clue question with an answer" in told
    assert "images/I5.jpg" in told
    assert "1 image has no conclusion question with an answer" in told


def test_questions_without_labels_are_left_out_of_what_needs_them() -> None:
    """Without its difficulty a conclusion has no weight in RRS, and is corrected or not all the same."""
    samples = tuple(one.model_copy(update={"difficulty": None} if one.id == "I1-q2" else {}) for one in EXAMPLE)
    report = reported(answers(), samples)
    assert percent(report, "rrs") == 0.0
    assert percent(report, "correction", "figure8") == 66.67
    assert any("1 question has no difficulty: RRS" in told for told in caveats_of(report))


def test_questions_that_await_their_answer_count_nowhere() -> None:
    """They are asked, and no number changes."""
    samples = (*EXAMPLE, clue("I1", 5, answer=""), conclusion("I2", 3, answer=""))
    report = reported([*answers(), answer("I1-c5", "right"), answer("I2-q3", "wrong")], samples)
    assert value_of(report, "table2", "avg") == value_of(reported(answers()), "table2", "avg")


def test_a_chat_stands_beside_the_paper_s_protocol_and_never_in_its_place() -> None:
    """AGC's own first answers are paired with its final ones; Table 2 keeps AG's."""
    chats = [chat(name, FIRST[name], "right") for name in FINAL]
    report = reported([*answers(), *chats])
    assert percent(report, "rrs") == 20.00
    values = values_of(report, "golden_evidence", protocol="AGC", difficulty="hard")
    assert (values["corrected"], values["rigid"]) == (2, 0)


def test_other_conditions_are_controls() -> None:
    """Under V0 a model is asked without the picture: in a table of its own."""
    blind = [answer(name, "wrong", condition="V0") for name in FIRST]
    report = reported([*answers(), *blind])
    assert percent(report, "clq") == 63.33
    assert percent(report, "clq", "controls", condition="V0") == -33.33


def test_correlations_need_three_models() -> None:
    """And numbers that differ."""
    assert pearson([1.0, 2.0], [1.0, 2.0]) == NO_ESTIMATE
    assert pearson([1.0, 2.0, None], [1.0, 2.0, 3.0]) == NO_ESTIMATE
    assert pearson([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) == NO_ESTIMATE
    assert pearson([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]).value == pytest.approx(-1)
    assert any("need 3 models; there are 1" in told for told in caveats_of(reported(answers())))


def test_models_stand_in_the_papers_groups_by_their_mean() -> None:
    """Private ones first; the best of a group is marked, of HI the least."""
    models = {"gpt-5": "wrong", MODEL: "right", "qwen2.5-vl-7b": "wrong"}
    responses = [
        one for model, outcome in models.items() for one in answers({**FIRST, "I2-c3": outcome}, FINAL, model=model)
    ]
    table = reported(responses).table("table2")
    assert table is not None
    assert [row.keys["model"] for row in table.rows] == ["gpt-5", MODEL, "qwen2.5-vl-7b"]
    best = {row.keys["model"]: row.best for row in table.rows}
    assert best["gpt-5"] == ()
    assert {"clq", "rcs", "hi", "avg"} <= set(best[MODEL])
    assert "hi" not in best["qwen2.5-vl-7b"]


@pytest.mark.parametrize("turn", [0, 1], ids=["first", "final"])
def test_a_filtered_answer_is_unanswered_and_not_right(turn: int) -> None:
    """In a chat the first and the final answer alike: the pair counts, and what was filtered is worth no points."""
    given = chat("I1-q1", "right", "right")
    turns = list(given.turns)
    turns[turn] = turns[turn].model_copy(update={"finish_reason": "content_filter"})
    (sample,) = (one for one in EXAMPLE if one.id == "I1-q1")
    verdict = AtomJudge(sample)(reply_of(given.model_copy(update={"turns": tuple(turns)})), BoxFrame())
    assert verdict.details is not None
    pair = verdict.details.final, verdict.details.first
    assert pair == (("right", "unanswered") if turn == 0 else ("unanswered", "right"))
    assert verdict.score == float(turn == 0)
    assert (verdict.tell()[0].status, verdict.outcome) == (
        ("filtered", "right") if turn == 0 else ("marker", "filtered")
    )
