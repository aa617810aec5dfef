"""Plan the chart: every size once, and all else in all pairs equally often.

Pictures come in blocks of sixteen about as large rings. In each, every kind of scene meets every place, colour,
direction and letter once, as in an orthogonal array of five factors with four levels.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.demo.draws import stream
from gigavqa.tiling.geometry import Region
from gigavqa_acuity.asking import write_question
from gigavqa_acuity.chart.pictures import SIDE, TINY, ChartImage, Draws, diameter_at, draw_picture, evidence_of
from gigavqa_acuity.taxonomy import (
    ATTRIBUTES,
    COLOURS,
    DIRECTIONS,
    LETTERS,
    PLACES,
    SCENES,
    WORDS,
    Attribute,
)

PICTURES = 128
BLOCK = 16
_TIMES = ((0, 0, 0, 0), (0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2))
"""Products in the field of four elements, whose sum is the exclusive or."""


class ChartItem(NamedTuple):
    """A picture with its file, what seeds the things around its ring, its evidence, and the letters of its answers."""

    image: str
    picture: ChartImage
    seed: int
    evidence: Region
    options: Mapping[Attribute, Mapping[str, str]]


def plan_chart(seed: int, pictures: int = PICTURES, side: int = SIDE) -> list[ChartItem]:
    """Return all pictures of a chart, in order of their files, which tells nothing.

    `pictures` is a multiple of sixteen.
    """
    rng = stream(seed, "acuity")
    diameters = _diameters(rng, pictures, side)
    drawn = [
        _planned(rng, diameter, traits, side)
        for start in range(0, pictures, BLOCK)
        for diameter, traits in zip(diameters[start : start + BLOCK], _block(rng), strict=True)
    ]
    order = rng.permutation(pictures).tolist()
    return [drawn[at]._replace(image=f"images/{number:03}.tif") for number, at in enumerate(order, start=1)]


def _diameters(rng: Draws, pictures: int, side: int) -> list[int]:
    """One tiny ring in sixteen, and the others at a random place of equally many steps; from small to large."""
    tiny = [TINY[number % len(TINY)] for number in range(pictures // BLOCK)]
    steps = pictures - len(tiny)
    return sorted([*tiny, *(diameter_at((number + rng.random()) / steps, side) for number in range(steps))])


def _block(rng: Draws) -> list[tuple[int, ...]]:
    """Sixteen rows of six levels, in random order and with random names: columns but the last two hold every pair once.

    The last two are the letters of the two answers.
    """
    rows = [(a, b, *(a ^ _TIMES[times][b] for times in (1, 2, 3, 3))) for a in range(4) for b in range(4)]
    names = [rng.permutation(4).tolist() for _ in rows[0]]
    return [tuple(names[column][level] for column, level in enumerate(rows[at])) for at in rng.permutation(BLOCK)]


def _planned(rng: Draws, diameter: int, traits: tuple[int, ...], side: int) -> ChartItem:
    kind, place, colour, direction, *letters = traits
    picture = draw_picture(
        rng,
        diameter,
        kind=SCENES[kind],
        place=PLACES[place],
        colour=COLOURS[colour],
        direction=DIRECTIONS[direction],
        side=side,
    )
    options = {one: _options(rng, picture, one, letter) for one, letter in zip(ATTRIBUTES, letters, strict=True)}
    return ChartItem("", picture, int(rng.integers(2**31)), evidence_of(rng, picture), options)


def _options(rng: Draws, picture: ChartImage, attribute: Attribute, letter: int) -> dict[str, str]:
    """Return all words in random order, but for the true one, which has the given letter."""
    true = getattr(picture.optotype, attribute)
    words = [word for word in WORDS[attribute] if word != true]
    words = [words[at] for at in rng.permutation(len(words))]
    return dict(zip(LETTERS, [*words[:letter], true, *words[letter:]], strict=True))


def records(planned: ChartItem) -> Iterator[dict[str, Any]]:
    """Yield the samples of a picture: one about its ring's colour, one about its gap's direction."""
    picture, name = planned.picture, Path(planned.image).stem
    for attribute, options in planned.options.items():
        true = getattr(picture.optotype, attribute)
        yield {
            "id": f"{name}-{attribute}",
            "images": [planned.image],
            "question": write_question(attribute),
            "options": options,
            "answer": next(letter for letter, word in options.items() if word == true),
            "attribute": attribute,
            "scene": picture.kind,
            "place": picture.place,
            "optotype": picture.optotype.model_dump(),
            "evidence": str(planned.evidence),
        }
