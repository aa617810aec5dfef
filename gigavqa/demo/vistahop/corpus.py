"""Writes the pages: each fact in one of them, two distractors beside it, and what fills them says nothing."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gigavqa.demo.draws import stream
from gigavqa.demo.vistahop.plan import Fact, World, WorldBuilder

_LONG = 30_000
"""Characters of the long pages."""
_EVERY = 6
"""One page in so many that tell a fact is long."""
_SHORT = (500, 1_600)
_NAMED = 8
"""One sentence in so many names what the page is about."""
_WHO = (
    "The road from the hills", "A low wall of grey stone", "The old warehouse", "An avenue of limes", "The archive",
    "A narrow stair", "The winter market", "The reading room", "A covered well", "The clock above the gate",
    "The meadow by the water", "A row of sheds", "The common kitchen", "The weather vane", "A painted ceiling",
)  # fmt: skip
_DOES = (
    "was repaired after a storm", "is shown to visitors on feast days", "was paid for by a lottery",
    "has kept its colours", "was forgotten for a long while", "is mentioned in two letters",
    "was measured by order of the council", "is closed in the cold months", "was given a new roof",
    "is said to be haunted, though nobody has seen anything", "was drawn by many travellers",
)  # fmt: skip
_HOW = (
    "to everybody's surprise", "as the minutes tell", "with little noise", "and then once more",
    "against the advice of the mason", "for no reason that anyone remembers", "at the cost of the parish",
)  # fmt: skip
_OF = (
    "Little is known of the early days of {a}.", "Travellers wrote of {a} with respect.",
    "Whoever asks for {a} is told to be patient.", "Several songs are about {a}.",
    "The papers that concern {a} fill a small room.",
)  # fmt: skip


class CorpusPage(NamedTuple):
    """One document of the corpus; `fact` is that which it tells, or nothing."""

    id: str
    title: str
    text: str
    fact: Fact | None = None


def write_pages(world: World, maker: WorldBuilder) -> tuple[CorpusPage, ...]:
    """Return all pages, in an order that says nothing, under ids that say nothing."""
    pages = [page for number, fact in enumerate(world.facts) for page in _about(world, maker, fact, number)]
    order = stream(world.seed, "vistahop", "pages").permutation(len(pages)).tolist()
    return tuple(pages[at]._replace(id=f"d-{number:03}") for number, at in enumerate(order, start=1))


def _about(world: World, maker: WorldBuilder, fact: Fact, number: int) -> Iterator[CorpusPage]:
    rng, subject = stream(world.seed, "vistahop", fact.document), fact.subject
    length = _LONG if number % _EVERY == _EVERY - 1 else int(rng.integers(*_SHORT))
    known = f"{fact.object}, also called {fact.also}" if fact.also else fact.object
    told = fact.relation.told.format(a=subject, b=known)
    yield CorpusPage(fact.document, subject, _filled(rng, subject, told, length), fact)
    year = maker.thing("year")
    told = f"A letter of {year} names {subject} for the first time since long. In {year} much was changed."
    yield CorpusPage("", f"{subject}, from {year} on", _filled(rng, subject, told, int(rng.integers(*_SHORT))))
    namesake = world.look_alikes[subject][0] if subject in world.look_alikes else f"{subject} of {maker.thing('town')}"
    others = ", ".join(maker.thing(fact.relation.leads_to) for _ in fact.objects)
    told = f"{fact.relation.told.format(a=namesake, b=others)} It is often taken for another one of that name."
    yield CorpusPage("", namesake, _filled(rng, namesake, told, int(rng.integers(*_SHORT))))


def _filled(rng: np.random.Generator, about: str, told: str, length: int) -> str:
    """Return a text of so many characters or a few more, with one statement somewhere in it."""
    sentences, size = [told], len(told)
    while size < length:
        sentences.append(_pick(rng, _OF).format(a=about) if len(sentences) % _NAMED == 1 else _idle(rng))
        size += len(sentences[-1]) + 1
    place = int(rng.integers(len(sentences)))
    sentences[0], sentences[place] = sentences[place], sentences[0]
    return " ".join(sentences)


def _idle(rng: np.random.Generator) -> str:
    return f"{_pick(rng, _WHO)} {_pick(rng, _DOES)}, {_pick(rng, _HOW)}."


def _pick(rng: np.random.Generator, texts: tuple[str, ...]) -> str:
    return texts[int(rng.integers(len(texts)))]
