"""Readers who see no picture: each guesses from the texts of a question and its options alone, by one rule.

A rule scores every option; the reader takes the best one, and among equally good ones each as often.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class TextQuestion(Protocol):
    """A question as one gets it who sees no picture: `options` by their letters, `answer` the right one's."""

    @property
    def text(self) -> str: ...
    @property
    def options(self) -> Mapping[str, str]: ...
    @property
    def answer(self) -> str: ...


Rule = Callable[[TextQuestion], dict[str, float]]
"""From a question to a score of each option, by its letter."""
FeaturesOf = Callable[[TextQuestion], Mapping[str, Iterable[str]]]
"""From a question to what there is to learn of each option, by its letter."""

SEEN_OFTEN = 20
"""Options that a feature must have been seen with, for a learned reader to trust it."""


def right_share(rule: Rule, question: TextQuestion) -> float:
    """Return how often a reader by this rule is right: 1, 0, or one in as many options as are equally good."""
    scores = rule(question)
    best = max(scores.values())
    picked = [letter for letter, score in scores.items() if score == best]
    return 1 / len(picked) if question.answer in picked else 0.0


def accuracy(rule: Rule, questions: Iterable[TextQuestion]) -> float:
    """Return the share of the questions that a reader by this rule gets right."""
    return float(np.mean([right_share(rule, question) for question in questions]))


def _always(letter: str) -> Rule:
    return lambda question: {key: float(key == letter) for key in question.options}


def _length(sign: int) -> Rule:
    return lambda question: {key: sign * len(text) for key, text in question.options.items()}


@lru_cache(maxsize=100_000)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, in small letters."""
    return frozenset(re.findall(r"[\w-]+", text.lower()))


def _shared_words(sign: int) -> Rule:
    """Count the options that have each of an option's words: the most frequent value of every attribute."""

    def score(question: TextQuestion) -> dict[str, float]:
        frequency = Counter(word for text in question.options.values() for word in words_of(text))
        return {key: sign * sum(frequency[word] for word in words_of(text)) for key, text in question.options.items()}

    return score


def _close_to_others(sign: int) -> Rule:
    """Count the words in which an option differs from each other one: the odd one out, or the middle one."""

    def score(question: TextQuestion) -> dict[str, float]:
        words = {key: words_of(text) for key, text in question.options.items()}
        return {key: -sign * sum(len(own ^ other) for other in words.values()) for key, own in words.items()}

    return score


def _echo(sign: int) -> Rule:
    """Count an option's words that the question has, too."""

    def score(question: TextQuestion) -> dict[str, float]:
        asked = words_of(question.text)
        return {key: sign * len(words_of(text) & asked) for key, text in question.options.items()}

    return score


def _denial(sign: int) -> Rule:
    """Look for a negation."""
    pattern = re.compile(r"\b(?:no|not|neither|nor|cannot|without|absent|lower|fewer)\b", re.IGNORECASE)
    return lambda question: {key: sign * float(bool(pattern.search(text))) for key, text in question.options.items()}


def numbers_of(question: TextQuestion) -> Mapping[str, NDArray[np.float64]]:
    """Return the numbers of each option, where all have equally many; else a nought for each."""
    found = {key: np.array(re.findall(r"\d+", text), float) for key, text in question.options.items()}
    alike = len({len(numbers) for numbers in found.values()}) == 1
    return found if alike else {key: np.zeros(1) for key in found}


def _central(sign: int) -> Rule:
    """Take the option whose numbers, or coordinates, lie closest to the others', or farthest from them."""

    def score(question: TextQuestion) -> dict[str, float]:
        numbers = numbers_of(question)
        return {
            key: -sign * float(sum(np.abs(own - other).sum() for other in numbers.values()))
            for key, own in numbers.items()
        }

    return score


def _rank(rank: int) -> Rule:
    """Take the number of the given rank; of several numbers of an option, the sum."""

    def score(question: TextQuestion) -> dict[str, float]:
        sums = {key: float(np.sum(np.array(re.findall(r"\d+", text), float))) for key, text in question.options.items()}
        order = sorted(set(sums.values()))
        return {key: float(len(order) > rank and value == order[rank]) for key, value in sums.items()}

    return score


RULES: Mapping[str, Rule] = {
    **{f"always {letter}": _always(letter) for letter in "ABCD"},
    "always yes": _always("yes"),
    "always no": _always("no"),
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
    **{f"rank {rank + 1}": _rank(rank) for rank in range(4)},
}


def learned(seen: Iterable[TextQuestion], features_of: FeaturesOf | None = None) -> Rule:
    """Return the rule of one who was told the answers of other questions: what was right with these words.

    Each feature of an option weighs, as by Bayes, how often it was right against how often by chance it would be.
    """
    read = features_of or word_features
    number, right = Counter[str](), Counter[str]()
    expected = defaultdict[str, float](float)
    for question in seen:
        share = 1 / len(question.options)
        for letter, features in read(question).items():
            for feature in features:
                number[feature] += 1
                expected[feature] += share
                right[feature] += letter == question.answer
    weights = {
        feature: log((right[feature] + 1) / (expected[feature] + 1))
        for feature, often in number.items()
        if often >= SEEN_OFTEN
    }
    return lambda question: {
        letter: sum(weights.get(feature, 0.0) for feature in features) for letter, features in read(question).items()
    }


def word_features(question: TextQuestion) -> dict[str, set[str]]:
    """Return letters, ranks, words of the option, and words of the question with each letter or option."""
    order = sorted(question.options.values())
    asked = words_of(question.text)
    features: dict[str, set[str]] = {}
    for letter, text in question.options.items():
        own = words_of(text)
        features[letter] = {letter, f"rank {order.index(text)}", *own, *(f"{letter} {word}" for word in asked)}
    return features
