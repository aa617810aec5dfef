"""Fits of simulated observers: known thresholds are found, at the stated rate, and where there is none none is told."""

import numpy as np
import pytest

from gigavqa_acuity.psychometric import OptotypeTrials, fit_curve, join_trials, threshold_ratio

PICTURES = 128


def observed(
    threshold: float, *, spread: float = 0.35, lapse: float = 0.02, seed: int = 0, sizes: tuple[float, float] = (1, 96)
) -> OptotypeTrials:
    """Two answers about each picture of an observer who is right in half of those to signs of `threshold` pixels."""
    rng = np.random.default_rng(seed)
    octaves = np.repeat(rng.uniform(np.log2(sizes[0]), np.log2(sizes[1]), PICTURES), 2)
    share = 0.25 / (0.75 - lapse)
    middle = np.log2(threshold) - spread * np.log(share / (1 - share))
    rates = 0.25 + (0.75 - lapse) / (1 + np.exp((middle - octaves) / spread))
    right = (rng.random(len(rates)) < rates).astype(np.float64)
    return OptotypeTrials(np.exp2(octaves), right, np.repeat(np.arange(PICTURES), 2))


def answered(right: float) -> OptotypeTrials:
    """The same trials, of which all are right or all wrong."""
    trials = observed(5)
    return OptotypeTrials(trials.pixels, np.full_like(trials.right, right), trials.pictures)


@pytest.mark.parametrize("threshold", [3.0, 11.0, 30.0])
def test_known_thresholds_lie_within_the_interval_as_often_as_it_says(threshold: float) -> None:
    """Of 40 observers of each, nine in ten at least: less than 36 would be a chance of one in thirty at 95 %."""
    curves = [fit_curve(observed(threshold, seed=seed)).threshold for seed in range(40)]
    within = sum((one.low or 0) <= threshold <= (one.high or 0) for one in curves)
    assert within >= 36
    assert np.median([one.value or 0 for one in curves]) == pytest.approx(threshold, rel=0.1)


def test_steep_and_flat_curves_are_told_apart() -> None:
    """The spread is that of the nearest curve on the grid."""
    steep, flat = (fit_curve(observed(8, spread=spread, lapse=0)).spread for spread in (0.15, 1.0))
    assert steep is not None and flat is not None
    assert steep < 0.3
    assert flat > 0.6


def test_lapses_are_no_want_of_pixels() -> None:
    """An observer who slips in every tenth answer has the same threshold, and the slips are told."""
    curve = fit_curve(observed(8, lapse=0.1, seed=3, sizes=(1, 2000)))
    assert curve.lapse == pytest.approx(0.1)
    assert (curve.threshold.low or 0) <= 8 <= (curve.threshold.high or 0)


def test_all_right_is_told_as_a_bound() -> None:
    """No number, but the least size that was shown."""
    curve = fit_curve(answered(1.0))
    assert (curve.threshold.value, curve.bound) == (None, "below")
    assert curve.at == pytest.approx(observed(5).pixels.min())


def test_all_wrong_is_at_chance() -> None:
    """An observer below chance reads nothing."""
    assert fit_curve(answered(0.0))[:2] == (fit_curve(answered(0.0)).threshold, "chance")
    assert fit_curve(answered(0.0)).threshold.value is None


@pytest.mark.parametrize("seed", range(8))
def test_who_guesses_reads_nothing(seed: int) -> None:
    """A quarter right at every size is no curve."""
    trials, rng = observed(5), np.random.default_rng(seed)
    guessed = OptotypeTrials(trials.pixels, (rng.random(len(trials.right)) < 0.25).astype(np.float64), trials.pictures)
    assert fit_curve(guessed).bound == "chance"


def test_who_needs_more_than_was_shown_is_told_as_a_bound() -> None:
    """Better than chance at the largest signs, and below a half there: the threshold lies above them."""
    curve = fit_curve(observed(150, spread=0.8, lapse=0, seed=1))
    assert curve.bound == "above"
    assert curve.at == pytest.approx(observed(150, seed=1).pixels.max())


def test_two_sizes_are_too_few() -> None:
    """However many answers there are."""
    sizes = np.tile([4.0, 40.0], 100)
    few = OptotypeTrials(sizes, (sizes > 10).astype(np.float64), np.arange(200))
    assert fit_curve(few).bound == "few"


def test_signs_that_were_not_shown_count_nothing() -> None:
    """A blind condition among others moves no threshold."""
    trials = observed(6)
    blind = OptotypeTrials(np.zeros(50), np.zeros(50), np.arange(50))
    assert fit_curve(join_trials([trials, blind])) == fit_curve(trials)


def test_a_moved_threshold_is_told_as_a_ratio() -> None:
    """Of two observers over the same pictures, one of whom needs three times the pixels."""
    moved = threshold_ratio(observed(15, seed=1), observed(5, seed=2))
    assert (moved.low or 0) < 3 < (moved.high or 0)
    assert (moved.low or 0) > 1.5
    same = threshold_ratio(observed(5, seed=1), observed(5, seed=2))
    assert (same.low or 0) < 1 < (same.high or 0)


def test_what_reads_nothing_or_all_has_no_ratio() -> None:
    """Neither is a threshold that moved."""
    assert threshold_ratio(answered(1.0), observed(5)).value is None
    assert threshold_ratio(answered(0.0), observed(5)).value is None
    assert threshold_ratio(observed(5), answered(0.0)).value is None


@pytest.mark.parametrize("seed", range(10))
def test_thresholds_that_are_equal_are_rarely_told_apart(seed: int) -> None:
    """One in twenty would be at 95 %, and one and a half times as many pixels none of them."""
    assert (threshold_ratio(observed(5, seed=2 * seed), observed(5, seed=2 * seed + 1)).low or 0) < 1.5


def test_draws_are_the_same_every_time() -> None:
    """The same trials give the same digits, in whatever order they come."""
    trials = observed(7)
    order = np.random.default_rng(1).permutation(len(trials.right))
    again = fit_curve(OptotypeTrials(trials.pixels[order], trials.right[order], trials.pictures[order]))
    assert again.threshold.low == pytest.approx(fit_curve(trials).threshold.low, rel=1e-9)
    assert again.threshold.value == pytest.approx(fit_curve(trials).threshold.value, rel=1e-9)
