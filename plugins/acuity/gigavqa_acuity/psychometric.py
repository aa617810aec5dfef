"""The rise of accuracy with size: a psychometric function, fitted by maximum likelihood, and its threshold.

p(x) = g + (1 - g - l) F((log2 x - m) / s), with chance g fixed, lapses l up to a tenth, and the logistic F. The
threshold is where p is a half. It is found on a grid, since the likelihood of a draw of pictures is then a sum of
theirs: all draws are one matrix product. Source: Wichmann and Hill 2001, "The psychometric function" I and II.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.evaluation.metrics.clusters import bootstrap_clusters
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices
from gigavqa_acuity.taxonomy import CHANCE

THRESHOLD_ACCURACY = 0.5
"""Accuracy at the threshold."""
_LAPSES = np.array([0.0, 0.02, 0.05, 0.1])
_SPREADS = np.geomspace(0.1, 1.6, 7)
"""Scales of F, in octaves."""
_STEP = 0.25
"""Octaves between thresholds of the grid; a parabola finds the place between them."""
_BEYOND = 1.0
"""Octaves by which the grid reaches beyond the sizes that were shown."""
_FEWEST_SIZES = 3
_FEWEST = 12
_SEEN = 7.815
"""What twice the gain in log-likelihood over chance must exceed: chi-square's 95 % point of the three parameters."""
_LIKELY = 3.841
"""Chi-square's 95 % point of one parameter."""
_TINY = 1e-12

ThresholdBound = Literal["", "below", "above", "chance", "few"]
"""Why there is no threshold: it lies below the least size shown, or above the greatest; all is at chance; too few."""


@dataclass(frozen=True)
class OptotypeTrials:
    """Answers to optotypes that were shown: pixels per optotype, right (1) or wrong (0), and the number of the picture.

    Answers about one picture are not independent, so whole pictures are drawn.
    """

    pixels: Floats
    right: Floats
    pictures: Indices

    def where(self, chosen: NDArray[np.bool_]) -> "OptotypeTrials":
        """Return those that are chosen."""
        return OptotypeTrials(self.pixels[chosen], self.right[chosen], self.pictures[chosen])


class PsychometricCurve(NamedTuple):
    """A fitted function; the threshold in pixels, without a value where `bound` says why.

    `at` is the size that `bound` names in pixels, `spread` is s in octaves, `lapse` the share of slips at any size.
    """

    threshold: Estimate
    bound: ThresholdBound = ""
    at: float = 0.0
    spread: float | None = None
    lapse: float | None = None


@dataclass(frozen=True)
class _LikelihoodGrid:
    """Log-likelihoods of all functions of the grid, of each picture of some trials."""

    trials: OptotypeTrials

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Least and greatest size shown, in octaves."""
        sizes = np.log2(self.trials.pixels)
        return float(sizes.min()), float(sizes.max())

    @cached_property
    def thresholds(self) -> Floats:
        """The thresholds in octaves."""
        return _thresholds(np.log2(self.trials.pixels), _STEP)

    @cached_property
    def likelihoods(self) -> Floats:
        """Pictures x (thresholds x spreads x lapses)."""
        told = _likelihoods(self.trials, self.thresholds)
        pictures, number = np.unique(self.trials.pictures, return_inverse=True)
        summed = np.zeros((len(pictures), told[0].size))
        np.add.at(summed, number, told.reshape(len(told), -1))
        return summed

    @cached_property
    def total(self) -> Floats:
        """The same of all pictures together."""
        total: Floats = self.likelihoods.sum(axis=0)
        return total

    @cached_property
    def bound(self) -> ThresholdBound:
        """Why there is no threshold; nothing where there is one."""
        right = self.trials.right
        if len(right) < _FEWEST or len(np.unique(self.trials.pixels)) < _FEWEST_SIZES:
            return "few"
        guessed = float(np.where(right > 0, np.log(CHANCE), np.log(1 - CHANCE)).sum())
        if 2 * (self.total.max() - guessed) < _SEEN:
            return "chance"
        low, high = self.ends
        best = float(self.best(self.total[None])[0])
        return "below" if best <= low else "above" if best >= high else ""

    @property
    def shape(self) -> tuple[float, float]:
        """Spread and lapse of the likeliest function."""
        steps = len(self.thresholds), len(_SPREADS), len(_LAPSES)
        _, spread, lapse = np.unravel_index(self.total.argmax(), steps)
        return float(_SPREADS[spread]), float(_LAPSES[lapse])

    def best(self, sums: Floats) -> Floats:
        """Return the likeliest threshold of each draw, in octaves, of sums over its pictures."""
        profile = sums.reshape(len(sums), len(self.thresholds), -1).max(axis=2)
        at = np.clip(profile.argmax(axis=1), 1, len(self.thresholds) - 2)
        before, there, behind = (np.take_along_axis(profile, (at + step)[:, None], 1)[:, 0] for step in (-1, 0, 1))
        bend = before - 2 * there + behind
        with np.errstate(invalid="ignore", divide="ignore"):
            aside = np.where(bend < 0, (before - behind) / (2 * bend), np.sign(behind - before))
        best: Floats = self.thresholds[at] + _STEP * np.clip(aside, -1, 1)
        return best


def _thresholds(sizes: Floats, step: float) -> Floats:
    """Return the grid's thresholds around sizes, all in octaves."""
    octaves: Floats = np.arange(sizes.min() - _BEYOND, sizes.max() + _BEYOND + step, step, dtype=np.float64)
    return octaves


