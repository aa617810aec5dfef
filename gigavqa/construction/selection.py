"""Which candidates of a build become questions, and what they offer: every answer of a group equally often.

A group is what a text says (`Candidate.balance`). Candidates are taken by rounds: one for each answer that is offered,
or none, so that whatever the images are, each offered answer is true equally often. What is left goes by wider groups,
whose texts differ in what tells nothing of the answer; so each text is asked once at most.
"""

import json
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any

from gigavqa.construction.candidates import OPTIONS, Candidate, QuestionText
from gigavqa.construction.recipes.offers import apart_set
from gigavqa.construction.recipes.recipe import RecipeQuota

CAUSES: Mapping[str, str] = {
    "alone": "its answer is the only one in its group, or one that must be offered beside it is true nowhere",
    "image": "the quota of its picture was full",
    "recipe": "the quota of its recipe was full",
    "category": "the quota of its recipe about one category was full",
    "asked": "the same is asked of its picture, with other options",
    "outnumbered": "candidates of its group with other answers ran out",
}
"""Why a candidate is no question, in a word and for people."""
_CAUSES = tuple(CAUSES)


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
    """What became of the candidates of a build.

    `accepted` are ids, sorted, and `offers` what each of them offers; `taken` and `superseded` count by recipe,
    `causes` why candidates were superseded. `cause_of` tells it of one.
    """

    accepted: tuple[str, ...]
    offers: Mapping[str, Sequence[Any]]
    taken: Mapping[str, int]
    superseded: Mapping[str, int]
    causes: Mapping[str, Mapping[str, int]]
    _ids: Sequence[str]
    _cause_codes: Sequence[int]

    def cause_of(self, candidate: str) -> str:
        """Return why a candidate was superseded, one of `CAUSES`."""
        return _CAUSES[self._cause_codes[self._ids.index(candidate)]]


def category_of(candidate: Candidate) -> str:
    """Return the category that a candidate is about; of several, all of them."""
    program = candidate.program
    return str(program.get("category") or ", ".join(program.get("categories") or program.get("among", ())))


class _Codes:
    """Numbers for texts, in the order in which they come."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, text: str) -> int:
        return self._known.setdefault(text, len(self._known))

    def texts(self) -> list[str]:
        return list(self._known)


@dataclass
class _Group:
    """Candidates that are balanced together: rows by their answers. Without `sizes` all of `options` are offered.

    One that is not `is_balanced` holds a single candidate, which is taken whatever the others' answers are.
    """

    recipe: str
    options: Sequence[Any]
    sizes: Sequence[int]
    is_balanced: bool = True
    rows: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))

    @property
    def has_partners(self) -> bool:
        """Whether there was ever another answer for each that must be offered."""
        if not self.is_balanced:
            return True
        return len(self.rows) > 1 if self.sizes else len(self.rows) == len(self.options) > 1

    def shuffle(self, ids: Sequence[str], seed: int) -> None:
        for rows in self.rows.values():
            rows.sort(key=lambda row: _draw(seed, ids[row]))

    def offer(self, stage: int) -> Sequence[Any]:
        """Return answers to be offered next, of which each has a row; none where there are too few for the stage."""
        numbers = {answer: len(rows) for answer, rows in self.rows.items() if rows}
        if not self.is_balanced:
            return tuple(numbers)
        if not self.sizes:
            return self.options if len(numbers) == len(self.options) > 1 else ()
        return apart_set(numbers, self.sizes[stage]) if stage < len(self.sizes) else ()


class _Rows:
    """Small keys of every candidate: bytes apart from the ids, whatever the candidates hold."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.subjects, self.images, self.recipes, self.categories, self.pairs, self.texts, self.wide = (
            array("q") for _ in range(7)
        )
        self.narrow_groups: dict[str, _Group] = {}
        self.wider_groups: dict[str, _Group] = {}
        self._images, self.recipe_names, self._categories, self._pairs, self.balances, self.wider = (
            _Codes() for _ in range(6)
        )
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
        balance = candidate.balance or candidate.id
        self.texts.append(self.balances.of(balance))
        self.wide.append(self.wider.of(candidate.wider))
        told = candidate.recipe, candidate.program.get(OPTIONS, [candidate.truth]), candidate.offers
        group = self.narrow_groups.setdefault(balance, _Group(*told, is_balanced=bool(candidate.balance)))
        group.rows[candidate.truth if candidate.balance else ""].append(row)
        if candidate.wider:
            self.wider_groups.setdefault(candidate.wider, _Group(*told)).rows[candidate.truth].append(row)

    def partnered(self) -> "array[int]":
        """Return for each row whether its answer ever had others beside it."""
        narrow = [self.narrow_groups[name].has_partners for name in self.balances.texts()]
        wide = [bool(name) and self.wider_groups[name].has_partners for name in self.wider.texts()]
        return array("b", (narrow[text] or wide[at] for text, at in zip(self.texts, self.wide, strict=True)))


def _subject(candidate: Candidate) -> int:
    """Return a number for what is asked of an image, whatever is offered."""
    program = {key: value for key, value in candidate.program.items() if key not in (OPTIONS, "among")}
    told = json.dumps([candidate.recipe, candidate.image, program], sort_keys=True)
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big", signed=True)


