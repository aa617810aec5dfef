"""Facts of the drawn world: signs in pictures, chains of facts that begin at them, all from a seed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gigavqa.demo.draws import stream
from gigavqa.demo.vistahop.names import Names
from gigavqa.demo.vistahop.relations import RELATIONS, THAT, ChainRelation, Kind
from gigavqa.tiling.geometry import Size

SIGNS = 10
"""Signs of every picture, one on each of the things that stand in its row."""
_LOOK_ALIKES = 2


class WorldImage(NamedTuple):
    """One picture: its file, its size, and what stands in its row."""

    name: str
    image: str
    size: Size
    thing: str

    @property
    def is_flat(self) -> bool:
        """Whether it is a plain file without a pyramid."""
        return self.image.endswith(".jpg")

    def scaled(self, scale: float) -> Size:
        """Its size where pyramids have their sides times `scale`."""
        return self.size if self.is_flat else Size(*(round(side * scale) for side in self.size))


PICTURES: Mapping[str, WorldImage] = {
    one.name: one
    for one in (
        WorldImage("harbour", "images/harbour.tif", Size(57_600, 38_400), "crane"),
        WorldImage("street", "images/street.tif", Size(51_200, 32_000), "house"),
        WorldImage("fair", "images/fair.tif", Size(46_080, 30_720), "stand"),
        WorldImage("hall", "images/hall.tif", Size(40_960, 27_648), "tree"),
        WorldImage("yard", "images/yard.jpg", Size(3_750, 2_400), "crane"),
        WorldImage("market", "images/market.jpg", Size(3_600, 2_500), "stand"),
    )
}
"""Four gigapixel pictures, and two of nine megapixels."""


class ChainPath(NamedTuple):
    """The path of a chain: from what in which picture, by which relations, to one tail or to another."""

    picture: str
    anchor: str
    sign: str
    relations: tuple[str, ...]
    tails: tuple[str, ...]


WAYS: Mapping[str, ChainPath] = {
    "harbour-mark": ChainPath("harbour", "logo", "mark", ("mark_of", "part_of", "founded_by", "born_in"), ("charter",)),
    "harbour-engine": ChainPath(
        "harbour", "product", "type plate", ("engine_of", "licensed_by", "studied_at", "stands_in"), ("charter",)
    ),
    "street-shop": ChainPath("street", "text", "sign", ("shop_of", "apprentice_of", "head_of", "seat_of"),
    ("bridges",)), "street-portrait": ChainPath(
        "street", "person", "name under the portrait", ("painted_by", "taught_by", "shown_at", "stands_in"),
        ("towers",),
    ),
    "fair-mark": ChainPath("fair", "logo", "mark", ("mark_of", "supplied_by", "led_by", "born_in"), ("first_fair",)),
    "fair-device": ChainPath(
        "fair", "product", "type plate", ("device_of", "winner_of", "given_by", "named_after"), ("captain",)
    ),
    "hall-folly": ChainPath(
        "hall", "landmark", "plate of the folly", ("folly_of", "apprentice_of", "taught_by", "sailed_on", "home_port"),
        ("twin", "guilds"),
    ),
    "hall-plant": ChainPath("hall", "text", "label", ("plant_of", "taught_by", "head_of", "seat_of"), ("ferry",
    "guilds")), "yard-mark": ChainPath("yard", "logo", "mark", ("mark_of",), ("founded_by",)),
    "market-shop": ChainPath("market", "text", "sign", ("shop_of",), ("born_in",)),
}  # fmt: skip
_ALSO_CALLED = {"hall-folly": "twin", "fair-device": "captain"}
"""Last facts of which a page tells a second name."""
_SUFFIX: Mapping[Kind, str] = {
    "firm": "Company", "works": "Works", "academy": "Academy", "guild": "Guild", "museum": "Museum", "prize": "Prize",
}  # fmt: skip


class Fact(NamedTuple):
    """One hop: `objects` are what the relation leads to; `also` is another name of it, or nothing."""

    subject: str
    name: str
    objects: tuple[str, ...]
    document: str
    also: str = ""

    @property
    def relation(self) -> ChainRelation:
        return RELATIONS[self.name]

    @property
    def object(self) -> str:
        """The object of the relation, in words."""
        *others, last = self.objects
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def query(self) -> str:
        """The query that finds it."""
        return self.relation.query.format(a=self.subject)

    @property
    def answers(self) -> tuple[str, ...]:
        """The right answers."""
        return tuple(filter(None, (self.object, self.also)))


class WorldSign(NamedTuple):
    """A text on the thing at a position, from 0, of a picture's row."""

    text: str
    position: int


