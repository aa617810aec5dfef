"""Readers who see no picture, of the demo's own questions: beside the product's, those who know grids and counts."""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gigavqa.construction.guessing.readers import RULES as GENERAL_RULES
from gigavqa.construction.guessing.readers import Rule, TextQuestion, numbers_of

_WORLD = np.arange(61)


def _middle_of_grid(question: TextQuestion) -> dict[str, float]:
    """Take the cell closest to the middle of the grid of ten by ten."""
    numbers = numbers_of(question)
    return {key: -float(np.abs(own - 5.5).sum()) for key, own in numbers.items()}


def _only_true(measure: Callable[[int], float]) -> Rule:
    """Count the worlds, pairs of counts up to 60, in which a claim on two counts is the only true one of the four."""

    def score(question: TextQuestion) -> dict[str, float]:
        worlds = _worlds(question.text, tuple(question.options.values()))
        return {letter: measure(number) for letter, number in zip(question.options, worlds, strict=True)}

    return score


@lru_cache(maxsize=100_000)
def _worlds(asked: str, options: tuple[str, ...]) -> list[int]:
    claims = [claim for text in options if (claim := _claim(text, asked)) is not None]
    if len(claims) < len(options):
        return [1] * len(options)
    holds = np.stack(claims)
    alone = holds & (holds.sum(axis=0, dtype=np.uint8) == 1)
    return [int(np.count_nonzero(worlds)) for worlds in alone]


def _claim(text: str, asked: str) -> NDArray[np.bool_] | None:
    """In which worlds (A down, B across) a claim is true; None where it is no claim on two counts."""
    if number := re.search(r"(difference|total|ratio).* is (\d+)(?::(\d+))?", text):
        return _worlds_where(number[1], int(number[2]), int(number[3] or 1))
    if "more numerous" in text:
        group_a = asked.removeprefix("Comparing ").split(" and ")[0]
        return _worlds_where("first" if text.lower().startswith(group_a.lower()) else "second", 0, 0)
    return None


@lru_cache(maxsize=10_000)
def _worlds_where(family: str, first: int, second: int) -> NDArray[np.bool_]:
    a, b = np.meshgrid(_WORLD, _WORLD, indexing="ij")
    if family in {"first", "second"}:
        return np.asarray(a > b if family == "first" else a < b)
    values = {"difference": abs(a - b) - first, "total": a + b - first, "ratio": a * second - b * first}
    return np.asarray((values[family] == 0) & (a + b > 0))


RULES: dict[str, Rule] = {
    **{name: rule for name, rule in GENERAL_RULES.items() if name not in ("always yes", "always no")},
    "middle of the grid": _middle_of_grid,
    "possible as the only true claim": _only_true(lambda worlds: float(worlds > 0)),
    "only true claim in most worlds": _only_true(float),
    "only true claim in fewest worlds": _only_true(lambda worlds: -float(worlds) if worlds else -np.inf),
}
