"""Step accuracies, Table 3 and Figure 2 over a small data set whose every number is worked out here.

Three samples with these operations, by tables C.2 to C.5:

- r1, RS logical verification: S1 GND, S2 QUA, S3 GND, S4 QUA, S5 INF; answer B
- v1, CCTV relational inference: S1 S2 GND, S3 S4 PER, S5 S6 INT, S7 INF; answer C
- a1, AD: S1 S2 S3 GND, S4 S5 S6 S7 PER; answer B of four

Annotated steps: RS 2 GND, 2 QUA, 1 INF; CCTV 2 GND, 2 PER, 2 INT, 1 INF; AD 3 GND, 4 PER.
"""

import csv
import io
import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.benchmarks.ultravr.errors import StepUnknownError
from gigavqa.benchmarks.ultravr.metrics import OPERATIONS
from gigavqa.benchmarks.ultravr.samples import Operation
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.writers.exports import render_csv
from gigavqa.reports.writers.markdown import render_markdown
from tests.benchmarks.ultravr.good_records import good_record, good_sample, sample_from, step_of
from tests.benchmarks.ultravr.responders import WRONG, Knows, all_but, answer, everything, only
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tests.reports.tables import caveats_of, estimates_of, table_of, value_of, values_of

CATALOGUE = load_catalogue()
SAMPLES = {
    "r1": good_sample("rs-logic", id="r1"),
    "v1": good_sample("cctv-relation", id="v1"),
    "a1": good_sample("ad-choice", id="a1"),
}
STEP_PROTOCOLS = ("S2", "S4", "S5")
KNOWN: dict[str, Knows] = {
    "r1": only("S1", "S2", "S5"),
    "v1": only("S1", "S2", "S3", "S5", "S6", "S7"),
    "a1": everything,
}
"""r1 misses S3 (GND) and S4 (QUA); v1 misses S4 (PER); a1 misses nothing."""


DATASET = dataset_of(SAMPLES.values())


def report_of(responses: Iterable[Response], dataset: Dataset = DATASET) -> Report:
    """Report on responses alone."""
    return build_report(dataset, responses, CATALOGUE)


def worked(protocol: str, wrong: tuple[str, ...] = ()) -> list[Response]:
    """Answer the three samples with the steps of KNOWN; the final answers named are wrong."""
    return [answer(sample, protocol, knows=KNOWN[name], final=name not in wrong) for name, sample in SAMPLES.items()]


def rounded(report: Report, table: str, **keys: str) -> dict[str, float]:
    """The values of one row to six digits, of those that there are."""
    found = estimates_of(report, table, **keys).items()
    return {name: round(one.value, 6) for name, one in found if one.value is not None}


def profile_of(report: Report) -> dict[str, float]:
    """Step accuracy by operation, of the one cell that has steps."""
    return rounded(report, "steps")


@pytest.mark.parametrize("protocol", STEP_PROTOCOLS)
def test_equation_4_within_domains(protocol: str) -> None:
    """RS: GND 1 of 2, QUA 1 of 2, INF 1 of 1. CCTV: GND 2/2, PER 1/2, INT 2/2, INF 1/1. AD: GND 3/3, PER 4/4."""
    report = report_of(worked(protocol))

    assert {name: rounded(report, "steps_domains", domain=name) for name in ("cctv", "rs", "ad")} == {
        "cctv": {"GND": 1.0, "PER": 0.5, "INT": 1.0, "INF": 1.0},
        "rs": {"GND": 0.5, "QUA": 0.5, "INF": 1.0},
        "ad": {"GND": 1.0, "PER": 1.0},
    }
    assert value_of(report, "steps_domains", "PER", domain="ad").count == 4


def test_equation_5_over_the_domains_that_have_the_operation() -> None:
    """GND (1 + 0.5 + 1) / 3 = 0.833333; PER (0.5 + 1) / 2 = 0.75; QUA 0.5; INT 1; INF (1 + 1) / 2 = 1."""
    report = report_of(worked("S5"))

    assert rounded(report, "figure2b") == {"GND": 0.833333, "PER": 0.75, "QUA": 0.5, "INT": 1.0, "INF": 1.0}
    assert {name: value_of(report, "figure2b", name).count for name in OPERATIONS} == {
        "GND": 7, "PER": 6, "QUA": 2, "INT": 2, "INF": 2,
    }  # fmt: skip


