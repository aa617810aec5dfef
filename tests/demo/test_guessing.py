"""Nobody who sees only the texts answers better than by chance: in each category, whatever rule is followed."""

from collections.abc import Callable
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest

from gigavqa.answers.coordinates import format_coordinate
from gigavqa.construction.guessing.readers import Rule, accuracy, learned
from gigavqa.demo.records import lettered, shuffled
from gigavqa.demo.ultravr.ad.grid import plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.ad.samples import draw_choice, grid_records
from gigavqa.demo.ultravr.cctv import questions as cctv
from gigavqa.demo.ultravr.records import RecordQuestion
from gigavqa.demo.ultravr.rs import questions as rs
from gigavqa.demo.ultravr.wsi import questions as wsi
from tests.demo.readers import RULES

DRAWN = 2000
SEEN = 1500
_Kind = tuple[str, str]


def _cctv(seed: int) -> dict[_Kind, list[RecordQuestion]]:
    asked = cctv.draw_questions(seed)
    return {
        ("cctv", "comparison"): [case.question for case in asked.comparisons],
        ("cctv", "logical_verification"): [case.question for case in asked.verifications],
        ("cctv", "relational_inference"): [case.question for case in asked.relations],
    }


def _rs(seed: int) -> dict[_Kind, list[RecordQuestion]]:
    asked = rs.draw_questions(seed)
    return {
        ("rs", "comparison"): [case.question for case in asked.comparisons],
        ("rs", "logical_verification"): [case.question for case in asked.verifications],
        ("rs", "relational_inference"): [case.question for case in asked.relations],
    }


def _wsi(seed: int) -> dict[_Kind, list[RecordQuestion]]:
    asked = wsi.draw_questions(seed).inquiries
    templates = ("T1", "T2", "T3", "T4")
    return {
        ("wsi", name): [i.question for i in asked if i.template == name and i.question.answer] for name in templates
    }


def _ad(seed: int) -> dict[_Kind, list[RecordQuestion]]:
    return {("ad", product.category): [draw_choice(plan_grid(seed, product))] for product in PRODUCTS}


_DRAW: dict[str, Callable[[int], dict[_Kind, list[RecordQuestion]]]] = {
    "cctv": _cctv,
    "rs": _rs,
    "wsi": _wsi,
    "ad": _ad,
}
_KINDS = [kind for draw in _DRAW.values() for kind in draw(0)]
_READINGS = len(_KINDS) * (len(RULES) + 1)


@cache
def _drawn(domain: str) -> list[dict[_Kind, list[RecordQuestion]]]:
    """The questions of as many scenes as are read and learned from; nothing is painted."""
    return [_DRAW[domain](seed) for seed in range(DRAWN + SEEN)]


def _questions(kind: _Kind, seeds: range) -> list[RecordQuestion]:
    """One question of a scene, so that they are independent, and each of the scene's in turn."""
    scenes = _drawn(kind[0])
    return [scenes[seed][kind][seed % len(scenes[seed][kind])] for seed in seeds]


def _interval(chance: float, drawn: int) -> tuple[float, float]:
    """Where the share of right guesses lies in 99 of 100 runs of all readings together."""
    deviations = NormalDist().inv_cdf(1 - 0.01 / 2 / _READINGS)
    reach = deviations * (chance * (1 - chance) / drawn) ** 0.5
    return chance - reach, chance + reach


@pytest.mark.slow
@pytest.mark.parametrize("kind", _KINDS, ids="-".join)
def test_no_reader_of_the_texts_alone_beats_chance(kind: _Kind) -> None:
    """Over 2,000 drawn questions, no rule, learned or given, is right more or less often than a quarter of the time."""
    questions = _questions(kind, range(DRAWN))
    rules = {**RULES, "learned": learned(_questions(kind, range(DRAWN, DRAWN + SEEN)))}
    shares = {name: accuracy(rule, questions) for name, rule in rules.items()}
    least, most = _interval(0.25, DRAWN)
    assert {name: share for name, share in shares.items() if not least <= share <= most} == {}


def _near_cells(rng: np.random.Generator) -> RecordQuestion:
    """The anomalous cell among three close to it."""
    row, column = (int(at) for at in rng.integers(3, 9, 2))
    near = [
        (row + down, column + across) for down in range(-2, 3) for across in range(-2, 3) if (down, across) != (0, 0)
    ]
    others = [near[int(index)] for index in rng.choice(len(near), 3, replace=False)]
    cells = [format_coordinate(cell) for cell in ((row, column), *others)]
    return RecordQuestion("Which cell?", *shuffled(cells, cells[0], rng))


