"""Shares of right answers against blind guessing: when questions can be answered without what they are about."""

from gigavqa.evaluation.metrics.estimates import Estimate

ABOVE_CHANCE = 0.08
"""Of right answers above chance, what is put up with: decision 0011."""


def beats_chance(right: Estimate, chance: float) -> bool:
    """Return whether a share lies above chance with its interval, and by more than what is put up with."""
    value, low = right.value, right.low
    return value is not None and value > chance + ABOVE_CHANCE and (low is None or low > chance)


def above_chance(right: Estimate, chance: float) -> Estimate:
    """Return a share less what chance gives, which is known exactly."""
    ends = {name: getattr(right, name) for name in ("value", "low", "high")}
    return right.model_copy(update={name: None if end is None else end - chance for name, end in ends.items()})
