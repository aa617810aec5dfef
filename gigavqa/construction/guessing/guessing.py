"""How often readers without pictures are right, against chance, and what of a data set is left that they cannot guess.

Questions of one image share what they are about: readers learn from other images, and intervals draw whole images.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from gigavqa.benchmarks.questions.samples import Question
from gigavqa.construction.guessing.readers import (
    RULES,
    Rule,
    TextQuestion,
    learned,
    numbers_of,
    right_share,
    word_features,
)
from gigavqa.evaluation.metrics.chance import ABOVE_CHANCE, beats_chance
from gigavqa.evaluation.metrics.clusters import bootstrap_cluster_share
from gigavqa.evaluation.metrics.estimates import Estimate

_FOLDS = 5
_ANY_ANSWER_FROM = 2


class BlindQuestion(NamedTuple):
    """A question as readers without pictures get it. `recipe` is what it is tabled under, `group` what it is about."""

    id: str
    image: str
    recipe: str
    group: str
    text: str
    options: Mapping[str, str]
    answer: str


class ReaderScore(NamedTuple):
    """How often one reader is right on the questions of a recipe, and how often chance is."""

    recipe: str
    reader: str
    right: Estimate
    chance: float

    @property
    def guesses(self) -> bool:
        """Whether the reader beats chance: its interval lies above, and it by more than 8 points."""
        return beats_chance(self.right, self.chance)

    def document(self) -> dict[str, Any]:
        """Return the score as JSON."""
        right = self.right
        return {
            "category": self.recipe,
            "reader": self.reader,
            "right": right.value,
            "low": right.low,
            "high": right.high,
            "chance": self.chance,
            "questions": right.count,
            "guesses": self.guesses,
        }


class Rebalance(NamedTuple):
    """Which questions stay, which are dropped because of which reader, and how readers did before and after."""

    kept: tuple[BlindQuestion, ...]
    dropped: tuple[tuple[str, str], ...]
    before: tuple[ReaderScore, ...]
    after: tuple[ReaderScore, ...]


def blind_questions(samples: Iterable[Question]) -> list[BlindQuestion]:
    """Return the scored questions of a data set without their pictures.

    Yes and no are options. Where there is none (numbers, texts, several letters), every answer that questions of the
    category have is one, so that chance is one in as many.
    """
    scored = [sample for sample in samples if sample.scored]
    answers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for sample in scored:
        answers[sample.category, sample.kind].add(sample.truth)
    return [_blind(sample, sorted(answers[sample.category, sample.kind])) for sample in scored]


def _blind(sample: Question, answers: Sequence[str]) -> BlindQuestion:
    options: Mapping[str, str] = {answer: answer for answer in answers}
    if sample.kind == "choice":
        options = sample.options or {}
    elif sample.kind == "yes_no":
        options = {"yes": "yes", "no": "no"}
    group = " / ".join(value for value in sample.groups.values() if value)
    return BlindQuestion(
        sample.id, ", ".join(sample.images), sample.category, group, sample.question, options, sample.truth
    )


def _usual(question: TextQuestion) -> Mapping[str, Iterable[str]]:
    return {letter: [text] for letter, text in question.options.items()}


def _usual_of_group(question: TextQuestion) -> Mapping[str, Iterable[str]]:
    group = getattr(question, "group", "")
    return {letter: [f"{group}: {text}"] for letter, text in question.options.items()}


def _usual_rank_of_group(question: TextQuestion) -> Mapping[str, Iterable[str]]:
    group = getattr(question, "group", "")
    sums = {letter: float(numbers.sum()) for letter, numbers in numbers_of(question).items()}
    order = sorted(set(sums.values()))
    return {letter: [f"{group}: rank {order.index(own)} of {len(order)}"] for letter, own in sums.items()}


def _words_with_options(question: TextQuestion) -> Mapping[str, Iterable[str]]:
    own = word_features(question)
    asked = question.text.lower().split()
    pairs = [*asked, *map(" ".join, pairwise(asked))]
    return {
        letter: [*own[letter], *(f"{text} | {words}" for words in pairs)] for letter, text in question.options.items()
    }


LEARNED: Mapping[str, Callable[[TextQuestion], Mapping[str, Iterable[str]]]] = {
    "usual answer": _usual,
    "usual answer of the category": _usual_of_group,
    "usual rank of the category": _usual_rank_of_group,
    "learned": _words_with_options,
}


def score_readers(questions: Sequence[BlindQuestion]) -> list[ReaderScore]:
    """Return how often each reader is right, by recipe; questions with fewer than two options ask nothing."""
    by_recipe: defaultdict[str, list[BlindQuestion]] = defaultdict(list)
    for question in questions:
        if len(question.options) >= _ANY_ANSWER_FROM:
            by_recipe[question.recipe].append(question)
    return [
        score
        for recipe in sorted(by_recipe)
        for score in _score_recipe(recipe, sorted(by_recipe[recipe], key=lambda question: question.id))
    ]


def _score_recipe(recipe: str, questions: Sequence[BlindQuestion]) -> Iterator[ReaderScore]:
    chance = float(np.mean([1 / len(question.options) for question in questions]))
    for reader, shares in _shares(questions).items():
        yield ReaderScore(recipe, reader, _estimate(questions, shares), chance)


def _shares(questions: Sequence[BlindQuestion]) -> dict[str, list[float]]:
    letters = {letter for question in questions for letter in question.options}
    rules = {name: rule for name, rule in RULES.items() if not _is_idle(name, letters)}
    found = {name: [right_share(rule, question) for question in questions] for name, rule in rules.items()}
    return found | {name: _learned_shares(questions, name) for name in LEARNED}


def _is_idle(reader: str, letters: set[str]) -> bool:
    """Return whether a reader always takes a letter that no question has."""
    return reader.startswith("always ") and reader.removeprefix("always ") not in letters


def _learned_shares(questions: Sequence[BlindQuestion], name: str) -> list[float]:
    """Return how often a learned reader is right on each question, told the answers of other images alone."""
    folds = [zlib.crc32(question.image.encode()) % _FOLDS for question in questions]
    rules: dict[int, Rule] = {
        fold: learned((q for q, at in zip(questions, folds, strict=True) if at != fold), LEARNED[name])
        for fold in set(folds)
    }
    return [right_share(rules[fold], question) for question, fold in zip(questions, folds, strict=True)]


def _estimate(questions: Sequence[BlindQuestion], shares: Sequence[float]) -> Estimate:
    """Return the share of right answers with an interval over images, nowhere shorter than Wilson's."""
    places: dict[str, int] = {}
    at = np.array([places.setdefault(question.image, len(places)) for question in questions])
    sums = np.stack([np.bincount(at, weights=shares), np.bincount(at).astype(float)], axis=1)
    return bootstrap_cluster_share([sums], len(questions))


