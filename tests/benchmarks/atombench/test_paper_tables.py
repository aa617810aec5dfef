"""The printed tables of 22 models, recomputed by the code that fills ours: what agrees, and what cannot."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gigavqa.benchmarks.atombench.metrics import combine_average, pearson
from gigavqa.benchmarks.atombench.taxonomy import WEIGHTS

PRINTED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "paper_tables.toml").read_text())
TABLE2: dict[str, list[float]] = PRINTED["table2"]
TABLE3: dict[str, list[float]] = PRINTED["table3"]
TABLE4: dict[str, list[float]] = PRINTED["table4"]
ILLEGIBLE = -999
HALF = 0.005 + 1e-9
"""Half of the last printed digit."""
IMAGES = 564
"""Pictures that most rows of RCS and HI are shares of."""

ONE_HUNDREDTH_OFF = {"GPT-4.1", "InternVL2.5-38B"}
"""Rows of Table 3 whose weighted mean is 0.01 from the printed CLQ_Acc."""
NOT_OF_564 = {
    "GPT-5",
    "GPT-4.1",
    "InternVL3-8B",
    "MiniCPM-o2.6-8B",
    "InternVL2.5-8B",
    "LLaVA-OneVision-7B",
    "Qwen2-VL-7B",
}
"""Rows whose RCS and HI are no shares of 564 pictures."""


def column(number: int) -> list[float | None]:
    """One column of Table 2, in model order."""
    return [row[number] for row in TABLE2.values()]


def spreads() -> list[float | None]:
    """CoLQ_Acc less CLQ_Acc of every model."""
    return [row[1] - row[0] for row in TABLE2.values()]


def billions(name: str) -> float | None:
    """The size that a model's name tells."""
    found = re.search(r"-(\d+)B", name)
    return float(found[1]) if found else None


@pytest.mark.parametrize("model", TABLE2)
def test_avg_and_ecs_follow_from_their_parts(model: str) -> None:
    """22 of 22 rows within rounding."""
    *parts, printed = TABLE2[model]
    assert 100 * float(combine_average(*(np.array(part / 100) for part in parts))) == pytest.approx(
        printed, abs=HALF + 1e-6
    )
    assert parts[1] - parts[0] == pytest.approx(PRINTED["ecs"][model])


@pytest.mark.parametrize("model", TABLE2)
def test_rrs_is_an_odd_multiple_of_one_weight(model: str) -> None:
    """Every pair gives +1 or -1, so that their sum is as odd as the weights' 1,961; 22 of 22 rows."""
    whole = sum(WEIGHTS[name] * number for name, number in PRINTED["difficulties"].items())
    share = TABLE2[model][4] * whole / 100
    nearest = 2 * round((share - 1) / 2) + 1
    assert whole == 1961
    assert 100 * nearest / whole == pytest.approx(TABLE2[model][4], abs=HALF)


def test_table_3_weighted_by_table_1_is_the_penalized_accuracy() -> None:
    """19 of the 19 complete rows, two of them 0.01 off."""
    counts = np.array(PRINTED["counts"])
    complete = {model: row for model, row in TABLE3.items() if ILLEGIBLE not in row}
    off = {model: abs(float(np.average(row, weights=counts)) - TABLE2[model][0]) for model, row in complete.items()}
    assert len(complete) == 19
    assert max(off.values()) < 0.015
    assert {model for model, gap in off.items() if gap > HALF} == ONE_HUNDREDTH_OFF


def test_what_is_illegible_follows_from_the_rest() -> None:
    """One number in two rows; of InternVL3.5-8B, the mean of two."""
    counts = np.array(PRINTED["counts"], dtype=float)
    found = {}
    for model in ("InternVL2-8B", "LLaVA-OneVision-7B", "InternVL3.5-8B"):
        row = np.array(TABLE3[model])
        lost = row == ILLEGIBLE
        rest = TABLE2[model][0] * counts.sum() - (row * counts)[~lost].sum()
        found[model] = round(float(rest / counts[lost].sum()), 2)
    assert found == pytest.approx(
        {"InternVL2-8B": 16.84, "LLaVA-OneVision-7B": 31.24, "InternVL3.5-8B": 30.29}, abs=0.3
    )


def test_natural_landmarks_are_ten_questions_of_four_options() -> None:
    """22 of 22 values are sums of ten points of 1, -1/3 and 0."""
    possible = {round(100 * (right - wrong / 3) / 10, 2) for right in range(11) for wrong in range(11 - right)}
    assert {row[-1] for row in TABLE3.values()} <= possible


def test_correlations_over_the_models() -> None:
    """CLQ with CoLQ and with ECS as printed; those with sizes near, since the sizes that were used are not printed."""
    clues, conclusions = column(0), column(1)
    sizes = [billions(name) for name in TABLE2]
    found = [pearson(clues, conclusions), pearson(spreads(), clues), pearson(sizes, clues), pearson(sizes, conclusions)]
    assert [round(one.value or 0, 3) for one in found] == [0.910, -0.268, 0.411, 0.365]
    assert [one.count for one in found] == [22, 22, 19, 19]


def test_the_claim_that_spread_and_hallucination_correlate_does_not_hold() -> None:
    """Figure 6b's: next to nothing over all rows, and the contrary without one of them."""
    hallucinated = column(3)
    assert pearson(spreads(), hallucinated).value == pytest.approx(0.07, abs=HALF)
    others = [name != "Qwen2-VL-7B" for name in TABLE2]
    without = [[value for value, kept in zip(of, others, strict=True) if kept] for of in (spreads(), hallucinated)]
    assert pearson(*without).value == pytest.approx(-0.52, abs=HALF)


def test_raw_accuracy_lies_between_those_of_its_scopes() -> None:
    """What CLQ_Acc says of right answers where questions have four options: 20 of the 20 rows of Table 4."""
    for model, (macro, _, micro, *_) in TABLE4.items():
        raw = (TABLE2[model][0] / 100 + 1 / 3) / (4 / 3)
        assert micro - HALF <= raw <= macro + HALF, model
    assert len(TABLE4) == 20


def test_support_is_counted_over_pictures() -> None:
    """RCS = A / 564 and HI = 1 - A / D with whole A and D, but for the rows that are listed."""
    assert {model for model, row in TABLE2.items() if not _is_of_pictures(*row[2:4])} == NOT_OF_564


def _is_of_pictures(consistency: float, hallucinated: float) -> bool:
    return any(
        abs(100 * part / IMAGES - consistency) <= HALF and abs(100 * (1 - part / whole) - hallucinated) <= HALF
        for part in range(IMAGES + 1)
        if abs(100 * part / IMAGES - consistency) <= HALF
        for whole in range(max(part, 1), IMAGES + 1)
    )


def test_one_conclusion_of_several_is_what_counts_as_right() -> None:
    """P = RCS / (1 - HI) is far above the raw accuracy of one conclusion question, and near that of two or three."""
    for model, (_, conclusions, consistency, hallucinated, *_) in TABLE2.items():
        share = consistency / (100 - hallucinated)
        raw = (conclusions / 100 + 1 / 3) / (4 / 3)
        of_several = (486 * (1 - (1 - raw) ** 2) + 84 * (1 - (1 - raw) ** 3)) / 570
        assert share > raw + 0.05, model
        assert -0.05 < share - of_several < 0.005, model
