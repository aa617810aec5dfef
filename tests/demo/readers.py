"""Readers who see no picture: each guesses from the texts of a question and its options alone, by one rule.

A rule scores every option; the reader takes the best one, and draws among those that are equally good.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from gigavqa.demo.ultravr.records import RecordQuestion

Rule = Callable[[RecordQuestion], dict[str, float]]
"""From a question to a score of each option, by its letter."""

_WORLD = np.arange(61)
_SEEN_OFTEN = 20


def accuracy(rule: Rule, questions: Iterable[RecordQuestion], rng: np.random.Generator) -> float:
    """Share of the questions that a reader by this rule gets right."""
    right = [_pick(rule(question), rng) == question.answer for question in questions]
    return sum(right) / len(right)


def _pick(scores: dict[str, float], rng: np.random.Generator) -> str:
    best = [letter for letter, score in scores.items() if score == max(scores.values())]
    return best[int(rng.integers(len(best)))]


def _always(letter: str) -> Rule:
    return lambda question: {key: float(key == letter) for key in question.options}


def _length(sign: int) -> Rule:
    return lambda question: {key: sign * len(text) for key, text in question.options.items()}


@lru_cache(maxsize=100_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]+", text.lower()))


def _shared_words(sign: int) -> Rule:
    """Count the options that have each of an option's words: the most frequent value of every attribute."""

    def score(question: RecordQuestion) -> dict[str, float]:
        frequency = Counter(word for text in question.options.values() for word in _words(text))
        return {key: sign * sum(frequency[word] for word in _words(text)) for key, text in question.options.items()}

    return score


def _close_to_others(sign: int) -> Rule:
    """Count the words in which an option differs from each other one: the odd one out, or the middle one."""

    def score(question: RecordQuestion) -> dict[str, float]:
        words = {key: _words(text) for key, text in question.options.items()}
        return {key: -sign * sum(len(own ^ other) for other in words.values()) for key, own in words.items()}

    return score


def _echo(sign: int) -> Rule:
    """Count an option's words that the question has, too."""

    def score(question: RecordQuestion) -> dict[str, float]:
        asked = _words(question.text)
        return {key: sign * len(_words(text) & asked) for key, text in question.options.items()}

    return score


def _denial(sign: int) -> Rule:
    """Look for a negation."""
    pattern = re.compile(r"\b(?:no|not|neither|nor|cannot|without|absent|lower|fewer)\b", re.IGNORECASE)
    return lambda question: {key: sign * float(bool(pattern.search(text))) for key, text in question.options.items()}


def _numbers(question: RecordQuestion) -> dict[str, NDArray[np.float64]] | None:
    """The numbers of each option, where all have equally many."""
    found = {key: np.array(re.findall(r"\d+", text), float) for key, text in question.options.items()}
    return found if len({len(numbers) for numbers in found.values()}) == 1 else None


def _central(sign: int) -> Rule:
    """Take the option whose numbers, or coordinates, lie closest to the others', or farthest from them."""

    def score(question: RecordQuestion) -> dict[str, float]:
        numbers = _numbers(question) or {key: np.zeros(1) for key in question.options}
        return {
            key: -sign * float(sum(np.abs(own - other).sum() for other in numbers.values()))
            for key, own in numbers.items()
        }

    return score


def _rank(rank: int) -> Rule:
    """Take the number of the given rank; of several numbers of an option, the sum."""

    def score(question: RecordQuestion) -> dict[str, float]:
        sums = {key: float(np.sum(np.array(re.findall(r"\d+", text), float))) for key, text in question.options.items()}
        order = sorted(set(sums.values()))
        return {key: float(len(order) > rank and value == order[rank]) for key, value in sums.items()}

    return score


def _middle_of_grid(question: RecordQuestion) -> dict[str, float]:
    """Take the cell closest to the middle of the grid of ten by ten."""
    numbers = _numbers(question) or {key: np.zeros(1) for key in question.options}
    return {key: -float(np.abs(own - 5.5).sum()) for key, own in numbers.items()}


def _only_true(measure: Callable[[int], float]) -> Rule:
    """Count the worlds, pairs of counts up to 60, in which a claim on two counts is the only true one of the four."""

    def score(question: RecordQuestion) -> dict[str, float]:
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
    **{f"always {letter}": _always(letter) for letter in "ABCD"},
    "longest": _length(1),
    "shortest": _length(-1),
    "most frequent words": _shared_words(1),
    "rarest words": _shared_words(-1),
    "like the others": _close_to_others(1),
    "odd one out": _close_to_others(-1),
    "echo of the question": _echo(1),
    "least echo of the question": _echo(-1),
    "denial": _denial(1),
    "no denial": _denial(-1),
    "most central": _central(1),
    "least central": _central(-1),
    "middle of the grid": _middle_of_grid,
    **{f"rank {rank + 1}": _rank(rank) for rank in range(4)},
    "possible as the only true claim": _only_true(lambda worlds: float(worlds > 0)),
    "only true claim in most worlds": _only_true(float),
    "only true claim in fewest worlds": _only_true(lambda worlds: -float(worlds) if worlds else -np.inf),
}


def learned(seen: Iterable[RecordQuestion]) -> Rule:
    """The rule of one who was told the answers of other questions of the kind: what was right with these words.

    Letters, ranks, words of the option, and words of the question with each letter or rank, weighed as by Bayes.
    """
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question in seen:
        for letter, features in _features(question).items():
            found.update(features)
            if letter == question.answer:
                right.update(features)
    weights = {
        feature: log((right[feature] + 1) / (number + 4) * 4)
        for feature, number in found.items()
        if number >= _SEEN_OFTEN
    }
    return lambda question: {
        letter: sum(weights.get(feature, 0.0) for feature in features)
        for letter, features in _features(question).items()
    }


def _features(question: RecordQuestion) -> dict[str, set[str]]:
    order = sorted(question.options.values())
    asked = _words(question.text)
    features: dict[str, set[str]] = {}
    for letter, text in question.options.items():
        own = _words(text)
        features[letter] = {letter, f"rank {order.index(text)}", *own, *(f"{letter} {word}" for word in asked)}
    return features
