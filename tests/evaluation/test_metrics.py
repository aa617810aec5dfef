"""Intervals and macro averages against worked numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.accuracy import Macros, Strata
from evaluation.metrics.intervals import proportion, resampled_means, wilson
from tests.evaluation.good_records import good_sample


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
    assert (macros.gap("V2", "V0").value, macros.gap("V2", "V0").count) == (0.5, 2)


def test_a_gap_counts_scored_samples_alone() -> None:
    """One of the two awaits its answer."""
    samples = [good_sample("rs-logic", id="r1"), good_sample("wsi-comparison", id="w1", answer="")]
    both = np.array([1.0, 0.0])

    assert Macros.of({"V2": both, "V1": both.copy()}, Strata.of(samples)).gap("V2", "V1").count == 1


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=1, max_size=30))
def test_every_estimate_lies_in_its_interval(values: list[float]) -> None:
    """A proportion lies between the ends of its interval, which lie between 0 and 1."""
    estimate = proportion(np.array(values))

    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        assert 0 <= estimate.low <= estimate.value + 1e-12
        assert estimate.value - 1e-12 <= estimate.high <= 1
