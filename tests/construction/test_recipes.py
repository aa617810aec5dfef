"""Recipes find what is true, and refuse what is not clear."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.count import CountRecipe
from gigavqa.construction.recipes.presence import PresenceRecipe
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext
from gigavqa.construction.recipes.region import RegionRecipe
from gigavqa.construction.recipes.registry import recipes_of
from gigavqa.construction.recipes.rules import THRESHOLDS
from tests.construction.oracle import true_answer
from tests.construction.worlds import CATEGORIES, CONTEXT, HEIGHT, KINDS, WIDTH, draw_images

RNG = np.random.default_rng(0)


def _proposed(image: AnnotatedImage) -> Iterator[Candidate | Rejection]:
    for recipe in recipes_of("questions").values():
        yield from recipe.candidates(image, CONTEXT, RNG)


def _candidates(image: AnnotatedImage) -> list[Candidate]:
    return [each for each in _proposed(image) if isinstance(each, Candidate)]


def _object(name: str, x: float, y: float, side: float = 40, category: str = "ship") -> Annotation:
    return Annotation(name, category, Box(x, y, x + side, y + side))


def _found(recipe: str, *objects: Annotation, lost: str | None = None) -> tuple[set[str], set[str]]:
    """What a recipe asks of an image with these objects, and for which reasons it rejects; `lost` is incomplete."""
    incomplete = frozenset[str]() if lost is None else frozenset({lost})
    image = AnnotatedImage("one.png", 1000, 1000, objects, incomplete=incomplete)
    each = list(recipes_of("questions")[recipe].candidates(image, CONTEXT, RNG))
    asked = {str(one.program.get("how", one.program["ask"])) for one in each if isinstance(one, Candidate)}
    return asked, {one.reason for one in each if isinstance(one, Rejection)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_truth_is_that_of_a_brute_force_oracle(kind: str) -> None:
    """Over 150 images of each world, and every candidate of every recipe."""
    wrong = [
        (each.id, each.program, each.truth)
        for image in draw_images(kind, 150)
        for each in _candidates(image)
        if true_answer(each, image) != each.truth
    ]
    assert wrong == []


def test_every_recipe_asks_something_and_gives_only_reasons_that_it_lists() -> None:
    """In a few images of the densest world and of the sparsest."""
    each = [one for kind in KINDS for image in draw_images(kind, 10) for one in _proposed(image)]
    assert {one.recipe for one in each if isinstance(one, Candidate)} == set(recipes_of("questions"))
    reasons = {(one.recipe, one.reason) for one in each if isinstance(one, Rejection)}
    assert [pair for pair in reasons if pair[1] not in recipes_of("questions")[pair[0]].reasons] == []


def _swap(word: object) -> object:
    text = str(word)
    for left, right in (("left", "right"), ("column-1", "column-4"), ("column-2", "column-3")):
        if left in text or right in text:
            return text.replace(left, "#").replace(right, left).replace("#", right)
    return word


def _told(each: Candidate, *, mirrored: bool = False) -> str:
    swap = _swap if mirrored else lambda word: word
    fields = {key: value for key, value in each.program.items() if key != "options"}
    fields = {key: list(map(swap, value)) if isinstance(value, list) else swap(value) for key, value in fields.items()}
    return f"{each.recipe} {sorted(fields.items())} {each.program['options']} {swap(each.truth)} {sorted(each.objects)}"


def test_a_mirrored_image_swaps_left_and_right_and_nothing_else() -> None:
    """Without ground north, which turns with the image."""
    for drawn in draw_images("sparse", 30):
        image = replace(drawn, labels={})
        turned = [
            replace(one, box=Box(WIDTH - one.box.x2, one.box.y1, WIDTH - one.box.x1, one.box.y2))
            for one in image.annotations
        ]
        mirror = replace(image, annotations=tuple(turned))
        assert sorted(map(_told, _candidates(mirror))) == sorted(
            _told(each, mirrored=True) for each in _candidates(image)
        )


def test_other_names_of_categories_change_words_alone() -> None:
    """Candidates, truths and orders of options stay."""
    image = next(draw_images("dense", 1))
    names = {name: CategoryNames(f"vehicle {name}", f"vehicles {name}") for name in CATEGORIES}
    renamed = RecipeContext(names, CATEGORIES, CONTEXT.attributes)
    for recipe in recipes_of("questions").values():
        both = [
            [each for each in recipe.candidates(image, context, RNG) if isinstance(each, Candidate)]
            for context in (CONTEXT, renamed)
        ]
        assert [each.id for each in both[0]] == [each.id for each in both[1]]


def test_an_object_far_from_all_others_changes_no_question_of_other_categories() -> None:
    """A tank comes in: what is asked of ships, cars and planes alone keeps its id."""
    image = replace(next(draw_images("sparse", 1, seed=3)), image="far.png")
    others = tuple(one for one in image.annotations if one.category not in ("tank", "tower"))
    before = replace(image, annotations=others)
    after = replace(before, annotations=(*others, _object("t#1", 2000, HEIGHT - 60, 20, "tank")))
    kept = {each.id for each in _candidates(after)}
    lost = [each for each in _candidates(before) if each.id not in kept]
    assert [each.program for each in lost if "tank" not in str(each.program)] == []


@pytest.mark.parametrize(
    ("recipe", "asked", "objects", "reason", "nearly"),
    [
        ("extreme", "leftmost", [(100, 100), (130, 600)], "near_tie", [(100, 100), (119, 600)]),
        ("extreme", "largest", [(100, 100, 50), (600, 600, 44)], "near_tie", [(100, 100, 50), (600, 600, 45)]),
        ("relation", "relation", [(100, 100, 50), (600, 131, 40)], "near_tie", [(100, 100, 50), (600, 129, 40)]),
        ("count", "count", [(1, 100)], "cut", [(0, 100)]),
        ("count", "count", [(100, 100, 8)], "tiny", [(100, 100, 7)]),
        ("part_whole", "most", [(10, 10), (90, 10), (460, 400), (600, 600)], "near_line",
         [(10, 10), (90, 10), (461, 400), (600, 600)]),
    ],
)  # fmt: skip
def test_a_unit_on_either_side_of_a_threshold_decides(
    recipe: str, asked: str, objects: list[tuple[float, ...]], reason: str, nearly: list[tuple[float, ...]]
) -> None:
    """On one side the question is asked, on the other it is rejected for the reason."""
    clear = [_object(f"a#{at}", *place) for at, place in enumerate(objects)]
    close = [_object(f"a#{at}", *place) for at, place in enumerate(nearly)]
    assert asked in _found(recipe, *clear)[0]
    assert asked not in _found(recipe, *close)[0]
    assert reason in _found(recipe, *close)[1]


@pytest.mark.parametrize(
    ("flag", "reason"),
    [("difficult", "difficult"), ("truncated", "cut"), ("crowd", "unlabelled"), ("ignore", "unlabelled")],
)
def test_flags_that_make_a_count_uncertain_reject_it(flag: str, reason: str) -> None:
    """Whatever the other objects are."""
    flagged = replace(_object("a#2", 500, 500), flags=frozenset({flag}))
    assert _found("count", _object("a#1", 100, 100), flagged) == (set(), {reason})


@pytest.mark.parametrize("recipe", ["count", "more_or_fewer", "part_whole"])
def test_evidence_of_what_is_counted_is_one_box_around_all_of_it(recipe: str) -> None:
    """However many there are, so that the number of views does not tell; it holds each of them and no pixel more."""
    own = recipes_of("questions")[recipe]
    numbers = set()
    for image in draw_images("dominant", 20):
        by_id = {one.id: one.box for one in image.annotations}
        for each in own.candidates(image, CONTEXT, RNG):
            if isinstance(each, Candidate):
                x1, y1, x2, y2 = np.array([by_id[name] for name in each.objects]).T
                assert each.boxes == (Box(x1.min(), y1.min(), x2.max(), y2.max()),)
                numbers.add(len(each.objects))
    assert len(numbers) > 3


def test_a_recipe_with_other_thresholds_looks_at_the_same_image_by_its_own() -> None:
    """One after the other, in both orders."""
    image = AnnotatedImage("one.png", 1000, 1000, (_object("a#1", 100, 100),))
    for least in (8, 100, 8):
        (each, *_) = CountRecipe(replace(THRESHOLDS, min_side=least)).candidates(image, CONTEXT, RNG)
        assert isinstance(each, Candidate) == (least == 8)


def _told_categories(each: Candidate | Rejection) -> set[str]:
    """The categories that a candidate's truth is about, or a rejection."""
    if isinstance(each, Rejection):
        return set(each.about.replace(" and ", ", ").split(", "))
    program = each.program
    return {program["category"]} if "category" in program else set(program.get("categories") or program["among"])


