"""The paper's printed numbers, as arithmetic that our levels, weighting and process numbers must keep to."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.metrics import compare_judges, pass_at_1
from gigavqa.benchmarks.vistahop.scores import VistaHopScores
from gigavqa.benchmarks.vistahop.sidecars import FAILURE_TYPES
from gigavqa.benchmarks.vistahop.taxonomy import ANCHOR_KINDS, ANSWER_TYPES, FORMS, FUSED
from gigavqa.evaluation.sample_columns import SampleColumns
from gigavqa.evaluation.sample_judges import SampleJudges
from gigavqa.evaluation.scores import Scores
from gigavqa.evaluation.tally import Tally
from tests.benchmarks.vistahop.examples import reported, sample
from tests.reports.tables import values_of

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


def sheet() -> VistaHopScores:
    """350 questions: single chains of seven hops, and two fused."""
    samples = [sample(f"s{at}", 7 if at < SPLIT[0] else 14) for at in range(sum(SPLIT))]
    judges = SampleJudges(samples, VistaHop().judge, {})
    return VistaHopScores(Scores(samples, Tally(samples, judges, []).frame(), {}, {}, SampleColumns.of(samples)))


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


def test_what_tools_add_is_a_difference_of_means() -> None:
    """Search adds most; zooms add 1.22 to 2.60 to every model."""
    assert round(float((SEARCH - NO_TOOL)[:, 0].mean()), 2) == 10.46
    crops = (CROP - SEARCH)[:, 0]
    assert [round(float(value), 2) for value in (crops.mean(), crops.min(), crops.max())] == [1.94, 1.22, 2.6]


def test_few_rounds_are_too_few_for_many_chats() -> None:
    """A chat that ran out of rounds has no round without a call: at least 45 % of them at N = 6, and 7 % at 14."""
    assert [round(100 * (1 - row[4] + row[3])) for row in TABLE5.values()] == [45, 38, 28, 24, 7]


@pytest.mark.parametrize(("column", "count", "agreeing"), [(0, 350, 4), (1, 190, 1), (2, 160, 4)])
def test_printed_rates_are_no_means_of_five_runs_of_verdicts(column: int, count: int, agreeing: int) -> None:
    """Of 21 rates so few are a multiple of one verdict, as many as chance has it: no counts are made of them."""
    rates = [row[column] for row in (*NO_TOOL, *SEARCH, *CROP)]
    unit = 100 / (5 * count)
    assert sum(is_rounded(rate, round(rate / unit) * unit, 2) for rate in rates) == agreeing


def is_rounded(printed: float, value: float, digits: int) -> bool:
    """Whether a value may be printed so."""
    return abs(printed - value) <= 0.5 * 10**-digits + 1e-9


def bases(shares: Sequence[float], most: int) -> list[int]:
    """The numbers of things of which all the shares, in % to a digit, can be whole numbers."""
    return [
        base
        for base in range(1, most + 1)
        if all(is_rounded(share, 100 * round(share * base / 100) / base, 1) for share in shares)
    ]


TABLE6 = {"seed": 94.8, "relation": 92.6, "answer": 96.1, "hops": 89.7, "question": 91.3}
TABLE7 = {"shortcut": 27.1, "unresolved": 8.5, "redundancy": 18.6, "low": 7.7, "ambiguous": 6.9, "text only": 5.7}
TABLE8 = {
    "answer type": {"entity": 142, "date": 56, "count": 64, "location": 41, "comparative": 47},
    "anchor": {"logo": 103, "text": 71, "product": 62, "landmark": 54, "person": 60},
    "form": {"single": 190, "arithmetic": 68, "temporal": 38, "conditional": 31, "cross_anchor": 23},
}
TABLE9 = {"anchor": 27.4, "drift": 24.1, "planning": 21.5, "fusion": 16.8, "boundary": 10.2}


def test_the_composition_adds_up_to_all_questions() -> None:
    """Under the very labels that our records have; fused ones are those that L3 counts."""
    known = {"answer type": ANSWER_TYPES, "anchor": ANCHOR_KINDS, "form": FORMS}
    assert {name: [*counts] for name, counts in TABLE8.items()} == {name: [*labels] for name, labels in known.items()}
    assert {name: sum(counts.values()) for name, counts in TABLE8.items()} == dict.fromkeys(TABLE8, 350)
    assert (TABLE8["form"]["single"], sum(TABLE8["form"][form] for form in FUSED)) == SPLIT


def test_our_own_composition_of_such_data_is_the_printed_one() -> None:
    """350 questions with these labels have this table, and no L1."""
    report = reported([sample(f"s{at}", hops, **labels) for at, (hops, labels) in enumerate(_labels())], [])
    for name, printed in TABLE8.items():
        found = {label: values_of(report, "composition", dimension=name, name=label)["samples"] for label in printed}
        assert found == printed


def test_shares_of_quality_control_have_no_base_in_common_with_the_questions() -> None:
    """Neither the 350 questions nor the 520 chains; 8.5 % is of no 350, and 18.6 % of no 520."""
    for table in (TABLE6, TABLE7):
        assert not {350, 520} & set(bases([*table.values()], 520))
    assert (350 in bases([8.5], 520), 520 in bases([8.5], 520)) == (False, True)
    assert (350 in bases([18.6], 520), 520 in bases([18.6], 520)) == (True, False)


def test_low_visual_dependence_is_what_is_left_of_the_printed_share() -> None:
    """27 of 350 questions, and 323 above the bound."""
    assert is_rounded(TABLE7["low"], 100 * 27 / 350, 1) and is_rounded(92.3, 100 * 323 / 350, 1)


def test_failures_add_up_and_have_our_names() -> None:
    """To 100.0 %, of at least 274 traces; each is assigned one."""
    assert sum(TABLE9.values()) == pytest.approx(100)
    assert [*TABLE9] == [*FAILURE_TYPES]
    assert bases([*TABLE9.values()], 300) == [274]


def test_people_agree_with_the_judge_in_572_of_630() -> None:
    """Of 210 outputs no whole number is 90.8 %; of three annotators' judgments one is."""
    assert bases([90.8], 630)[-1] == 630 and round(0.908 * 630) == 572
    assert 210 not in bases([90.8], 630)


def test_the_printed_kappa_needs_outputs_of_which_half_are_right() -> None:
    """By chance both agree in 52 %, as where two of five are right: the sample was no draw from the 24 % of Table 4."""
    right = 0.41
    pairs = [(1, 1)] * round(1000 * (right - 0.046)) + [(1, 0)] * 46 + [(0, 1)] * 46
    found = compare_judges([*pairs, *[(0, 0)] * (1000 - len(pairs))])
    assert found.kappa == pytest.approx(0.81, abs=0.005)
    best = [(1, 1)] * 197 + [(1, 0)] * 46 + [(0, 1)] * 46 + [(0, 0)] * 711
    assert (compare_judges(best).kappa or 0) == pytest.approx(0.75, abs=0.005)


def _labels() -> Iterator[tuple[int, dict[str, Any]]]:
    """Hops and labels of 350 questions, each label as often as it is printed."""
    columns = ([label for label, count in counts.items() for _ in range(count)] for counts in TABLE8.values())
    for answer_type, kind, form in zip(*columns, strict=True):
        fused = {"components": [{"question": "When?"}]} if form in FUSED else {}
        labels = {"answer_type": answer_type, "anchors": [{"kind": kind}], "form": form, **fused}
        yield 14 if fused else 7, labels