def test_samples_without_an_operation_change_no_end_of_its_interval() -> None:
    """A step's trials are the samples that have it: a question of logic perceives nothing and adds none to PER."""
    other, second = good_sample("cctv-logic", id="v2"), good_sample("cctv-relation", id="v3")
    samples = [*SAMPLES.values(), second]
    responses = [*worked("S5"), answer(second, "S5", knows=everything)]
    alone = report_of(responses, dataset_of(samples))
    both = report_of([*responses, answer(other, "S5", knows=everything)], dataset_of([*samples, other]))
    for name, keys in (("steps_domains", {"domain": "cctv"}), ("figure2b", {})):
        assert value_of(both, name, "PER", **keys) == value_of(alone, name, "PER", **keys)


def test_equation_6_is_the_distance_from_the_mean_error() -> None:
    """Errors 1/6, 1/4, 1/2, 0, 0 have the mean 11/60 = 0.183333; deltas -1/60, 4/60, 19/60, -11/60, -11/60."""
    report = report_of(worked("S2"))

    assert value_of(report, "figure2a", "mean_error").value == pytest.approx(11 / 60)
    assert rounded(report, "figure2a") == {
        "mean_error": 0.183333, "GND": -0.016667, "PER": 0.066667, "QUA": 0.316667, "INT": -0.183333, "INF": -0.183333,
    }  # fmt: skip


def test_equations_7_and_8_count_each_trajectory_once() -> None:
    """r1 fails first at S3, GND; v1 at S4, PER; a1 knows all but the answer, Final: a third each over the domains."""
    report = report_of(worked("S4", wrong=("a1",)))

    third = pytest.approx(1 / 3)
    assert {name: share.value for name, share in estimates_of(report, "figure2c").items()} == {
        "GND": third, "PER": third, "QUA": 0, "INT": 0, "INF": 0, "Final": third, "NoErr": 0,
    }  # fmt: skip
    assert value_of(report, "figure2c_domains", "GND", domain="rs").value == 1.0


def test_shares_of_first_errors_are_balanced_by_domain() -> None:
    """Two RS trajectories, one of GND and one without error, and one CCTV of PER: GND 1/4, NoErr 1/4, PER 1/2."""
    second = good_sample("rs-logic", id="r2")
    dataset = dataset_of([SAMPLES["r1"], second, SAMPLES["v1"]])
    responses = [*worked("S4")[:2], answer(second, "S4", knows=everything)]

    shares = rounded(report_of(responses, dataset), "figure2c")

    assert (shares["GND"], shares["NoErr"], shares["PER"]) == (0.25, 0.25, 0.5)


def test_operation_counts_are_those_of_the_tables() -> None:
    """As the head of this file lists them."""
    report = report_of(worked("S5"))
    counts = {name: values_of(report, "annotated_steps", domain=name) for name in ("cctv", "rs", "ad")}

    assert len(table_of(report, "annotated_steps").rows) == 3
    assert {name: {operation: n for operation, n in found.items() if n} for name, found in counts.items()} == {
        "cctv": {"GND": 2, "PER": 2, "INT": 2, "INF": 1},
        "rs": {"GND": 2, "QUA": 2, "INF": 1},
        "ad": {"GND": 3, "PER": 4},
    }


def test_table3_holds_the_worked_gaps() -> None:
    """Right of r1, v1, a1: S0 1, S1 2, S2 1, S3 0, S4 2, S5 3; each third is a domain.

    text = 2/3 - 1/3 = 1/3, schema = 0, iter = 2/3 - 1/3 = 1/3, GT = 1 - 2/3 = 1/3.
    """
    wrong = {"S0": ("v1", "a1"), "S1": ("a1",), "S2": ("r1", "v1"), "S3": ("r1", "v1", "a1"), "S4": ("r1",), "S5": ()}
    responses = [reply for protocol, names in wrong.items() for reply in worked(protocol, names)]

    report = report_of(responses)

    assert rounded(report, "table3") == {
        "S0": 0.333333, "S1": 0.666667, "S2": 0.333333, "S3": 0.0, "S4": 0.666667, "S5": 1.0,
        "gap_text": 0.333333, "gap_schema": 0.0, "gap_iter": 0.333333, "gap_GT": 0.333333,
    }  # fmt: skip
    assert value_of(report, "table3_categories", "rs/logical_verification", protocol="S4").value == 0.0


