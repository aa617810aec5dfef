"""Kappa of two reviewers and of more is what its authors say it is."""

import numpy as np
import pytest

from gigavqa.evaluation.metrics.agreement import cohen_kappa, fleiss_kappa

YES_NO = ["yes"] * 25 + ["no"] * 25, ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
"""Two raters of 50 proposals: 20 and 15 alike, so that 0.7 are, and 0.5 by chance."""


def test_two_raters_agree_beyond_chance() -> None:
    """By hand: (0.7 - 0.5) / (1 - 0.5)."""
    found = cohen_kappa(*YES_NO)
    assert (found.value, found.count) == (pytest.approx(0.4), 50)
    assert found.low is not None
    assert found.high is not None
    # Fleiss, Cohen and Everitt, by hand: 0.0504 / (50 * 0.5 ** 4) is the square of the error.
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * (0.0504 / 3.125) ** 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_the_table_of_both(seed: int) -> None:
    """As the quotient of a table's diagonal and margins, whatever the table."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    table = rng.integers(0, 9, (size, size))
    rows, columns = np.nonzero(table)
    first, second = (np.repeat(one, table[rows, columns]).tolist() for one in (rows, columns))
    shares = table / table.sum()
    expected = float(shares.sum(1) @ shares.sum(0))
    assert cohen_kappa(first, second).value == pytest.approx((float(np.trace(shares)) - expected) / (1 - expected))
    assert cohen_kappa(second, first).value == pytest.approx(cohen_kappa(first, second).value)


def test_many_raters_agree_beyond_chance() -> None:
    """The example of Fleiss' kappa that textbooks print: ten subjects, fourteen raters, five categories."""
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    ratings = [[name for name, number in enumerate(row) for _ in range(number)] for row in table]
    assert fleiss_kappa(ratings).value == pytest.approx(0.2099, abs=1e-4)


def test_what_says_nothing_has_no_value() -> None:
    """No sample that two saw; one category alone; and agreement on all has no width."""
    assert cohen_kappa([], []).value is None
    assert fleiss_kappa([["keep"]]).value is None
    assert cohen_kappa(["keep"] * 3, ["keep"] * 3).value is None
    assert fleiss_kappa([["keep", "keep"]]).value is None
    whole = cohen_kappa(["keep", "drop"], ["keep", "drop"])
    assert (whole.value, whole.low, whole.high) == (1, None, None)