class _Taking:
    """What is taken so far, and what the quotas still allow."""

    def __init__(self, rows: _Rows, quotas: Quotas) -> None:
        self._rows = rows
        self._used: set[int] = set()
        self._asked_texts: set[int] = set()
        self.offers: dict[int, Sequence[Any]] = {}
        own = {code: quotas.own.get(name, RecipeQuota()) for code, name in enumerate(rows.recipe_names.texts())}
        of_pair = {code: quotas.own.get(name, RecipeQuota()) for code, name in rows.recipe_of_pair.items()}
        self._bounds: list[tuple[str, array[int], Callable[[int], int], Counter[int]]] = [
            ("image", rows.images, lambda _: quotas.per_image, Counter()),
            ("recipe", rows.recipes, lambda _: quotas.per_recipe, Counter()),
            ("category", rows.categories, lambda _: quotas.per_category, Counter()),
            ("recipe", rows.recipes, lambda recipe: own[recipe].per_build, Counter()),
            ("image", rows.pairs, lambda pair: of_pair[pair].per_image, Counter()),
        ]

    def take_round(self, group: _Group, stage: int, *, once: bool) -> bool:
        """Take one row of each answer that is offered, or none; with `once` no two of a text, in all rounds."""
        while offered := group.offer(stage):
            taken: list[int] = []
            for answer in offered:
                row = self._next(group.rows[answer], once=once)
                if row is None:
                    break
                self._count(row, 1, once=once)
                taken.append(row)
            if len(taken) == len(offered):
                self.offers |= dict.fromkeys(taken, offered)
                return True
            for row in taken:
                self._count(row, -1, once=once)
        return False

    def cause(self, row: int) -> int:
        """Return the place in `CAUSES` of why a row that has partners was not taken."""
        for cause, keys, most_of, counts in self._bounds:
            if 0 < most_of(keys[row]) <= counts[keys[row]]:
                return _CAUSES.index(cause)
        return _CAUSES.index("asked" if self._rows.subjects[row] in self._used else "outnumbered")

    def _next(self, waiting: list[int], *, once: bool) -> int | None:
        """Remove and return the next row that is free; the list loses what can never be taken."""
        while waiting:
            row = waiting.pop()
            if self._is_free(row) and not (once and self._rows.texts[row] in self._asked_texts):
                return row
        return None

    def _is_free(self, row: int) -> bool:
        return self._rows.subjects[row] not in self._used and all(
            not (most := most_of(keys[row])) or counts[keys[row]] < most for _, keys, most_of, counts in self._bounds
        )

    def _count(self, row: int, sign: int, *, once: bool) -> None:
        (self._used.add if sign > 0 else self._used.discard)(self._rows.subjects[row])
        if once:
            (self._asked_texts.add if sign > 0 else self._asked_texts.discard)(self._rows.texts[row])
        for _, keys, _, counts in self._bounds:
            counts[keys[row]] += sign


def select(candidates: Iterable[Candidate], quotas: Quotas, seed: int) -> SelectionResult:
    """Choose among the candidates of a build, in whatever order they come; ids and small keys are held in memory.

    Recipes take turns, and groups of a recipe, in a drawn order, until none can give another round: first with as many
    options as are preferred, then with fewer.
    """
    rows = _Rows()
    for candidate in candidates:
        rows.add(candidate)
    partnered = rows.partnered()
    narrow, wide = (_drawn_groups(groups, rows.ids, seed) for groups in (rows.narrow_groups, rows.wider_groups))
    taking = _Taking(rows, quotas)
    stages = max((len(group.sizes) for group in (*narrow, *wide)), default=0)
    for stage in range(max(1, stages)):
        for groups in (narrow, wide):
            _take_turns(groups, partial(taking.take_round, stage=stage, once=groups is wide))
    return _result(rows, taking, partnered)


def _take_turns(groups: Sequence[_Group], take_round: Callable[[_Group], bool]) -> None:
    waiting: defaultdict[str, deque[_Group]] = defaultdict(deque)
    for group in groups:
        waiting[group.recipe].append(group)
    while waiting:
        for recipe, own in tuple(waiting.items()):
            while own and not take_round(own[0]):
                own.popleft()
            own.rotate(-1)
            if not own:
                del waiting[recipe]


def _drawn_groups(groups: Mapping[str, _Group], ids: Sequence[str], seed: int) -> list[_Group]:
    """Return the groups that can be balanced in a drawn order, the rows of each answer in one, too."""
    names = sorted((name for name, group in groups.items() if group.has_partners), key=partial(_draw, seed))
    for name in names:
        groups[name].shuffle(ids, seed)
    return [groups[name] for name in names]


def _result(rows: _Rows, taking: _Taking, partnered: Sequence[int]) -> SelectionResult:
    known = rows.recipe_names.texts()
    codes = array("b", (taking.cause(row) if partnered[row] else 0 for row in range(len(rows.ids))))
    causes: dict[str, Counter[str]] = {name: Counter() for name in known}
    for row, code in enumerate(codes):
        if row not in taking.offers:
            causes[known[rows.recipes[row]]][_CAUSES[code]] += 1
    taken = Counter(known[rows.recipes[row]] for row in taking.offers)
    offers = {rows.ids[row]: offered for row, offered in taking.offers.items()}
    superseded = {name: counts.total() for name, counts in causes.items()}
    return SelectionResult(tuple(sorted(offers)), offers, dict(taken), superseded, causes, rows.ids, codes)


def order_options(candidate: Candidate, text: QuestionText, seed: int) -> QuestionText:
    """Put the options of a text in a drawn order, the same for all of its group that offer the same ones.

    So each letter is right equally often in every round, and what else is asked moves no option. Texts whose options
    have a fixed order stay as they are.
    """
    if not text.options or text.has_fixed_order:
        return text
    group = candidate.wider or candidate.balance or candidate.id
    return text._replace(options=sorted(text.options, key=lambda option: _draw(seed, f"{group}/{option}")))


def _draw(seed: int, words: str) -> bytes:
    """Return what puts things in a drawn order in which another one moves none."""
    return blake2b(f"{seed}/{words}".encode(), digest_size=8).digest()
