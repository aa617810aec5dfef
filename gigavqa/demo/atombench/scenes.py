"""Five street scenes of an invented country: one value for each of ATOM-Bench's twelve domains."""

from collections.abc import Mapping
from typing import NamedTuple

from gigavqa.demo.draws import stream


class Trait(NamedTuple):
    """Something that a scene shows in one of several ways.

    `ways` say how, in words that options and rules use; `bait` names what is drawn nowhere. `scope` and `certainty`
    are labels of questions about it.
    """

    question: str
    subject: str
    ways: tuple[str, ...]
    bait: tuple[str, ...]
    scope: str
    certainty: str


TRAITS: Mapping[str, Trait] = {
    "climate": Trait(
        "What lies on the ground beside the street?", "the ground beside the street is",
        ("covered with snow", "dry sand", "green grass"), ("red leaves",), "macro", "high",
    ),
    "geographical_features": Trait(
        "How many peaks has the ridge on the horizon?", "ridges have",
        ("two peaks", "three peaks", "five peaks"), ("no peak: there is no ridge",), "macro", "high",
    ),
    "natural_landmarks": Trait(
        "Which rock stands at the left end of the horizon?", "the great rock is",
        ("an arch", "a needle", "a flat table"), ("a leaning ball",), "macro", "medium",
    ),
    "architectural_style": Trait(
        "What form do the roofs of the houses have?", "roofs are",
        ("gabled", "flat", "domed"), ("thatched", "upturned at their corners"), "macro", "medium",
    ),
    "regional_architecture": Trait(
        "How are the walls of the houses made?", "walls are",
        ("timber-framed", "laid in stripes of brick", "whitewashed with blue shutters"), ("tiled in black and gold",),
        "mid", "high",
    ),
    "unique_structures": Trait(
        "What kind of tower stands behind the houses?", "towers are",
        ("striped lighthouses", "clock towers", "windmills"), ("minarets", "pagodas"), "mid", "medium",
    ),
    "street_characteristics": Trait(
        "How is the middle of the road marked?", "the middle of roads is marked by",
        ("a dashed yellow line", "a solid white line", "two solid white lines"), ("a row of red studs",), "mid", "low",
    ),
    "transportation": Trait(
        "Which vehicle of public transport is on the road?", "people ride in",
        ("a green bus", "a red tram on rails", "an orange bus with two decks"), ("a blue trolleybus",), "mid", "high",
    ),
    "clothing_customs": Trait(
        "What colour are the cloaks of the people on the pavement?", "people wear cloaks of",
        ("crimson", "violet", "yellow"), ("white", "striped green"), "micro", "medium",
    ),
    "currency_flags": Trait(
        "What does the flag on the mast show?", "the flag shows",
        ("a white cross on red", "a yellow disc on blue", "green and white bars"),
        ("a black star on white", "an eagle", "a crescent on green"), "micro", "low",
    ),
    "language_signs": Trait(
        "What are the letters on the large sign made of?", "letters are made of",
        ("rings", "triangles", "dots in squares"), ("Latin capitals: 'KAVIRO'", "wavy lines"), "micro", "low",
    ),
    "license_plates": Trait(
        "What colour is the plate of the parked car?", "plates are",
        ("blue", "yellow", "white"), ("black", "green: its letters are 'AV'"), "micro", "medium",
    ),
}  # fmt: skip


class StreetScene(NamedTuple):
    """One picture: its name, what it shows of each domain, and the domains that its clue questions ask about."""

    name: str
    shows: Mapping[str, int]
    asked: tuple[str, ...]

    @property
    def image(self) -> str:
        """The picture's file in the data set."""
        return f"images/{self.name}.jpg"

    def way(self, domain: str) -> str:
        """Return how it shows a domain's trait, in words."""
        return TRAITS[domain].ways[self.shows[domain]]


_ASKED = {
    "harbour-road": (
        "climate", "architectural_style", "unique_structures", "transportation", "language_signs", "license_plates"
    ),
    "ridge-street": ("geographical_features", "street_characteristics", "clothing_customs"),
    "rock-avenue": ("natural_landmarks", "regional_architecture", "currency_flags"),
    "mill-lane": ("climate", "transportation", "license_plates"),
    "tower-square": ("architectural_style", "street_characteristics", "language_signs"),
}  # fmt: skip
"""The domains of each picture's clue questions, from macro to micro."""


def plan_scenes(seed: int) -> list[StreetScene]:
    """Draw what each of the five pictures shows."""
    scenes = []
    for name, asked in _ASKED.items():
        rng = stream(seed, "atombench", name)
        shows = {domain: int(rng.integers(len(trait.ways))) for domain, trait in TRAITS.items()}
        scenes.append(StreetScene(name, shows, asked))
    return scenes
