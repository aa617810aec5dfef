"""RS logical verification from annotations: truths by brute force, and what is refused."""

import math
from collections import Counter

import numpy as np
import pytest

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box, Flag
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext
from gigavqa.construction.ultravr.rs_verification import OrientationVerification, orientation
from tests.benchmarks.ultravr.good_records import sample_from

WIDTH, HEIGHT = 4000, 3000
NAMES = {"pool": CategoryNames("pool", "pools"), "ship": CategoryNames("ship", "ships")}
CONTEXT = RecipeContext(NAMES, tuple(NAMES))
RECIPE, RNG = OrientationVerification(), np.random.default_rng(0)


def _mark(number: int, category: str, x: float, y: float, angle: float, *flags: Flag) -> Annotation:
    """Mark an object of 60 x 20 pixels around (x, y), turned by an angle in degrees."""
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    corners = [(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in ((-30, -10), (30, -10), (30, 10), (-30, 10))]
    xs, ys = zip(*corners, strict=True)
    quad = tuple(side for corner in corners for side in corner)
    return Annotation(
        f"f#{number}", category, Box(min(xs), min(ys), max(xs), max(ys)), quad=quad, flags=frozenset(flags)
    )


def _scene(seed: int) -> AnnotatedImage:
    """Scatter 4 to 23 objects, a few of them aslant."""
    rng = np.random.default_rng(seed)
    places = rng.uniform((50, 50), (WIDTH - 50, HEIGHT - 50), (int(rng.integers(4, 24)), 2)).tolist()
    angles = rng.choice([0, 5, 90, 170, 80, 45], len(places), p=[0.3, 0.2, 0.2, 0.14, 0.14, 0.02]).tolist()
    categories = rng.choice(["ship", "pool"], len(places)).tolist()
    marks = (
        _mark(number, category, x, y, angle)
        for number, (category, (x, y), angle) in enumerate(zip(categories, places, angles, strict=True), start=1)
    )
    return AnnotatedImage(f"{seed}.png", WIDTH, HEIGHT, tuple(marks))


def _found(image: AnnotatedImage) -> tuple[list[Candidate], list[Rejection]]:
    found = list(RECIPE.candidates(image, CONTEXT, RNG))
    candidates = [one for one in found if isinstance(one, Candidate)]
    return candidates, [one for one in found if isinstance(one, Rejection)]


def _present(image: AnnotatedImage, category: str, region: str, which: str) -> bool:
    """Look for one object by the shape of its upright box."""
    for one in image.annotations:
        assert one.quad
        x, y = sum(one.quad[::2]) / 4, sum(one.quad[1::2]) / 4
        place = f"{'upper' if y < HEIGHT / 2 else 'lower'}-{'left' if x < WIDTH / 2 else 'right'}"
        flat = one.box.x2 - one.box.x1 > one.box.y2 - one.box.y1
        if one.category == category and place == region and flat == (which == "horizontal"):
            return True
    return False


def test_every_record_is_true_and_keeps_the_papers_rules() -> None:
    """Of 100 random scenes: a brute search for each orientation agrees, and no checklist objects."""
    answers: Counter[str] = Counter()
    for image in map(_scene, range(100)):
        for candidate in _found(image)[0]:
            record, program = RECIPE.record(candidate, RECIPE.word(candidate, CONTEXT, RNG)), candidate.program
            assert check_sample(sample_from(record)) == []
            there = [
                _present(image, program["category"], program[region], program["orientation"])
                for region in ("region_a", "region_b")
            ]
            assert record["answer"] == "DCBA"[2 * there[0] + there[1]]
            answers[record["answer"]] += 1
    assert min(answers[letter] for letter in "ABCD") > 100


def test_ids_do_not_move_when_another_object_comes() -> None:
    """A pool far away changes no question about ships."""
    ships = AnnotatedImage("a.png", WIDTH, HEIGHT, (_mark(1, "ship", 500, 500, 0), _mark(2, "ship", 3000, 500, 90)))
    more = AnnotatedImage("a.png", WIDTH, HEIGHT, (*ships.annotations, _mark(3, "pool", 3000, 2500, 0)))
    assert {one.id for one in _found(ships)[0]} == {one.id for one in _found(more)[0]} != set()


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (_mark(2, "ship", 3000, 500, 45), "ambiguous_orientation"),
        (_mark(2, "ship", 3000, 500, 0, "difficult"), "difficult"),
        (_mark(2, "ship", 2025, 500, 0), "near_boundary"),
        (_mark(2, "", 3000, 500, 0, "ignore"), "unlabelled"),
        (_mark(2, "pool", 3000, 500, 0), "absent"),
    ],
)
def test_what_is_not_sure_is_not_asked(second: Annotation, reason: str) -> None:
    """No question stands on a pair of quadrants with a doubtful object, and the rejection says why."""
    image = AnnotatedImage("a.png", WIDTH, HEIGHT, (_mark(1, "ship", 500, 500, 0), second))
    candidates, rejections = _found(image)
    assert not candidates
    assert reason in {one.reason for one in rejections if one.about == "ship in upper-left and upper-right"}
    assert {one.reason for one in rejections} <= set(RECIPE.reasons)


@pytest.mark.parametrize("category", ["ship", ""])
def test_nothing_is_asked_of_a_category_that_lost_a_mark(category: str) -> None:
    """An object that a reader left out may lie in any quadrant; of an unknown category it may be any."""
    marks = (_mark(1, "ship", 500, 500, 0), _mark(2, "ship", 3000, 500, 90))
    candidates, rejections = _found(AnnotatedImage("a.png", WIDTH, HEIGHT, marks, incomplete=frozenset({category})))
    assert not candidates
    assert {one.reason for one in rejections} == {"unlabelled"}


@pytest.mark.parametrize(
    ("angle", "lies"), [(19, "horizontal"), (21, None), (69, None), (71, "vertical"), (161, "horizontal")]
)
def test_twenty_degrees_are_the_most_that_an_orientation_bears(angle: float, lies: str | None) -> None:
    """One degree on either side of each bound."""
    assert orientation(_mark(1, "ship", 500, 500, angle)) == lies
