"""Every number of the report: the worked example, identities, repeats, gaps, matching errors and labels."""

import json
import random
from collections.abc import Sequence

import numpy as np
import pytest

from gigavqa.benchmarks.mmcr.benchmark import MMCR
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import QUESTION_TYPES
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import report_on_tally, tally_replies
from gigavqa.reports.tallies import dump_tally, merge_tally
from tests.benchmarks.mmcr.examples import answers, dataset_of, question, reply, reported, right
from tests.reports.tables import caveats_of, percent_of, row_of, table_of, value_of, values_of

EXAMPLE = [question("s1", "table"), question("s2", "multi_table", "C"), question("s3", "text", "E")]
PATTERNS = {"s1": "+++++", "s2": "++++-", "s3": "?++++"}


def test_the_worked_example() -> None:
    """Circular 33.33, plain 66.67, mean over rotations 86.67, and the parts by type and by sources."""
    report = reported(EXAMPLE, PATTERNS)
    assert [percent_of(report, "main", name) for name in ("circular", "plain")] == [33.33, 66.67]
    assert percent_of(report, "consistency", "mean") == 86.67
    kinds = ("table", "multi_table", "text", "figure")
    assert [percent_of(report, "main", kind) for kind in kinds] == [100, 0, 0, None]
    assert [percent_of(report, "main", name) for name in ("cross", "single", "gap")] == [0.0, 50.0, -50.0]
    counts = [value_of(report, "main", name).count for name in ("circular", "cross", "single", "figure")]
    assert counts == [3, 1, 2, 0]


def drawn(seed: int) -> tuple[list[MMCRSample], list[Response]]:
    """Thirty questions of all types about six documents, two repeats, with skills of all kinds and some failures."""
    draws = random.Random(seed)
    questions = [
        question(
            f"q{at}",
            QUESTION_TYPES[at % len(QUESTION_TYPES)],
            draws.choice("ABCDE"),
            document=f"d{at % 6}",
            subject=f"s{at % 3}",
        )
        for at in range(30)
    ]
    replies = [
        one
        for sample in questions
        for repeat in range(2)
        for family in "NC"
        for one in answers(sample, "".join(draws.choices("+-?!x", (70, 15, 8, 5, 2), k=5)), family, repeat=repeat)
    ]
    return questions, replies


@pytest.mark.parametrize("seed", range(3))
def test_identities_hold(seed: int) -> None:
    """Circular is at most plain over the same samples, at most the mean over rotations, and the mean of its types."""
    questions, replies = drawn(seed)
    report = reported(questions, [one for one in replies if one.failure is None])
    circular, plain = value_of(report, "main", "circular"), value_of(report, "main", "plain")
    mean = value_of(report, "consistency", "mean", protocol="N")
    assert circular.value is not None and plain.value is not None and mean.value is not None
    types = [value_of(report, "main", kind) for kind in QUESTION_TYPES]
    weighted = sum((one.value or 0) * one.count for one in types) / sum(one.count for one in types)
    assert weighted == pytest.approx(circular.value, abs=1e-12)
    complete = reported(questions, answers_without_failures(questions, seed))
    for family in "NC":
        row = values_of(complete, "consistency", protocol=family)
        found = [value.value for value in map(row.__getitem__, ("circular", "mean", "plain", "consistent")) if
                 isinstance(value, Estimate) and value.value is not None]  # fmt: skip
        circle, over, first, same = found
        assert circle <= first and circle <= over and circle <= same


def answers_without_failures(questions: Sequence[MMCRSample], seed: int) -> list[Response]:
    """Replies to everything."""
    draws = random.Random(seed)
    return [
        one
        for sample in questions
        for family in "NC"
        for one in answers(sample, "".join(draws.choices("+-?", (80, 10, 10), k=5)), family)
    ]


def test_rotations_are_joined_within_a_repeat() -> None:
    """Right in all rotations of one repeat and wrong once in the other: a half; never right in all: nothing."""
    first, second = question("q1"), question("q2")
    replies = [
        *answers(first, "+++++"), *answers(first, "++-++", repeat=1),
        *answers(second, "-++++"), *answers(second, "+++-+", repeat=1),
    ]  # fmt: skip
    report = reported([first, second], replies)
    assert percent_of(report, "main", "circular") == 25.0
    assert percent_of(report, "main", "plain") == 75.0
    assert values_of(report, "consistency")["repeats"] == "25.00 ± 35.36 (k=2)"


def test_a_sample_without_a_reply_to_some_rotation_is_left_out_and_named() -> None:
    """A failed request is no answer at all; plain accuracy has it still."""
    report = reported([question("q1"), question("q2", "text")], {"q1": "+++++", "q2": "++x++"})
    assert (percent_of(report, "main", "circular"), value_of(report, "main", "circular").count) == (100.0, 1)
    assert value_of(report, "main", "plain").count == 2
    assert any("not all rotations of q2 have a reply" in told for told in caveats_of(report))


