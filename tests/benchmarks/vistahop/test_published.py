"""The paper's printed numbers, as arithmetic that our levels, weighting and process numbers must keep to."""

import numpy as np
import pytest

from benchmarks.vistahop.benchmark import VistaHop
from benchmarks.vistahop.metrics import pass_at_1
from benchmarks.vistahop.sheet import Sheet
from evaluation.verdicts import Judges, Tally, Verdicts
from tests.benchmarks.vistahop.examples import sample

TABLE4 = """
7.36 9.52 4.80 0.00 1.00 0.0|16.79 20.70 12.14 6.88 7.81 68.8|18.97 22.57 14.70 7.65 8.55 76.5
8.01 10.57 4.96 0.00 1.00 0.0|18.47 22.96 13.13 7.26 8.08 72.6|20.14 24.92 14.47 8.12 8.98 81.2
7.58 9.61 5.16 0.00 1.00 0.0|16.97 20.83 12.39 6.73 7.57 67.3|18.19 21.81 13.90 7.54 8.32 75.4
6.37 8.58 3.75 0.00 1.00 0.0|14.45 18.83 9.24 6.12 7.10 61.2|16.60 20.42 12.06 6.90 7.86 69.0
8.85 11.61 5.57 0.00 1.00 0.0|19.24 24.05 13.52 7.41 8.27 74.1|20.79 25.38 15.35 8.30 9.19 83.0
8.10 11.03 4.63 0.00 1.00 0.0|21.71 27.25 15.13 8.04 8.95 80.4|24.31 29.29 18.39 8.94 9.66 89.4
7.75 11.04 3.85 0.00 1.00 0.0|19.60 24.03 14.35 7.83 8.72 78.3|21.80 26.38 16.36 8.66 9.49 86.6
"""
"""A line a model: No-Tool, Search, Search+Crop; P@1, L2, L3, Calls, Rnds, Util."""
TABLE5 = {
    6: (21.15, 25.63, 15.82, 5.29, 5.84, 88.2),
    8: (23.14, 28.24, 17.09, 7.03, 7.65, 87.9),
    10: (24.31, 29.29, 18.39, 8.94, 9.66, 89.4),
    12: (23.65, 28.71, 17.64, 9.67, 10.43, 80.6),
    14: (22.75, 27.83, 16.71, 10.13, 11.06, 72.4),
}
NO_TOOL, SEARCH, CROP = (
    np.array([[float(number) for number in line.split("|")[at].split()] for line in TABLE4.strip().splitlines()])
    for at in range(3)
)
ROWS = [*NO_TOOL, *SEARCH, *CROP, *map(np.array, TABLE5.values())]
SPLIT = (190, 160)
"""Questions on a single chain, of which all have fewer than ten hops, and fused ones."""


def sheet() -> Sheet:
    """350 questions: single chains of seven hops, and two fused."""
    samples = [sample(f"s{at}", 7 if at < SPLIT[0] else 14) for at in range(sum(SPLIT))]
    judges = Judges(samples, VistaHop().judge, {})
    return Sheet.of(Verdicts(Tally(samples, judges, []), {}, {}))


def test_pass_at_1_is_the_mean_of_both_levels_by_their_samples() -> None:
    """In all 26 rows, as our own levels and means have it; there is no L1."""
    filled = sheet()
    assert [(level, len(at)) for level, at in filled.levels.items()] == [("L2", 190), ("L3", 160)]
    for over_all, second, third, *_ in ROWS:
        scores = np.full(sum(SPLIT), second / 100)
        scores[filled.levels["L3"]] = third / 100
        assert 100 * (pass_at_1(scores).value or 0) == pytest.approx(over_all, abs=0.0051)


def test_no_other_split_fits() -> None:
    """Which is how the split is known."""

    def fits(count: int) -> bool:
        return all(abs((count * row[1] + (350 - count) * row[2]) / 350 - row[0]) <= 0.0101 for row in ROWS)

    assert [count for count in range(351) if fits(count)] == [190]


def test_utilization_is_calls_of_those_allowed() -> None:
    """N is the number of calls that are allowed, the last round's among them."""
    for limit, row in [*((10, row) for row in (*SEARCH, *CROP)), *TABLE5.items()]:
        assert 100 * row[3] / limit == pytest.approx(row[5], abs=0.0501)


def test_means_in_the_text_are_plain_means_over_models() -> None:
    """To the digits that are printed."""
    means = [round(float(value), 3) for value in (NO_TOOL[:, 0].mean(), CROP[:, 0].mean(), CROP[:, 1].mean())]
    assert means == [7.717, 20.114, 24.396]
    assert [round(float(value), 3) for value in (CROP[:, 2].mean(), CROP[:, 3].mean())] == [15.033, 8.016]
    assert round(float(SEARCH[:, 0].mean()), 3) == 18.176


def test_rounds_without_a_counted_call_are_at_most_one() -> None:
    """They are answers and malformed calls, and are more where more rounds are allowed."""
    left = [row[4] - row[3] for row in (*SEARCH, *CROP)]
    assert round(min(left), 2) >= 0.72 and round(max(left), 2) <= 0.98
    assert [round(row[4] - row[3], 2) for row in TABLE5.values()] == [0.55, 0.62, 0.72, 0.76, 0.93]
    assert all(row[0] / 100 <= row[4] - row[3] for row in ROWS)
