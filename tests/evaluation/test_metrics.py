"""Intervals against worked numbers, and the paper's own gap columns from its printed accuracies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.accuracy import Macros, Strata
from evaluation.metrics.intervals import proportion, resampled_means, wilson
from evaluation.reporting.tables import TABLE2_GAPS
from tests.evaluation.good_records import good_sample

PRINTED_TABLE2 = {
    "GPT-5.5": (36.0, 44.6, 50.1, 43.0, +8.6, +5.5, -1.6),
    "GPT-5.4": (29.2, 32.8, 38.4, 33.7, +3.6, +5.6, +0.9),
    "Gemini-3.1-Pro": (36.7, 40.6, 48.8, 39.4, +3.9, +8.2, -1.2),
    "Qwen3.5-27B": (24.5, 33.8, 37.8, 24.7, +9.3, +4.0, -9.1),
    "InternVL3.5-38B": (28.2, 28.4, 27.6, 29.0, +0.2, -0.8, +0.6),
    "Gemma-4-26B": (29.4, 30.2, 38.0, 29.8, +0.8, +7.8, -0.4),
    "GLM-4.5V": (22.7, 27.3, 30.8, 24.5, +4.6, +3.5, -2.8),
    "DeepSeek-VL2": (27.8, 26.4, 29.4, 26.1, -1.4, +3.0, -0.3),
    "MiniCPM-V 4.5": (21.8, 27.3, 31.2, 30.4, +5.5, +3.9, +3.1),
    "Phi-4-RV-15B": (27.1, 29.5, 30.2, 30.0, +2.4, +0.7, +0.5),
    "Kimi-VL-A3B-Thinking": (26.3, 27.5, 30.4, 25.5, +1.2, +2.9, -2.0),
}
"""Table 2 of the paper: V1, V2, V3, V4, and the columns of gaps."""


@pytest.mark.parametrize("model", PRINTED_TABLE2)
def test_our_gaps_are_what_the_printed_columns_hold(model: str) -> None:
    """Each printed gap is the difference of the printed accuracies that our table names, within rounding."""
    *accuracies, res, access, aug = PRINTED_TABLE2[model]
    by_condition = dict(zip(("V1", "V2", "V3", "V4"), accuracies, strict=True))

    for name, printed in (("res", res), ("access", access), ("aug", aug)):
        first, second = TABLE2_GAPS[name]
        assert by_condition[first] - by_condition[second] == pytest.approx(printed, abs=0.11)


def test_wilson_of_eight_in_ten() -> None:
    """8 of 10: centre (0.8 + 0.19207) / 1.38415 = 0.71674, half width 0.22658, so 0.4902 to 0.9433."""
    estimate = wilson(0.8, 10)

    assert (estimate.value, estimate.count) == (0.8, 10)
    assert (estimate.low, estimate.high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))


def test_wilson_of_nothing_in_ten_starts_at_zero() -> None:
    """0 of 10 may still be as much as 27.8 %: 3.84146 / (10 + 3.84146)."""
    estimate = wilson(0.0, 10)

    assert (estimate.low, estimate.high) == (0.0, pytest.approx(0.2775, abs=1e-4))


def test_a_sample_without_a_value_counts_in_no_proportion() -> None:
    """NaN is no zero."""
    assert proportion(np.array([1.0, np.nan, 0.0])).count == 2
    assert proportion(np.array([np.nan])).value is None


def test_resampled_means_spread_as_theory_says() -> None:
    """The mean of 400 samples, half of them right, has a standard error of 0.5 / sqrt(400) = 0.025."""
    values = np.array([[0.0], [1.0]] * 200)

    draws = resampled_means(values, [np.arange(400)])

    assert draws.mean() == pytest.approx(0.5, abs=0.003)
    assert draws.std() == pytest.approx(0.025, abs=0.003)


def test_gaps_are_paired() -> None:
    """Where two conditions are right about the same samples, their gap is zero in every resample."""
    strata = Strata.of([good_sample("rs-logic", id=f"s{number}") for number in range(10)])
    same = np.array([1.0, 0.0] * 5)

    gap = Macros.of({"V2": same, "V1": same.copy()}, strata).gap("V2", "V1")

    assert (gap.value, gap.low, gap.high, gap.count) == (0.0, 0.0, 0.0, 10)


def test_a_gap_covers_only_the_domains_that_both_conditions_have() -> None:
    """RS 1.0 and AD 0.0 under V2, RS 0.5 alone under V0: the macros are 0.5 and 0.5, the gap is RS's 0.5."""
    samples = [good_sample("rs-logic", id="r1"), good_sample("rs-logic", id="r2"), good_sample("ad-choice", id="a1")]
    full, text_only = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, np.nan])

    macros = Macros.of({"V2": full, "V0": text_only}, Strata.of(samples))

    assert (macros.accuracy("V2").value, macros.accuracy("V0").value) == (0.5, 0.5)
    assert macros.gap("V2", "V0").value == 0.5


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=1, max_size=30))
def test_every_estimate_lies_in_its_interval(values: list[float]) -> None:
    """A proportion lies between the ends of its interval, which lie between 0 and 1."""
    estimate = proportion(np.array(values))

    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        assert 0 <= estimate.low <= estimate.value + 1e-12
        assert estimate.value - 1e-12 <= estimate.high <= 1
