"""Intervals and macro averages against worked numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.evaluation.metrics.accuracy import Contrast, Strata
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import Z, proportion, wilson
from gigavqa.evaluation.sample_columns import SampleColumns
from tests.benchmarks.ultravr.good_records import good_sample

GROUPING = UltraVR.grouping


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


def strata_of(**domains: int) -> Strata:
    """So many samples of each domain."""
    records = {"rs": "rs-logic", "ad": "ad-choice", "cctv": "cctv-comparison", "wsi": "wsi-comparison"}
    samples = [good_sample(records[name], id=f"{name}{at}") for name, count in domains.items() for at in range(count)]
    return Strata.of(SampleColumns.of(samples), GROUPING)


def test_a_macro_average_of_many_has_the_normal_interval() -> None:
    """Two domains of 400, half of them right: 1.96 standard errors of sqrt(0.25 / 400 / 2), but for one degree each."""
    correct = np.array([0.0, 1.0] * 400)

    macro = Contrast({"V2": correct}, strata_of(rs=400, ad=400)).accuracy("V2")

    error = (0.25 / 399 / 2) ** 0.5
    assert (macro.low, macro.high) == (pytest.approx(0.5 - Z * error), pytest.approx(0.5 + Z * error))


def test_nothing_right_may_still_be_some() -> None:
    """0 of 10 in each of two domains: Wilson's 27.75 % of either, divided by the root of two."""
    macro = Contrast({"V2": np.zeros(20)}, strata_of(rs=10, ad=10)).accuracy("V2")

    assert (macro.value, macro.low, macro.high) == (0.0, 0.0, pytest.approx(0.2775 / 2**0.5, abs=1e-4))


def test_a_macro_of_one_domain_is_that_domains_accuracy() -> None:
    """The same number has the same interval."""
    correct = np.array([1.0, 0.0, 1.0, 1.0])

    assert Contrast({"V2": correct}, strata_of(rs=4)).accuracy("V2") == proportion(correct)


@given(
    rights=st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=12
    ),
    same=st.booleans(),
    constant=st.sampled_from([None, 0.0, 1.0]),
)
def test_no_interval_has_zero_width(rights: list[tuple[float, float]], constant: float | None, *, same: bool) -> None:
    """Nor does any leave out its own number, or what an accuracy or a gap can be: also where all agree."""
    full, text_only = np.array(rights).T if constant is None else np.full((2, len(rights)), constant)
    contrast = Contrast({"V2": full, "V0": full if same else text_only}, strata_of(rs=1, ad=len(rights) - 1))

    for estimate, least in ((contrast.accuracy("V2"), 0.0), (contrast.gap("V2", "V0"), -1.0)):
        assert None not in (estimate.value, estimate.low, estimate.high)
        low, value, high = (float(end or 0.0) for end in (estimate.low, estimate.value, estimate.high))
        assert least - 1e-9 <= low <= value + 1e-9
        assert value - 1e-9 <= high <= 1 + 1e-9
        assert high - low > 0.01


def test_gaps_are_paired() -> None:
    """Two conditions that are right about the same samples differ less surely than two that are not."""
    first = np.array([1.0, 0.0] * 20)
    contrast = Contrast({"V2": first, "same": first.copy(), "other": 1 - first}, strata_of(rs=40))
    same, other = contrast.gap("V2", "same"), contrast.gap("V2", "other")

    assert (same.value, same.count, other.value) == (0.0, 40, 0.0)
    assert width(same) < width(other) / 3


def width(estimate: Estimate) -> float:
    """The width of an interval."""
    return (estimate.high or 0.0) - (estimate.low or 0.0)


def test_a_gap_and_its_count_are_over_the_same_samples() -> None:
    """V2 has four samples, right twice; V0 the last two, right once: over these two V2 is right both times, gap 0.5."""
    full, text_only = np.array([0.0, 0.0, 1.0, 1.0]), np.array([np.nan, np.nan, 1.0, 0.0])

    gap = Contrast({"V2": full, "V0": text_only}, strata_of(rs=4)).gap("V2", "V0")

    assert (gap.value, gap.count) == (0.5, 2)


def test_an_interval_depends_on_its_own_numbers_alone() -> None:
    """Whatever other cells stand beside it, with other values and other gaps in them."""
    draws = np.random.default_rng(5)
    first, second, third = (draws.random((3, 30)) < 0.6).astype(float)
    third[draws.random(30) < 0.3] = np.nan
    strata = strata_of(rs=15, ad=15)

    alone = Contrast({"V2": first, "V1": second}, strata)
    among = Contrast({"V4": third, "V1": second, "V3": 1 - first, "V2": first}, strata)

    assert alone.accuracy("V2") == among.accuracy("V2")
    assert alone.gap("V2", "V1") == among.gap("V2", "V1")


def test_scores_below_zero_are_no_missing_ones() -> None:
    """Penalized scores from -1 to 1: -1, -1, 1 and one missing have the mean -1/3 over three."""
    score = proportion(np.array([-1.0, -1.0, np.nan, 1.0]), lowest=-1.0)

    assert (score.value, score.count) == (pytest.approx(-1 / 3), 3)
    third = wilson(1 / 3, 3)
    assert score.low == pytest.approx(2 * (third.low or 0.0) - 1)
    assert score.high == pytest.approx(2 * (third.high or 0.0) - 1)


def test_a_gap_covers_only_the_domains_that_both_conditions_have() -> None:
    """RS 1.0 and AD 0.0 under V2, RS 0.5 alone under V0: the contrast are 0.5 and 0.5, the gap is RS's 0.5."""
    samples = [good_sample("rs-logic", id="r1"), good_sample("rs-logic", id="r2"), good_sample("ad-choice", id="a1")]
    full, text_only = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, np.nan])

    contrast = Contrast({"V2": full, "V0": text_only}, Strata.of(SampleColumns.of(samples), GROUPING))

    assert (contrast.accuracy("V2").value, contrast.accuracy("V0").value) == (0.5, 0.5)
    assert (contrast.gap("V2", "V0").value, contrast.gap("V2", "V0").count) == (0.5, 2)


def test_a_gap_counts_scored_samples_alone() -> None:
    """One of the two awaits its answer."""
    samples = [good_sample("rs-logic", id="r1"), good_sample("wsi-comparison", id="w1", answer="")]
    both = np.array([1.0, 0.0])

    assert (
        Contrast({"V2": both, "V1": both.copy()}, Strata.of(SampleColumns.of(samples), GROUPING)).gap("V2", "V1").count
        == 1
    )


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=1, max_size=30))
def test_every_estimate_lies_in_its_interval(values: list[float]) -> None:
    """A proportion lies between the ends of its interval, which lie between 0 and 1."""
    estimate = proportion(np.array(values))

    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        assert 0 <= estimate.low <= estimate.value + 1e-12
        assert estimate.value - 1e-12 <= estimate.high <= 1