def test_without_all_rotations_there_is_no_circular_accuracy() -> None:
    """A plain plan fills plain columns, and nothing is left out of what was not asked."""
    report = reported(EXAMPLE, dict.fromkeys(PATTERNS, "+"))
    assert (percent_of(report, "main", "circular"), percent_of(report, "main", "plain")) == (None, 100.0)
    assert not [told for told in caveats_of(report) if "rotations" in told]


def test_a_question_whose_answer_is_not_known_counts_nowhere() -> None:
    """It is asked, and left out of every number."""
    report = reported([*EXAMPLE, question("open", answer="")], {**PATTERNS, "open": "     "} | {"s1": "+++++"})
    assert value_of(report, "main", "circular").count == 3
    assert report.awaiting_expert == ("open",)


def test_the_gap_of_chains_of_thought_is_over_samples_that_both_have() -> None:
    """Three samples without, two of them with: one won; a row each where both prompts for one were asked."""
    replies = [one for sample in EXAMPLE for one in answers(sample, PATTERNS[sample.id])]
    announced = [
        reply(sample, f"{family}{k}", f"A, B, C, D and E are possible.\nAnswer: {right(sample, k)}")
        for sample in EXAMPLE[:2]
        for family in "CI"
        for k in range(5)
    ]
    report = reported(EXAMPLE, [*replies, *announced])
    for family in "CI":
        found = values_of(report, "cot", protocol=family)
        gap = found["gap"]
        assert isinstance(gap, Estimate) and (gap.value, gap.count) == (0.5, 2)
    assert percent_of(report, "cot_types", "multi_table_gap", protocol="C") == 100.0
    assert percent_of(report, "cot_types", "text_gap", protocol="C") is None
    titles = [row.title.split(" · ")[1:] for row in table_of(report, "cot").rows]
    assert titles == [["CoT"], ["InternVL's CoT"]]


def test_who_prefers_a_letter_has_an_excess() -> None:
    """The first letter always: right once in five rotations, never in all; its share exceeds a fifth by four."""
    sample = question("q", answer="C")
    report = reported([sample], [reply(sample, f"N{k}", "A") for k in range(5)])
    row = values_of(report, "consistency")
    assert isinstance(row["excess"], Estimate) and row["excess"].value == pytest.approx(0.8)
    assert (percent_of(report, "consistency", "mean"), percent_of(report, "consistency", "consistent")) == (20.0, 0.0)
    assert percent_of(report, "rotations", "A", protocol="N0") == 100.0


def test_consistency_is_of_options_and_not_of_letters() -> None:
    """The same wrong option in all rotations is consistent; an unmatched reply agrees with nothing."""
    samples = [question("q1"), question("q2"), question("q3")]
    report = reported(samples, {"q1": "-----", "q2": "++++-", "q3": "?????"})
    assert percent_of(report, "consistency", "consistent") == 33.33


def test_statuses_are_counted_over_replies() -> None:
    """Unmatched and refused ones are wrong, and the rate has both."""
    report = reported([question("q1"), question("q2")], {"q1": "+?!++", "q2": "+++++"})
    row = values_of(report, "consistency")
    assert isinstance(row["unmatched"], Estimate) and row["unmatched"].value == pytest.approx(0.2)
    assert isinstance(row["refused"], Estimate) and row["refused"].value == pytest.approx(0.1)
    assert values_of(report, "rotations", protocol="N2")["refused"] == 1


def matching_case(name: str) -> Response:
    """A reply that means B, in which the rules find the article A."""
    return reply(question(name, answer="B"), "N0", "A blue bar, so the answer is B.")


def test_table_s1_counts_wrong_replies_that_mean_the_right_answer() -> None:
    """Of two error cases one is a matching error; without any there is a dash."""
    samples = [question("q1", answer="B"), question("q2", answer="B")]
    report = reported(samples, [matching_case("q1"), reply(samples[1], "N0", "C")])
    row = values_of(report, "table_s1")
    assert (row["matching"], row["cases"]) == (1, 2) and percent_of(report, "table_s1", "rate") == 50.0
    clean = reported(samples, [reply(sample, "N0", "B") for sample in samples])
    assert percent_of(clean, "table_s1", "rate") is None