def rebalance(questions: Sequence[BlindQuestion], spared: Collection[str] = ()) -> Rebalance:
    """Drop questions until no reader beats chance: each time those that the best reader gets right, as few as needed.

    Which ones is drawn by their ids, so that the same questions lose the same ones. Recipes that are `spared` lose
    none, and are scored.
    """
    kept, dropped = list(questions), list[tuple[str, str]]()
    before = after = tuple(score_readers(kept))
    while over := [score for score in after if score.guesses and score.recipe not in spared]:
        worst = max(over, key=lambda score: ((score.right.value or 0.0) - score.chance, score.recipe, score.reader))
        ids = _too_easy(kept, worst)
        dropped += [(one, worst.reader) for one in ids]
        gone = frozenset(ids)
        kept = [question for question in kept if question.id not in gone]
        after = tuple(score_readers(kept))
    return Rebalance(tuple(kept), tuple(dropped), before, after)


def _too_easy(kept: Sequence[BlindQuestion], worst: ReaderScore) -> list[str]:
    own = sorted((q for q in kept if q.recipe == worst.recipe and len(q.options) > 1), key=lambda q: q.id)
    shares = _shares(own)[worst.reader]
    bound = worst.chance + ABOVE_CHANCE
    number = max(1, ceil((sum(shares) - bound * len(own)) / (1 - bound)))
    right = [question.id for question, share in zip(own, shares, strict=True) if share > 0]
    return sorted(right, key=lambda name: (zlib.crc32(name.encode()), name))[:number]