def _likelihoods(trials: OptotypeTrials, thresholds: Floats) -> Floats:
    """Log-likelihoods: trials x thresholds x (spreads x lapses)."""
    spreads, lapses = (each.ravel() for each in np.meshgrid(_SPREADS, _LAPSES, indexing="ij"))
    share = (THRESHOLD_ACCURACY - CHANCE) / (1 - CHANCE - lapses)
    middle = thresholds[:, None] - spreads * np.log(share / (1 - share))
    sizes = np.log2(trials.pixels)[:, None, None]
    rates = CHANCE + (1 - CHANCE - lapses) / (1 + np.exp(np.clip((middle - sizes) / spreads, -60, 60)))
    told: Floats = np.log(np.where(trials.right[:, None, None] > 0, rates, np.maximum(1 - rates, _TINY)))
    return told


def _bound(shown: OptotypeTrials) -> ThresholdBound:
    return _LikelihoodGrid(shown).bound if len(shown.right) else "few"


def fit_curve(trials: OptotypeTrials) -> PsychometricCurve:
    """Fit a function; 95 % of 2,000 seeded draws of pictures lie between the threshold's ends.

    The ends lie at most an octave beyond the sizes that were shown.
    """
    shown = trials.where(trials.pixels > 0)
    if not len(shown.right):
        return PsychometricCurve(NO_ESTIMATE, "few")
    grid = _LikelihoodGrid(shown)
    if bound := grid.bound:
        low, high = grid.ends
        at = {"below": low, "above": high}.get(bound, -np.inf)
        return PsychometricCurve(Estimate(value=None, count=len(shown.right)), bound, float(2**at))
    octaves = bootstrap_clusters([grid.likelihoods], grid.best, len(shown.right))
    return PsychometricCurve(_in_pixels(octaves), "", 0.0, *grid.shape)


def threshold_ratio(first: OptotypeTrials, second: OptotypeTrials) -> Estimate:
    """Return the first threshold over the second, of functions that are alike in all else; or nothing.

    There is nothing where the first lies below what was shown, or either reads nothing. The interval holds what is
    likely by the profile of the likelihood, over answers: one function for both leaves little to lucky guesses, where
    two that are drawn anew have thresholds anywhere.
    """
    one, other = (trials.where(trials.pixels > 0) for trials in (first, second))
    if _bound(one) in ("few", "below", "chance") or _bound(other) in ("few", "chance"):
        return NO_ESTIMATE
    thresholds = _thresholds(np.log2(np.concatenate([one.pixels, other.pixels])), _STEP / 2)
    first_told, second_told = (_likelihoods(trials, thresholds).sum(axis=0) for trials in (one, other))
    most = len(thresholds) - 1
    steps = range(-most, most + 1)
    profile = np.array([_shifted_likelihoods(first_told, second_told, step).max() for step in steps])
    octaves = np.array(steps) * _STEP / 2
    likely = octaves[2 * (profile.max() - profile) <= _LIKELY]
    ends = {"low": float(2 ** likely.min()), "high": float(2 ** likely.max())}
    return Estimate(value=float(2 ** octaves[profile.argmax()]), count=len(one.right) + len(other.right), **ends)


def _shifted_likelihoods(first: Floats, second: Floats, steps: int) -> Floats:
    """Log-likelihoods of both, the first one's threshold so many steps beyond the second's."""
    number = len(first) - abs(steps)
    both: Floats = first[max(steps, 0) :][:number] + second[max(-steps, 0) :][:number]
    return both


def join_trials(parts: Sequence[OptotypeTrials]) -> OptotypeTrials:
    """Return the trials of several conditions together."""
    columns = ((part.pixels, part.right, part.pictures) for part in parts)
    pixels, right, pictures = (np.concatenate(column) for column in zip(*columns, strict=True))
    return OptotypeTrials(pixels, right, pictures)


def _in_pixels(octaves: Estimate) -> Estimate:
    ends = {name: None if end is None else float(2**end) for name, end in octaves if name != "count"}
    return Estimate(count=octaves.count, **ends)