def test_the_mean_row_averages_models() -> None:
    """One model right about all, one about r1 alone: (1 + 1/3) / 2 = 2/3 over two models."""
    other = [reply.model_copy(update={"model": "other"}) for reply in worked("S1", wrong=("v1", "a1"))]

    mean = value_of(report_of([*worked("S1"), *other]), "table3", "S1", model="mean")

    assert (mean.value, mean.count) == (pytest.approx(2 / 3), 2)


def test_repeats_have_a_mean_and_a_spread() -> None:
    """Repeats with macro 1, 2/3 and 1/3: pass@1 is 2/3, and the standard deviation 1/3."""
    responses = [
        answer(sample, "S1", knows=everything, final=name not in wrong, repeat=repeat)
        for repeat, wrong in enumerate([(), ("r1",), ("r1", "v1")])
        for name, sample in SAMPLES.items()
    ]

    (cell,) = report_of(responses).cells

    assert cell.repeats is not None
    assert cell.repeats.values == pytest.approx([1, 2 / 3, 1 / 3])
    assert (cell.repeats.mean, cell.repeats.deviation) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert cell.accuracy.value == pytest.approx(2 / 3)


def test_steps_are_averaged_over_repeats() -> None:
    """r1 knows all of its steps once and none once: half of everything, over the same five steps."""
    responses = [
        answer(SAMPLES["r1"], "S5", knows=knows, repeat=repeat) for repeat, knows in enumerate([everything, only()])
    ]

    report = report_of(responses)

    assert profile_of(report) == {"GND": 0.5, "QUA": 0.5, "INF": 0.5}
    assert value_of(report, "steps", "GND").count == 2


def test_a_broken_schema_reply_counts_as_far_as_it_goes() -> None:
    """The reply ends within S3: the rest is missing, and so wrong; S1 and S2 count."""
    text = '{"S1": [[0.1, 0.1, 0.12, 0.12], [0.2, 0.2, 0.22, 0.22]], "S2": 2, "S3": [[0.6'
    (reply,) = worked("S2")[:1]
    broken = reply.model_copy(update={"turns": (reply.turns[0].model_copy(update={"text": text}),)})

    report = report_of([broken])

    assert rounded(report, "steps_domains", domain="rs") == {"GND": 0.5, "QUA": 0.5, "INF": 0.0}
    assert values_of(report, "steps")["statuses"] == "missing 3, parsed 2"


def test_a_number_without_end_breaks_no_report() -> None:
    """A model in a loop writes five thousand digits for S2; its S1 still counts."""
    text = '{"S1": [[0.1, 0.1, 0.12, 0.12], [0.2, 0.2, 0.22, 0.22]], "S2": ' + "9" * 5000 + "}"
    (reply,) = worked("S2")[:1]
    looping = reply.model_copy(update={"turns": (reply.turns[0].model_copy(update={"text": text}),)})

    assert rounded(report_of([looping]), "steps_domains", domain="rs") == {"GND": 0.5, "QUA": 0.0, "INF": 0.0}


def test_a_records_own_operation_wins() -> None:
    """S5 of r1 is INF by table C.3, and here PER."""
    record = good_record("rs-logic")
    step_of(record, "S5")["operation"] = "PER"
    sample = sample_from(record)

    report = report_of([answer(sample, "S5", knows=everything)], dataset_of([sample]))

    assert set(profile_of(report)) == {"GND", "QUA", "PER"}


def test_a_step_outside_the_schema_names_the_sample() -> None:
    """No operation can be told, so no step can be counted."""
    record = good_record("rs-logic")
    step_of(record, "S5")["step_id"] = "S9"
    sample = sample_from(record)

    with pytest.raises(StepUnknownError, match=r"'rs-logic'.*'S9'"):
        report_of([answer(sample, "S5", knows=everything)], dataset_of([sample]))


def test_a_truth_that_fits_no_format_judges_nothing_and_is_told() -> None:
    """S2 of r1 should be a count: the other steps are still judged, and a warning names it."""
    record = good_record("rs-logic")
    step_of(record, "S2")["ground_truth"] = "many"
    sample = sample_from(record)

    report = report_of([answer(sample, "S4", knows=everything)], dataset_of([sample]))

    told = "the ground truths of rs-logic:S2 do not fit their formats"
    assert any(told in warning for warning in caveats_of(report))
    assert value_of(report, "figure2c", "NoErr").value == 1.0


