"""The relations of chains: how a page tells each, how a question says it, and how it is searched for."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["firm", "works", "person", "town", "academy", "guild", "museum", "prize", "ship", "year", "number"]
"""What a relation leads to, which decides how that is named."""
THAT: Mapping[Kind, str] = {
    "firm": "that firm", "works": "those works", "person": "that person", "town": "that town",
    "academy": "that academy", "guild": "that guild", "museum": "that museum", "prize": "that prize",
    "ship": "that ship", "year": "that year", "number": "that number",
}  # fmt: skip
"""How a sentence says again what another one led to."""


class ChainRelation(NamedTuple):
    """One relation, from a to b; `phrase` calls b by what a is, or is the question where b ends a chain.

    `listed` is how many there are of b.
    """

    leads_to: Kind
    phrase: str
    told: str
    query: str
    listed: int = 1


RELATIONS: Mapping[str, ChainRelation] = {
    "mark_of": ChainRelation(
        "firm", "the firm that trades under it", "The mark {a} is the one that {b} trades under.",
        "firm that trades under the mark {a}",
    ),
    "engine_of": ChainRelation(
        "firm", "the firm that builds the engine of that name", "The engine {a} is built by {b}.",
        "firm that builds the engine {a}",
    ),
    "shop_of": ChainRelation(
        "person", "the owner of the shop of that name", "The shop {a} is owned by {b}.", "owner of the shop {a}",
    ),
    "painted_by": ChainRelation(
        "person", "the painter of the portrait of that name", "The portrait {a} was painted by {b}.",
        "painter of the portrait {a}",
    ),
    "device_of": ChainRelation(
        "person", "the designer of the device of that name", "The device {a} was designed by {b}.",
        "designer of the device {a}",
    ),
    "folly_of": ChainRelation(
        "person", "the architect of the folly of that name", "The folly {a} was planned by the architect {b}.",
        "architect of the folly {a}",
    ),
    "plant_of": ChainRelation(
        "person", "the botanist who first described the plant of that name",
        "The plant {a} was first described by the botanist {b}.", "botanist who first described the plant {a}",
    ),
    "part_of": ChainRelation(
        "works", "the works that {} belongs to", "{a} belongs to {b}.", "works that {a} belongs to",
    ),
    "founded_by": ChainRelation(
        "person", "the founder of {}", "{a} was founded by {b}.", "founder of {a}",
    ),
    "licensed_by": ChainRelation(
        "person", "the inventor who licensed {}", "{a} was licensed by the inventor {b}.",
        "inventor who licensed {a}",
    ),
    "born_in": ChainRelation(
        "town", "the town where {} was born", "{a} was born in the town of {b}.", "town where {a} was born",
    ),
    "studied_at": ChainRelation(
        "academy", "the academy where {} studied", "{a} studied at {b}.", "academy where {a} studied",
    ),
    "stands_in": ChainRelation(
        "town", "the town where {} stands", "{a} stands in the town of {b}.", "town where {a} stands",
    ),
    "apprentice_of": ChainRelation(
        "person", "the master of whom {} was an apprentice", "{a} was an apprentice of the master {b}.",
        "master of whom {a} was an apprentice",
    ),
    "head_of": ChainRelation(
        "guild", "the guild that {} was head of", "{a} was head of {b}.", "guild that {a} was head of",
    ),
    "seat_of": ChainRelation(
        "town", "the town where {} has its seat", "{a} has its seat in the town of {b}.",
        "town where {a} has its seat",
    ),
    "taught_by": ChainRelation(
        "person", "the teacher of {}", "{a} was taught by {b}, the only teacher.", "teacher of {a}",
    ),
    "shown_at": ChainRelation(
        "museum", "the museum that shows the work of {}", "The work of {a} is shown at {b}.",
        "museum that shows the work of {a}",
    ),
    "supplied_by": ChainRelation(
        "works", "the works that supply {} with steel", "{a} is supplied with steel by {b}.",
        "works that supply {a} with steel",
    ),
    "led_by": ChainRelation(
        "person", "the director of {}", "{a} is led by the director {b}.", "director of {a}",
    ),
    "winner_of": ChainRelation(
        "prize", "the prize that {} won", "{a} won {b}.", "prize that {a} won",
    ),
    "given_by": ChainRelation(
        "person", "the donor of {}", "{a} is paid for by the donor {b}.", "donor of {a}",
    ),
    "named_after": ChainRelation(
        "ship", "the ship named after {}", "{a} is whom the ship {b} is named after.", "ship named after {a}",
    ),
    "sailed_on": ChainRelation(
        "ship", "the ship on which {} sailed", "{a} sailed on the ship {b}.", "ship on which {a} sailed",
    ),
    "home_port": ChainRelation(
        "town", "the home port of {}", "{a} has the home port {b}.", "home port of {a}",
    ),
    "charter": ChainRelation(
        "year", "In which year was {} given its charter?", "{a} was given its charter in {b}.",
        "year in which {a} was given its charter",
    ),
    "first_fair": ChainRelation(
        "year", "In which year did {} hold its first fair?", "{a} held its first fair in {b}.",
        "year in which {a} held its first fair",
    ),
    "bridges": ChainRelation(
        "number", "How many bridges does {} have?", "{a} has {b} bridges.", "number of bridges of {a}",
    ),
    "towers": ChainRelation(
        "number", "How many towers has the wall of {}?", "The wall of {a} has {b} towers.",
        "number of towers of the wall of {a}",
    ),
    "captain": ChainRelation(
        "person", "Who was the first captain of {}?", "{a} sailed first under the captain {b}.",
        "first captain of {a}",
    ),
    "twin": ChainRelation(
        "town", "Which town is the twin of {}?", "{a} has a twin town, {b}.", "twin town of {a}",
    ),
    "ferry": ChainRelation(
        "town", "To which town does the ferry from {} go?", "The ferry from {a} goes to {b}.",
        "town to which the ferry from {a} goes",
    ),
    "guilds": ChainRelation(
        "guild", "Which three guilds have a house in {}?", "In {a} three guilds have a house: {b}.",
        "three guilds that have a house in {a}", 3,
    ),
}  # fmt: skip
"""Every relation by its name."""