@pytest.mark.parametrize("recipe", recipes_of("questions"))
def test_nothing_is_asked_of_a_category_of_which_a_mark_was_left_out(recipe: str) -> None:
    """It is rejected as not labelled, and what is asked of other categories stays as it was."""
    own = recipes_of("questions")[recipe]
    for drawn in draw_images("sparse", 40):
        whole, lost, unknown = (
            list(own.candidates(replace(drawn, incomplete=frozenset(names)), CONTEXT, RNG))
            for names in ((), ("ship",), ("",))
        )
        asked = [each for each in whole if isinstance(each, Candidate)]
        about = [each for each in asked if "ship" in _told_categories(each)]
        assert [each for each in lost if isinstance(each, Candidate)] == [each for each in asked if each not in about]
        reasons = {each.reason for each in lost if isinstance(each, Rejection) and "ship" in _told_categories(each)}
        assert not about or "unlabelled" in reasons
        assert [each for each in unknown if isinstance(each, Candidate)] == []


@pytest.mark.parametrize(("lost", "rejected"), [(None, False), ("plane", False), ("ship", True), ("", True)])
def test_one_mark_that_was_left_out_decides_whether_ships_are_counted(lost: str | None, rejected: bool) -> None:
    """On one side they are counted, on the other they are not: nobody knows how many there are."""
    expected = (set(), {"unlabelled"}) if rejected else ({"count"}, set())
    assert _found("count", _object("a#1", 100, 100), lost=lost) == expected


