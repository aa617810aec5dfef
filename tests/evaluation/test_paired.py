"""Paired tests and their correction, beside values that are known."""

from math import nan

import numpy as np
import pytest

from gigavqa.evaluation.metrics.paired import holm, paired_test


def _cells(better: int, worse: int, same: int) -> tuple[np.ndarray, np.ndarray]:
    first = [1.0] * better + [0.0] * worse + [1.0] * same
    second = [0.0] * better + [1.0] * worse + [1.0] * same
    return np.array(first), np.array(second)


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (8, 2, 0.109375), (10, 10, 1.0), (30, 10, 0.002221433773229)],
)
def test_p_is_mcnemars_exact_one(better: int, worse: int, p: float) -> None:
    """As the binomial coefficients give it, added up as fractions; what both have alike changes nothing."""
    for same in (0, 50):
        found = paired_test(*_cells(better, worse, same))
        assert found.p == pytest.approx(p, rel=1e-9)
        assert (found.both, found.first_better, found.second_better) == (better + worse + same, better, worse)


def test_samples_that_one_lacks_count_nowhere() -> None:
    """A missing answer is no wrong one."""
    assert paired_test(np.array([1.0, nan, 1.0]), np.array([0.0, 0.0, nan])).both == 1


def test_many_samples_give_a_small_p_and_no_overflow() -> None:
    """Hundreds of thousands of discordant pairs."""
    assert paired_test(*_cells(150_000, 100_000, 0)).p == 0.0
    assert paired_test(*_cells(100_000, 100_000, 0)).p == 1.0


def test_holm_steps_down_and_never_falls() -> None:
    """The example of Holm's procedure with four hypotheses: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 raised to it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []
