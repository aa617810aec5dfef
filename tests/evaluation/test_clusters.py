"""Intervals of numbers over samples that share a picture or a document."""

import numpy as np

from gigavqa.evaluation.metrics.clusters import bootstrap_cluster_share, bootstrap_clusters, ratio
from gigavqa.evaluation.metrics.intervals import Floats, wilson

RATE = ratio(0, 1)


def sums(*clusters: tuple[float, float]) -> Floats:
    """Right answers and questions of each cluster."""
    return np.array(clusters, dtype=np.float64)


def test_a_rate_is_over_all_samples_whatever_their_clusters() -> None:
    """Clusters are of different sizes; the mean is over samples, and lies within its interval."""
    found = bootstrap_clusters([sums((1, 2), (3, 3), (0, 4), (2, 2))], RATE, count=11)
    assert found.value == 6 / 11
    assert found.count == 11
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < 6 / 11 < found.high <= 1


def test_samples_that_agree_within_their_cluster_tell_less() -> None:
    """The same 40 of 80 right answers: spread over all clusters, or all or none of a cluster."""
    spread = bootstrap_clusters([sums(*[(1, 2)] * 38, (0, 2), (2, 2))], RATE, count=80)
    alike = bootstrap_clusters([sums(*[(2, 2)] * 20, *[(0, 2)] * 20)], RATE, count=80)
    independent = wilson(0.5, 80)
    widths = [(one.high or 0) - (one.low or 0) for one in (spread, independent, alike)]
    assert widths == sorted(widths)
    assert alike.value == spread.value == 0.5


def test_scores_below_nothing_are_scores() -> None:
    """Penalized guesses: a negative value is no missing one."""
    found = bootstrap_clusters([sums((-1, 2), (-0.5, 2), (0.5, 2))], RATE, count=6)
    assert found.value is not None
    assert np.isclose(found.value, -1 / 6)
    assert found.low is not None
    assert found.low < found.value


def test_repeats_are_averaged_within_every_draw() -> None:
    """A repeat without any value adds nothing; the others count alike."""
    one, other, none = sums((1, 2), (0, 2)), sums((2, 2), (2, 2)), sums((0, 0), (0, 0))
    assert bootstrap_clusters([one, other], RATE, count=4).value == 0.625
    assert bootstrap_clusters([one, other, none], RATE, count=4) == bootstrap_clusters([one, other], RATE, count=4)


def test_what_no_cluster_has_is_no_number() -> None:
    """Neither without clusters that count, nor without repeats."""
    assert bootstrap_clusters([sums((0, 0))], RATE, count=0).value is None
    assert bootstrap_clusters([], RATE, count=0).value is None


def test_the_same_clusters_are_drawn_for_every_number() -> None:
    """A difference of two metrics that agree everywhere has no spread, and so no interval rather than an empty one."""
    both = np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 2.0]])
    first, second = ratio(0, 2), ratio(1, 2)
    difference = bootstrap_clusters([both], lambda drawn: first(drawn) - second(drawn), count=6)
    assert (difference.value, difference.low, difference.high) == (0.0, None, None)


def test_a_share_is_nowhere_surer_than_of_independent_samples() -> None:
    """Whatever its clusters: all right, all alike, or two of them; and wider where whole clusters are right."""
    for clusters in (sums(*[(5, 5)] * 8), sums((3, 5), (3, 5)), sums((5, 5), (0, 5)), sums(*[(1, 2)] * 20)):
        right, asked = clusters.sum(axis=0)
        found, alone = bootstrap_cluster_share([clusters], int(asked)), wilson(right / asked, int(asked))
        assert found.value == alone.value
        assert (found.low or 0) <= (alone.low or 0) and (found.high or 0) >= (alone.high or 0)
    assert (bootstrap_cluster_share([sums(*[(5, 5)] * 8, *[(0, 5)] * 8)], 80).low or 0) < (wilson(0.5, 80).low or 0)