class Chain(NamedTuple):
    """Facts from a sign to an answer."""

    way: ChainPath
    sign: WorldSign
    facts: tuple[Fact, ...]

    @property
    def label(self) -> str:
        """The place of its sign."""
        return f"the {self.way.sign} on the {_ORDINALS[self.sign.position]} {PICTURES[self.way.picture].thing}"

    @property
    def steps(self) -> str:
        """The way to what the last fact is about."""
        found = []
        that = ""
        for fact in self.facts[:-1]:
            found.append(fact.relation.phrase.format(that))
            that = THAT[fact.relation.leads_to]
        return f"{self.label} from the left; {'; '.join(found)}"

    @property
    def that(self) -> str:
        """The words by which a sentence behind the steps names what they led to."""
        return THAT[self.facts[-2].relation.leads_to]

    @property
    def question(self) -> str:
        """The question whose answer the chain leads to."""
        asked = self.facts[-1].relation.phrase.format(self.that)
        asked = asked if asked.endswith("?") else f"What is the name of {asked}?"
        return f"Follow this from step to step: {self.steps}. {asked}"


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class World(NamedTuple):
    """All that was made up: chains by name and tail, signs of every picture, and what distractors need."""

    seed: int
    chains: Mapping[tuple[str, str], Chain]
    signs: Mapping[str, tuple[WorldSign, ...]]
    look_alikes: Mapping[str, tuple[str, ...]]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact once, in the order of chains."""
        return tuple(dict.fromkeys(fact for chain in self.chains.values() for fact in chain.facts))

    def chain(self, name: str, tail: str = "") -> Chain:
        """Return the chain of a way, to its first tail where none is named."""
        return self.chains[name, tail or WAYS[name].tails[0]]


class WorldBuilder:
    """Makes things up, no two alike."""

    def __init__(self, seed: int, *words: str) -> None:
        self.rng = stream(seed, "vistahop", *words)
        self._names = Names(self.rng)
        years = self.rng.permutation(np.arange(1301, 1899))
        self._years = iter(years.tolist())
        self._numbers = iter(self.rng.permutation(np.arange(11, 99)).tolist())

    def sign(self) -> str:
        """Return a text for a sign."""
        return self._names.word().upper()

    def alike(self, sign: str, number: int) -> tuple[str, ...]:
        """So many texts that differ from a sign in one letter."""
        return tuple(text for text, _ in zip(self._names.alike(sign), range(number), strict=False))

    def thing(self, kind: Kind) -> str:
        """Return a name, or a number, that nothing else has."""
        if kind == "year":
            return str(next(self._years))
        if kind == "number":
            return str(next(self._numbers))
        if kind == "person":
            return f"{self._names.word()} {self._names.word()}"
        return " ".join(filter(None, (self._names.word(), _SUFFIX.get(kind))))


def plan_world(seed: int) -> tuple[World, WorldBuilder]:
    """Make up the world of a seed; and who goes on making up what is in nobody's chain."""
    maker = WorldBuilder(seed, "world")
    chains: dict[tuple[str, str], Chain] = {}
    signs: dict[str, tuple[WorldSign, ...]] = {}
    look_alikes: dict[str, tuple[str, ...]] = {}
    for picture in PICTURES:
        ways = {name: way for name, way in WAYS.items() if way.picture == picture}
        texts = {name: maker.sign() for name in ways}
        look_alikes |= {text: maker.alike(text, _LOOK_ALIKES) for text in texts.values()}
        shown = [*texts.values(), *(alike for text in texts.values() for alike in look_alikes[text])]
        shown += [maker.sign() for _ in range(SIGNS - len(shown))]
        places = maker.rng.permutation(SIGNS).tolist()
        signs[picture] = tuple(WorldSign(text, place) for text, place in zip(shown, places, strict=True))
        for sign, (name, way) in zip(signs[picture], ways.items(), strict=False):
            chains |= _chains(maker, name, way, sign)
    _share_a_guild(chains)
    return World(seed, chains, signs, look_alikes), maker


def _chains(maker: WorldBuilder, name: str, way: ChainPath, sign: WorldSign) -> dict[tuple[str, str], Chain]:
    """Return the chain to each of the tails; all before those is shared."""
    facts: list[Fact] = []
    subject = sign.text
    for relation in way.relations:
        facts.append(_fact(maker, subject, relation, f"{name}-{len(facts) + 1}"))
        subject = facts[-1].object
    found = {}
    for tail in way.tails:
        last = _fact(maker, subject, tail, f"{name}-{tail}")
        if _ALSO_CALLED.get(name) == tail:
            last = last._replace(also=maker.thing(last.relation.leads_to))
        found[name, tail] = Chain(way, sign, (*facts, last))
    return found


def _fact(maker: WorldBuilder, subject: str, name: str, document: str) -> Fact:
    relation = RELATIONS[name]
    objects = tuple(maker.thing(relation.leads_to) for _ in range(relation.listed))
    return Fact(subject, name, objects, document)


def _share_a_guild(chains: dict[tuple[str, str], Chain]) -> None:
    """One guild has a house in both towns."""
    one, other = chains["hall-folly", "guilds"], chains["hall-plant", "guilds"]
    last = other.facts[-1]
    shared = last._replace(objects=(last.objects[0], one.facts[-1].objects[1], last.objects[2]))
    chains["hall-plant", "guilds"] = other._replace(facts=(*other.facts[:-1], shared))


def common(one: Sequence[str], other: Sequence[str]) -> str:
    """Return what alone stands in both lists."""
    (found,) = set(one) & set(other)
    return found