def test_evidence_of_presence_is_one_box_whatever_the_answer() -> None:
    """So that the number of views does not give it away."""
    found = [each for image in draw_images("sparse", 20) for each in _candidates(image) if each.recipe == "presence"]
    assert {(each.truth, len(each.boxes)) for each in found} == {("yes", 1), ("no", 1)}


def _mosaic(marks: int, side: int = 8000) -> AnnotatedImage:
    rng = np.random.default_rng(1)
    at = rng.integers(20, side - 60, (marks, 2))
    objects = tuple(_object(f"a#{n}", float(x), float(y), 12) for n, (x, y) in enumerate(at))
    return AnnotatedImage("mosaic.png", side, side, objects)


def test_thousands_of_marks_are_counted_in_cells_of_a_grid() -> None:
    """Of the coarsest grid in which people can count: each cell is its own evidence, and every number is true."""
    image = _mosaic(2000)
    found = [each for each in RegionRecipe().candidates(image, CONTEXT, RNG) if isinstance(each, Candidate)]
    counts = [each for each in found if each.program["ask"] == "count"]
    assert {each.program["grid"] for each in found} == {16}
    assert len({each.truth for each in counts}) > 5
    assert all(true_answer(each, image) == each.truth for each in found)
    assert {each.boxes[0][2] - each.boxes[0][0] for each in found} == {500.0}


def test_an_object_across_a_border_of_cells_is_counted_in_neither() -> None:
    """Nor is its category said to be missing there."""
    across = _object("a#1", 480, 100)
    asked, reasons = _found("region", across, _object("a#2", 100, 200), _object("a#3", 700, 200, category="car"))
    assert asked == {"count", "presence"}
    assert "near_line" in reasons
    image = AnnotatedImage("one.png", 1000, 1000, (across, _object("a#2", 700, 200, category="car")))
    found = [each for each in RegionRecipe().candidates(image, CONTEXT, RNG) if isinstance(each, Candidate)]
    assert [each.program["category"] for each in found if each.truth == "no"] == []


def test_evidence_of_presence_is_of_no_other_size_whatever_the_answer() -> None:
    """It is the largest object of its picture as often for no as for yes."""
    largest: dict[str, list[bool]] = {"yes": [], "no": []}
    for image in draw_images("sparse", 150):
        sizes = {one.id: (one.box.x2 - one.box.x1) * (one.box.y2 - one.box.y1) for one in image.annotations}
        for each in PresenceRecipe().candidates(image, CONTEXT, RNG):
            if isinstance(each, Candidate):
                largest[each.truth].append(sizes[each.objects[0]] == max(sizes.values()))
    assert min(map(len, largest.values())) > 100
    assert abs(np.mean(largest["yes"]) - np.mean(largest["no"])) < 0.15