def _single_flips(rng: np.random.Generator) -> RecordQuestion:
    """A summary among three that each differ from it in one attribute."""
    attributes = (("high-grade", "lower-grade"), ("unifocal", "multifocal"), ("in-situ", "invasive"))
    chosen = [tuple(pair[:: 1 if rng.integers(2) else -1]) for pair in attributes]
    texts = [" ".join(pair[0] for pair in chosen)]
    texts += [" ".join(pair[position == flipped] for position, pair in enumerate(chosen)) for flipped in range(3)]
    return RecordQuestion("Which summary?", *shuffled(texts, texts[0], rng))


def _ratio_beside_its_ordering(rng: np.random.Generator) -> RecordQuestion:
    """Four claims whose ratio implies the ordering, so that it cannot be the only true one."""
    texts = [
        f"The absolute difference between the counts of cats and dogs is {int(rng.integers(3, 9))}.",
        f"The total count of cats and dogs is {int(rng.integers(30, 40))}.",
        "Cats are more numerous than dogs.",
        "The ratio of the count of cats to the count of dogs is 3:2.",
    ]
    asked = "Comparing cats and dogs, which option states a correct relationship between their counts?"
    return RecordQuestion(asked, *shuffled(texts, texts[int(rng.integers(3))], rng))


def _second_number(rng: np.random.Generator) -> RecordQuestion:
    """A difference that is the second of four numbers more often than not."""
    texts = [str(number) for number in range(4)]
    return RecordQuestion(
        "What is the difference?", *shuffled(texts, texts[int(rng.choice(4, p=(0.25, 0.42, 0.25, 0.08)))], rng)
    )


def _favoured_letter(rng: np.random.Generator) -> RecordQuestion:
    """An answer that depends on what is asked."""
    kind = int(rng.integers(4))
    asked = f"Where are the {('cats', 'dogs', 'mice', 'rats')[kind]}?"
    return RecordQuestion(asked, lettered(["up", "down", "in", "out"]), "ABCD"[kind])


@pytest.mark.parametrize(
    ("leaky", "rule"),
    [
        (_near_cells, "most central"),
        (_single_flips, "most frequent words"),
        (_ratio_beside_its_ordering, "possible as the only true claim"),
        (_second_number, "rank 2"),
        (_favoured_letter, "learned"),
    ],
)
def test_a_reader_finds_the_leak_that_it_looks_for(
    leaky: Callable[[np.random.Generator], RecordQuestion], rule: str
) -> None:
    """Questions whose options give the answer away are answered better than by chance, so the readers can read."""
    rng = np.random.default_rng(2)
    questions = [leaky(rng) for _ in range(DRAWN)]
    reader: Rule = learned(leaky(rng) for _ in range(SEEN)) if rule == "learned" else RULES[rule]
    assert accuracy(reader, questions) > _interval(0.25, DRAWN)[1]


@pytest.mark.parametrize("kind", _KINDS, ids="-".join)
def test_the_options_of_a_question_all_differ(kind: _Kind) -> None:
    """No question offers one text twice, by which it could be ruled out."""
    assert all(len({text.casefold() for text in q.options.values()}) == 4 for q in _questions(kind, range(DRAWN)))


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_every_cell_of_a_grid_and_of_its_sheet_is_anomalous_as_often(product: object) -> None:
    """Who is asked for a coordinate learns nothing from the grid, and who is shown a sheet nothing from its place."""
    (chosen,) = [candidate for candidate in PRODUCTS if candidate is product]
    grids = [plan_grid(seed, chosen) for seed in range(2 * DRAWN)]
    cells = np.array([grid.cell for grid in grids])
    inside = cells - np.array([grid.sheet for grid in grids])
    for places, sides in ((cells - 1, (10, 10)), (inside, (5, 5))):
        shares = np.bincount(places[:, 0] * sides[1] + places[:, 1], minlength=sides[0] * sides[1]) / len(grids)
        least, most = _interval(1 / len(shares), len(grids))
        assert least <= shares.min() and shares.max() <= most


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_every_option_lies_on_the_sheet_that_is_shown(product: object) -> None:
    """The sheet that local evidence shows, stored with the sample, rules no option out."""
    (chosen,) = [candidate for candidate in PRODUCTS if candidate is product]
    for seed in range(100):
        _, choice = grid_records(plan_grid(seed, chosen))
        row, column = choice["evidence"]["sheet"]
        sheet = {format_coordinate((row + down, column + across)) for down in range(5) for across in range(5)}
        assert set(choice["options"].values()) <= sheet
