"""Which candidates of a build become questions: under quotas, every answer of a group equally often.

A group is what a text says (`Candidate.balance`). Candidates are taken by rounds: one for each answer that the group
offers, or none, so that in every group each answer is true equally often, however the images are.
"""

import json
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from gigavqa.construction.candidates import Candidate, QuestionText
from gigavqa.construction.recipes.recipe import RecipeQuota


@dataclass(frozen=True)
class Quotas:
    """Questions at most: of an image, of a recipe, of a recipe about one category; 0 is no bound.

    `own` are quotas of single recipes, which hold beside the others.
    """

    per_image: int = 12
    per_recipe: int = 0
    per_category: int = 0
    own: Mapping[str, RecipeQuota] = field(default_factory=dict)


@dataclass(frozen=True)
class SelectionResult:
    """The ids of the accepted candidates, sorted, and how many of each recipe were taken and superseded by quota."""

    accepted: tuple[str, ...]
    taken: Mapping[str, int]
    superseded: Mapping[str, int]


def category_of(candidate: Candidate) -> str:
    """Return the category that a candidate is about; of several, all of them."""
    program = candidate.program
    return str(program.get("category") or ", ".join(program.get("categories", ())))


class _Codes:
    """Numbers for texts, in the order in which they come."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, text: str) -> int:
        return self._known.setdefault(text, len(self._known))

    def texts(self) -> list[str]:
        return list(self._known)


class _Rows:
    """Small keys of every candidate: bytes apart from the ids, whatever the candidates hold."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.subjects, self.images, self.recipes, self.categories, self.pairs = (array("q") for _ in range(5))
        self.groups: dict[str, list[list[int]]] = {}
        self.unbalanced: set[str] = set()
        self._images, self.recipe_names, self._categories, self._pairs = (_Codes() for _ in range(4))
        self.recipe_of_pair: dict[int, str] = {}

    def add(self, candidate: Candidate) -> None:
        row = len(self.ids)
        self.ids.append(candidate.id)
        self.subjects.append(_subject(candidate))
        self.images.append(self._images.of(candidate.image))
        self.recipes.append(self.recipe_names.of(candidate.recipe))
        self.categories.append(self._categories.of(f"{candidate.recipe}/{category_of(candidate)}"))
        self.pairs.append(self._pairs.of(f"{candidate.recipe}/{candidate.image}"))
        self.recipe_of_pair[self.pairs[row]] = candidate.recipe
        if not candidate.balance:
            self.unbalanced.add(candidate.id)
            self.groups[candidate.id] = [[row]]
            return
        offered = [*candidate.program.get("options", [candidate.truth])]
        answers = self.groups.setdefault(candidate.balance, [[] for _ in offered])
        answers[offered.index(candidate.truth)].append(row)


def _subject(candidate: Candidate) -> int:
    """Return a number for what is asked of an image, whatever is offered."""
    program = {key: value for key, value in candidate.program.items() if key != "options"}
    told = json.dumps([candidate.recipe, candidate.image, program], sort_keys=True)
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big", signed=True)


class _Taking:
    """What is taken so far, and what the quotas still allow."""

    def __init__(self, rows: _Rows, quotas: Quotas) -> None:
        self._rows = rows
        self._used: set[int] = set()
        self.accepted: list[int] = []
        own = {code: quotas.own.get(name, RecipeQuota()) for code, name in enumerate(rows.recipe_names.texts())}
        of_pair = {code: quotas.own.get(name, RecipeQuota()) for code, name in rows.recipe_of_pair.items()}
        self._bounds: list[tuple[array[int], Callable[[int], int], Counter[int]]] = [
            (rows.images, lambda _: quotas.per_image, Counter()),
            (rows.recipes, lambda _: quotas.per_recipe, Counter()),
            (rows.categories, lambda _: quotas.per_category, Counter()),
            (rows.recipes, lambda recipe: own[recipe].per_build, Counter()),
            (rows.pairs, lambda pair: of_pair[pair].per_image, Counter()),
        ]

    def take_round(self, answers: list[list[int]]) -> bool:
        """Take one row of each answer, or none; each list loses what can never be taken."""
        taken: list[int] = []
        for waiting in answers:
            while waiting and not self._is_free(waiting[-1]):
                waiting.pop()
            if not waiting:
                break
            self._count(waiting[-1], 1)
            taken.append(waiting.pop())
        if len(taken) == len(answers):
            self.accepted += taken
            return True
        for row in taken:
            self._count(row, -1)
        return False

    def _is_free(self, row: int) -> bool:
        return self._rows.subjects[row] not in self._used and all(
            not (most := most_of(keys[row])) or counts[keys[row]] < most for keys, most_of, counts in self._bounds
        )

    def _count(self, row: int, sign: int) -> None:
        (self._used.add if sign > 0 else self._used.discard)(self._rows.subjects[row])
        for keys, _, counts in self._bounds:
            counts[keys[row]] += sign


def select(candidates: Iterable[Candidate], quotas: Quotas, seed: int) -> SelectionResult:
    """Choose among the candidates of a build, in whatever order they come; ids and small keys are held in memory.

    Groups take turns, in a drawn order, until none can give another round.
    """
    rows = _Rows()
    for candidate in candidates:
        rows.add(candidate)
    names = sorted(rows.groups)
    for name in names:
        for waiting in rows.groups[name]:
            waiting.sort(key=rows.ids.__getitem__)
            waiting[:] = [waiting[int(at)] for at in _stream(seed, name).permutation(len(waiting))]
    taking = _Taking(rows, quotas)
    active = [names[int(at)] for at in _stream(seed, "groups").permutation(len(names))]
    active = [name for name in active if len(rows.groups[name]) > 1 or name in rows.unbalanced]
    while active:
        active = [name for name in active if taking.take_round(rows.groups[name])]
    known = rows.recipe_names.texts()
    found = Counter(known[recipe] for recipe in rows.recipes)
    taken = Counter(known[rows.recipes[row]] for row in taking.accepted)
    accepted = tuple(sorted(rows.ids[row] for row in taking.accepted))
    return SelectionResult(accepted, dict(taken), {name: found[name] - taken[name] for name in found})


def balance_letters(texts: Iterable[QuestionText], seed: int) -> list[QuestionText]:
    """Put right options under letters in equal numbers, by exchanging two options of a text where need be.

    Texts whose options have a fixed order stay as they are.
    """
    due: defaultdict[int, list[int]] = defaultdict(list)
    rng = _stream(seed, "letters")
    return [_with_truth_at(text, due[len(text.options)], rng) for text in texts]


def _with_truth_at(text: QuestionText, due: list[int], rng: np.random.Generator) -> QuestionText:
    if not text.options or text.has_fixed_order:
        return text
    if not due:
        due += map(int, rng.permutation(len(text.options)))
    options: list[Any] = [*text.options]
    at, to = options.index(text.answer), due.pop()
    options[at], options[to] = options[to], options[at]
    return text._replace(options=options)


def _stream(seed: int, words: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(words.encode())])