def test_outcomes_tell_every_step_of_a_request() -> None:
    """v1 under S4: seven steps, the fourth wrong, and the raw text of each."""
    (outcome,) = sample_outcomes(DATASET, worked("S4")[1:2], CATALOGUE)

    assert [step.correct for step in outcome.parts] == [True, True, True, False, True, True, True]
    fourth = outcome.parts[3]
    assert (fourth.tags["operation"], fourth.status, fourth.text) == ("PER", "unparsable", WRONG)
    assert (outcome.value, outcome.correct, outcome.tags) == ("C", True, {"first error": "PER"})


def test_markdown_and_csv_hold_table_3_and_the_figure() -> None:
    """As the paper prints them: r1 and v1 right of three is 66.7 %; GND's first errors are a third."""
    report = report_of([reply for protocol in ("S0", "S2", "S4", "S5") for reply in worked(protocol, wrong=("a1",))])

    markdown, lines = render_markdown(report), list(csv.DictReader(io.StringIO(render_csv(report))))

    assert all(f"## {part}" in markdown for part in ("Table 3", "Figure 2a", "Figure 2b", "Figure 2c", "Steps"))
    assert "| 66.7 [" in markdown.partition("## Table 3")[2]
    values = {(line["table"], line["protocol"], line["metric"], line["domain"]): line["value"] for line in lines}
    assert values["table3", "S4", "macro_accuracy", ""] == "0.666667"
    assert values["figure2a", "S2", "step_error_delta_QUA", ""] == "0.316667"
    assert values["figure2b", "S5", "step_accuracy_PER", ""] == "0.750000"
    assert values["figure2c", "S4", "first_error_GND", ""] == "0.333333"


def test_boxes_of_another_convention_are_converted_and_counted() -> None:
    """Qwen3-VL writes thousandths: r1's boxes times a thousand are right, and two answers were converted."""
    turns = [
        {"text": "[[100, 100, 120, 120], [200, 200, 220, 220]]", "finish_reason": "stop", "asks": "S1"},
        {"text": "2", "finish_reason": "stop", "asks": "S2"},
        {"text": "[[600, 600, 700, 700]]", "finish_reason": "stop", "asks": "S3"},
        {"text": "Final answer: B", "finish_reason": "stop"},
    ]

    report = report_of([response("r1", "", protocol="S4", turns=turns)])

    converted = values_of(report, "steps")["converted"]
    assert (converted, value_of(report, "steps_domains", "GND", domain="rs").value) == (2, 0.5)


SOME = st.sets(st.sampled_from(sorted(SAMPLES)), min_size=1).map(sorted)


@settings(deadline=None, max_examples=20)
@given(names=SOME)
def test_a_perfect_responder_is_perfect_everywhere(names: list[str]) -> None:
    """Whatever samples there are: 100 % in every cell and operation, and NoErr is 1; absent domains count nothing."""
    chosen = dataset_of(SAMPLES[name] for name in names)
    responses = [answer(sample, f"S{n}", knows=everything) for sample in chosen.samples for n in range(6)]

    report = report_of(responses, chosen)

    assert {cell.accuracy.value for cell in report.cells} == {1.0}
    for protocol in STEP_PROTOCOLS:
        assert set(rounded(report, "steps", protocol=protocol).values()) == {1.0}
    assert value_of(report, "figure2c", "NoErr").value == 1.0
    assert set(rounded(report, "figure2a").values()) == {0.0}


@settings(deadline=None, max_examples=20)
@given(operation=st.sampled_from(OPERATIONS), protocol=st.sampled_from(STEP_PROTOCOLS))
def test_failing_one_operation_moves_that_one_alone(operation: Operation, protocol: str) -> None:
    """All its steps are wrong: its accuracy is 0, every other one 1."""
    responses = [answer(sample, protocol, knows=all_but(operation)) for sample in SAMPLES.values()]

    assert profile_of(report_of(responses)) == {name: float(name != operation) for name in OPERATIONS}


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000))
def test_the_order_of_samples_and_responses_changes_nothing(seed: int) -> None:
    """Every table, figure and profile is the same."""
    draws = random.Random(seed)
    responses = [reply for protocol in ("S0", "S2", "S4", "S5") for reply in worked(protocol, wrong=("r1",))]
    mixed = dataset_of(draws.sample(DATASET.samples, len(DATASET.samples)))

    shuffled = report_of(draws.sample(responses, len(responses)), mixed)

    assert shuffled == report_of(responses)
