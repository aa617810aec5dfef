"""The plan of seven documents: invented methods with their numbers, drawn from a seed, from which all truths follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from gigavqa.demo.draws import stream

DOCUMENTS: Mapping[str, str] = {
    "tides": "vision",
    "reefs": "language",
    "dunes": "speech",
    "moors": "robotics",
    "fjords": "graphs",
    "atolls": "planning",
    "glades": "audio",
}
"""The documents with their subjects, one each."""
_METHODS = (
    ("Orla", "Orla Nova", "Brisk", "Calyx", "Dorne"),  # one name begins another: a trap for wordings
    ("Elva", "Fenwick", "Garnet", "Hollis", "Isolde"),
    ("Jasper", "Kestrel", "Lumen", "Morrow", "Nimbus"),
    ("Opaline", "Pergola", "Quill", "Rowan", "Sable"),
    ("Tamsin", "Umber", "Verity", "Wexford", "Xanthe"),
    ("Yarrow", "Zephyr", "Alder", "Birch", "Cinder"),
    ("Dahlia", "Ember", "Fable", "Gossamer", "Harrow"),
)
BENCHMARKS = ("Dawn", "Noon", "Dusk")
COLOURS: Mapping[str, tuple[int, int, int]] = {
    "Teal": (0, 128, 128),
    "Red": (200, 30, 40),
    "Ochre": (204, 119, 34),
    "Grey": (128, 128, 128),
    "Violet": (120, 40, 180),
}
SHARES = ("third", "half", "quarter", "fifth", "tenth")
STEPS = ("sample", "score", "prune", "merge", "update")


@dataclass(frozen=True)
class Paper:
    """One document: five methods, and for each of them, in their order, what figures, tables and texts say.

    `heights` are the bars of figure 1, `curves` the lines of figure 3, `colours` and `points` (in the unit square) are
    those of figure 2, `results` the rows of table 1 and `millions` the column of table 2; `hours` and `shares` stand in
    sentences, `factor` and `offset` in formula 1, `steps` in the lines of algorithm 1.
    """

    name: str
    subject: str
    methods: tuple[str, ...]
    heights: tuple[int, ...]
    curves: tuple[tuple[int, ...], ...]
    colours: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    results: tuple[tuple[int, ...], ...]
    millions: tuple[int, ...]
    hours: tuple[int, ...]
    shares: tuple[str, ...]
    factor: int
    offset: int
    steps: tuple[str, ...]

    @cached_property
    def means(self) -> tuple[float, ...]:
        """The last column of table 1."""
        return tuple(sum(row) / len(row) for row in self.results)


def plan_papers(seed: int) -> tuple[Paper, ...]:
    """Draw all documents; numbers that a question compares differ by what an eye can see."""
    return tuple(_paper(seed, name, _METHODS[at]) for at, name in enumerate(DOCUMENTS))


def _paper(seed: int, name: str, methods: tuple[str, ...]) -> Paper:
    rng = stream(seed, "mmcr", name)

    def mixed(values: range) -> tuple[int, ...]:
        return tuple(int(one) for one in rng.permutation(list(values)))[: len(methods)]

    means = mixed(range(50, 80, 6))
    spread = [int(one) for one in rng.integers(2, 9, len(methods))]
    return Paper(
        name=name,
        subject=DOCUMENTS[name],
        methods=methods,
        heights=mixed(range(20, 95, 15)),
        curves=tuple((5, end // 3, 2 * end // 3, end) for end in mixed(range(20, 100, 16))),
        colours=tuple(list(COLOURS)[at] for at in rng.permutation(len(COLOURS))),
        points=tuple(
            (0.1 + 0.8 * x / 100, 0.1 + 0.8 * y / 100)
            for x, y in zip(mixed(range(0, 100, 20)), mixed(range(0, 100, 20)), strict=True)
        ),
        results=tuple((mean - by, mean, mean + by) for mean, by in zip(means, spread, strict=True)),
        millions=mixed(range(12, 90, 7)),
        hours=mixed(range(12, 72, 6)),
        shares=tuple(SHARES[at] for at in rng.permutation(len(SHARES))),
        factor=int(rng.integers(5, 10)),
        offset=int(rng.integers(3, 12)),
        steps=tuple(STEPS[at] for at in rng.permutation(len(STEPS))),
    )
