"""Diagnose the way from the file to a sound model's eyes by its errors: each fault of that way has its symptom."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.paired import paired_test
from gigavqa_acuity.metrics import TILE, AcuityScores, ConditionScores
from gigavqa_acuity.psychometric import join_trials, threshold_ratio
from gigavqa_acuity.taxonomy import CHANCE

CHANNELS = "swapped channels"
MIRRORED = "mirrored left to right"
FLIPPED = "mirrored upside down"
TURNED = "turned"
NEIGHBOUR = "neighbour's region"
OFF_TILE = "off by a tile"
PALE = "no normalization"
THUMBNAIL = "thumbnail for full image"
COARSE = "wrong level"
UNSAID = "no letter said"
BLIND = "nothing seen"
FAULTS: Mapping[str, str] = {
    CHANNELS: "readable red rings are called blue, and blue ones red",
    MIRRORED: "readable gaps to the left are said to point right, and those to the right left",
    FLIPPED: "readable gaps upwards are said to point down, and those downwards up",
    TURNED: "readable gaps are said to point a quarter or two further",
    NEIGHBOUR: "answers are right of the picture before or behind",
    OFF_TILE: f"nothing is read in regions smaller than a tile of {TILE} pixels, and what is large enough is",
    PALE: "colours are read worse than directions, which need more pixels",
    THUMBNAIL: "the full image is read as if it had fewer pixels than its raster, and nothing else is",
    COARSE: "it is read as if it had fewer pixels than its raster",
    UNSAID: "most answers hold no single letter, so that they tell nothing of pictures",
    BLIND: "not even what is readable is read",
}
"""What each fault is known by."""
_HALF = 0.5
_LARGE = 4 * TILE
_MOVED = 1.5
"""A threshold has moved if its interval lies above so many times that of the other conditions."""
_LEVEL = 0.05


class _ConfusionRates(NamedTuple):
    """The shares of readable signs that were taken for something else."""

    red_blue: Estimate
    left_right: Estimate
    up_down: Estimate
    quarter: Estimate


@dataclass(frozen=True)
class FaultDiagnosis:
    """The measurements of a model under one condition, and the faults that they fit."""

    answers: ConditionScores
    swaps: _ConfusionRates
    neighbour: Estimate
    small: Estimate
    """Accuracy of readable signs in regions below a tile; V3 alone has it, as the next one."""
    large: Estimate
    """Accuracy of readable signs in regions of four tiles' sides and more."""
    colour: Estimate
    direction: Estimate
    moved: Estimate = NO_ESTIMATE
    """The threshold, over that of the other conditions that show one picture."""
    faults: tuple[str, ...] = ()

    @property
    def condition(self) -> str:
        """The condition."""
        return self.answers.key.condition


def diagnose_faults(eyes: AcuityScores) -> list[FaultDiagnosis]:
    """Return the symptoms under each condition that shows a picture, in order.

    What is shown wrongly moves thresholds, too, so these are compared only where nothing else was found.
    """
    found = [_diagnose_condition(answers) for answers in eyes.shown]
    if not any({CHANNELS, MIRRORED, FLIPPED, TURNED, PALE}.intersection(one.faults) for one in found):
        found = _compare_thresholds(found)
    return [one if one.faults else replace(one, faults=(*_no_letter_faults(one.answers),)) for one in found]


def _diagnose_condition(answers: ConditionScores) -> FaultDiagnosis:
    """Return what can be told of one condition alone."""
    sides = answers.chart.sides()[answers.at] if answers.key.condition == "V3" else np.full(len(answers.at), np.nan)
    quarter = max((answers.turned(1), answers.turned(3)), key=lambda share: share.value or 0.0)
    one = FaultDiagnosis(
        answers,
        _ConfusionRates(
            answers.swapped("red", "blue"), answers.swapped("left", "right"), answers.swapped("up", "down"), quarter
        ),
        neighbour=max((answers.of_neighbour(step) for step in (1, -1)), key=lambda share: share.value or 0.0),
        small=answers.accuracy(answers.readable & (sides < TILE)),
        large=answers.accuracy(answers.readable & (sides >= _LARGE)),
        colour=answers.accuracy(answers.readable & answers.about("colour")),
        direction=answers.accuracy(answers.readable & answers.about("direction")),
    )
    return replace(one, faults=tuple(_faults(one)))


def _faults(one: FaultDiagnosis) -> Iterator[str]:
    if is_majority(one.neighbour):
        yield NEIGHBOUR
        return
    if is_majority(one.large) and _is_guessed(one.small) and (one.small.high or 0.0) < (one.large.low or 0.0):
        yield OFF_TILE
        return
    if is_majority(one.swaps.red_blue):
        yield CHANNELS
    elif _is_pale(one.answers):
        yield PALE
    is_mirrored, is_flipped = is_majority(one.swaps.left_right), is_majority(one.swaps.up_down)
    if is_majority(one.swaps.quarter) or (is_mirrored and is_flipped):
        yield TURNED
    elif is_mirrored or is_flipped:
        yield MIRRORED if is_mirrored else FLIPPED


def is_majority(share: Estimate) -> bool:
    """Return whether a share's whole interval lies above one half."""
    return share.low is not None and share.low > _HALF


def _is_guessed(share: Estimate) -> bool:
    return share.low is not None and share.low <= CHANCE


def _is_minority(share: Estimate) -> bool:
    return share.high is not None and share.high < _HALF


def _is_pale(answers: ConditionScores) -> bool:
    """Return whether directions are read better than colours of the same readable rings (McNemar's exact test)."""
    by_question = []
    for attribute in ("colour", "direction"):
        scores = np.full(int(answers.chart.pictures.max(initial=-1)) + 1, np.nan)
        chosen = answers.readable & answers.about(attribute)
        scores[answers.chart.pictures[answers.at[chosen]]] = answers.right[chosen]
        by_question.append(scores)
    test = paired_test(*by_question)
    return test.second_better > test.first_better and test.p < _LEVEL


def _compare_thresholds(found: list[FaultDiagnosis]) -> list[FaultDiagnosis]:
    """Compare the thresholds of the conditions that show one picture and no other's."""
    compared = {one.condition: one for one in found if not one.faults and one.condition != "V4"}
    trials = {name: one.answers.trials() for name, one in compared.items()}
    moves = {
        name: threshold_ratio(one, join_trials([other for other in trials.values() if other is not one]))
        if len(trials) > 1
        else NO_ESTIMATE
        for name, one in trials.items()
    }
    has_moved = {name for name, moved in moves.items() if moved.low is not None and moved.low > _MOVED}
    told = {name: THUMBNAIL if name == "V2" and "V3" not in has_moved else COARSE for name in has_moved}
    return [
        replace(
            one, moved=moves.get(one.condition, NO_ESTIMATE),
            faults=one.faults or ((told[one.condition],) if one.condition in told else ()),
        )
        for one in found
    ]  # fmt: skip


def _no_letter_faults(answers: ConditionScores) -> Iterator[str]:
    if is_majority(answers.unsaid):
        yield UNSAID
    elif _is_minority(answers.accuracy(answers.readable)):
        yield BLIND