def test_labels_of_people_are_counted_over_error_cases() -> None:
    """Without labels only matching is filled; a label of what is no error case is named."""
    samples = [question(f"q{at}", answer="B") for at in range(3)]
    replies = [matching_case("q0"), reply(samples[1], "N0", "C"), reply(samples[2], "N0", "B")]
    bare = values_of(reported(samples, replies), "errors")
    assert (bare["matching count"], bare["not annotated count"], bare["reasoning count"]) == (1, 1, None)
    lines = "\n".join(
        f'{{"sample_id": "{name}", "model": "qwen3-vl-8b", "category": "{category}"}}'
        for name, category in (("q1", "Reasoning Error"), ("q2", "perceptual"))
    )
    report = reported(samples, replies, MMCR().configured({"errors.jsonl": lines}))
    found = values_of(report, "errors")
    assert (found["reasoning count"], found["not annotated count"], found["matching count"]) == (1, 1, 0)
    assert any("labels what is no error case: 'q2' of qwen3-vl-8b" in told for told in caveats_of(report))


def test_every_table_can_be_had_by_the_careful_reader() -> None:
    """What the rules miss is right there; both stand side by side with what they found."""
    samples = [question("q1", answer="B")]
    replies = [
        reply(samples[0], f"N{k}", f'A fine question. The answer is "{right(samples[0], k)}".') for k in range(5)
    ]
    report = reported(samples, replies)
    assert (percent_of(report, "main", "circular"), percent_of(report, "main_careful", "circular")) == (0.0, 100.0)
    assert row_of(report, "main_careful").keys["matcher"] == "careful"
    row = values_of(report, "matchers")
    assert (row["other"], row["same"]) == (4, 1)  # where the article is the right letter by chance


def test_subjects_and_types_of_the_loaded_data_set() -> None:
    """Figure S.1 is drawn from what is there; the published shares follow from the published counts."""
    counts = [43, 20, 26, 53, 13, 62, 10, 35, 9, 5]
    samples = [
        question(f"{kind}{at}", kind) for kind, count in zip(QUESTION_TYPES, counts, strict=True) for at in range(count)
    ]
    report = reported(samples, [reply(samples[0], "N0", "A")])
    columns = table_of(report, "questions_by_type").columns
    shares = [percent_of(report, "questions_by_type", column.key) for column in columns]
    assert shares == [15.58, 7.25, 9.42, 19.20, 4.71, 22.46, 3.62, 12.68, 3.26, 1.81]
    assert round(sum(share or 0 for share in shares), 2) == 99.99
    assert [figure.name for figure in report.figures] == ["figure_s3", "figure_s1a", "figure_s1b"]


@pytest.mark.parametrize("pattern", ["+++++", "-----", "?????", "!!!!!", "+-?!x"])
def test_questions_without_an_answer_count_in_no_number(pattern: str) -> None:
    """Whatever is replied to them, all tables of the benchmark are those of the others alone."""
    known, unknown = question("s1"), question("s2", answer="")
    said = [reply(unknown, f"N{k}", {"+": "A", "-": "B", "?": "Hm.", "!": "I cannot see the image.", "x": None}[mark])
            for k, mark in enumerate(pattern)]  # fmt: skip
    without, with_ = (reported([known, unknown], [*answers(known, "+-?!+"), *more]) for more in ([], said))
    assert [one for one in without.tables if one.name != "cells"] == [
        one for one in with_.tables if one.name != "cells"
    ]


def test_models_are_told_apart_by_what_they_were_shown() -> None:
    """Smaller pages are another row, which names the condition."""
    samples = [question("q1")]
    report = reported(samples, [*answers(samples[0], "+++++"), *answers(samples[0], "-----", condition="V1")])
    assert [row.title.partition(" · ")[2] for row in table_of(report, "main").rows] == ["", "V1"]
    assert percent_of(report, "main", "circular", condition="V1") == 0.0


def test_intervals_over_documents_are_wider_where_documents_are_all_or_nothing() -> None:
    """Ten questions of each of four documents, two of which are all right: not forty independent answers."""
    samples = [question(f"q{at}", document=f"d{at % 4}") for at in range(40)]
    report = reported(samples, {f"q{at}": "+++++" if at % 4 < 2 else "-----" for at in range(40)})
    alone, names = wilson(0.5, 40), ("circular", "plain")
    for found in (value_of(report, "main", name) for name in names):
        assert found.value == 0.5 and np.subtract(found.high, found.low) > np.subtract(alone.high, alone.low)


def test_what_was_counted_before_says_the_same_when_merged() -> None:
    """A tally that went through JSON fills every table to the same digit."""
    questions, replies = drawn(4)
    dataset, catalogue = dataset_of(questions), load_catalogue()
    told = tally_replies(dataset, map(reply_of, replies), catalogue)
    merged = tally_replies(dataset, (), catalogue)
    merge_tally(merged, "job", json.loads(json.dumps(dump_tally(told))), dataset.benchmark)
    first, second = (report_on_tally(dataset, tally, catalogue) for tally in (told, merged))
    assert first.tables == second.tables
