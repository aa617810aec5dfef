"""Truths of UltraVR's recipes: against brute force, under mirroring, and one pixel on either side of each threshold."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.bundles import Bundle
from gigavqa.construction.candidates import Candidate
from tests.benchmarks.ultravr.good_records import sample_from
from tests.construction.ultravr.oracle import answer_of
from tests.construction.ultravr.worlds import CONTEXT, RECIPES, WIDTH, candidates, land, mark, plaza


def _record(candidate: Candidate) -> dict[str, object]:
    recipe = RECIPES[candidate.recipe]
    return recipe.record(candidate, recipe.word(candidate, CONTEXT, np.random.default_rng(1)))


def _check_worlds(seeds: range) -> Counter[str]:
    """Compare with brute force and the paper's own rules: of each scene a few questions of each recipe."""
    checked: Counter[str] = Counter()
    for image in (world(seed) for seed in seeds for world in (land, plaza)):
        by_recipe: defaultdict[str, list[Candidate]] = defaultdict(list)
        for candidate in candidates(image):
            by_recipe[candidate.recipe].append(candidate)
        for recipe, found in by_recipe.items():
            for candidate in found[:: max(1, len(found) // 4)]:
                record = _record(candidate)
                assert record["options"][record["answer"]] == answer_of(image, record), record["id"]  # type: ignore[index]
                assert check_sample(sample_from(record)) == []
                checked[recipe] += 1
    return checked


def test_brute_force_agrees() -> None:
    """On six scenes of each kind, of which every recipe asks."""
    assert set(_check_worlds(range(6))) == set(RECIPES)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_brute_force_agrees_on_two_thousand_scenes(part: int) -> None:
    """Without one disagreement, in parts of 250 of each kind."""
    checked = _check_worlds(range(100 + 250 * part, 350 + 250 * part))
    assert min(checked.values()) > 200, checked


_MIRRORED = {"left": "right", "right": "left", "west": "east", "east": "west", "leftmost": "rightmost"}
_MIRRORED |= {"rightmost": "leftmost", "upper-left": "upper-right", "upper-right": "upper-left"}
_MIRRORED |= {"lower-left": "lower-right", "lower-right": "lower-left"}
_MIRRORED |= {"front-left": "front-right", "front-right": "front-left"}
_MIRRORED |= {"back-left": "back-right", "back-right": "back-left"}


def _mirror(image: AnnotatedImage) -> AnnotatedImage:
    marks = []
    for one in image.annotations:
        box = Box(WIDTH - one.box.x2, one.box.y1, WIDTH - one.box.x1, one.box.y2)
        quad = one.quad and tuple(side if at % 2 else WIDTH - side for at, side in enumerate(one.quad))
        marks.append(replace(one, box=box, quad=quad))
    return replace(image, annotations=tuple(marks))


def _told(image: AnnotatedImage, *, mirrored: bool) -> set[tuple[str, ...]]:
    """What is asked and answered, in words that a mirror turns if told so; which of many are drawn is left aside."""
    told = set()
    for candidate in candidates(image):
        if candidate.recipe in ("rs-comparison", "cctv-comparison"):
            continue
        record = _record(candidate)
        answer = record["options"][record["answer"]]  # type: ignore[index]
        text = f"{record['question']} {answer}"
        if mirrored:
            words = [word.strip(".,?") for word in text.split()]
            text = " ".join(_MIRRORED.get(word, word) for word in words)
        else:
            text = " ".join(word.strip(".,?") for word in text.split())
        told.add((candidate.recipe, text))
    return told


def test_a_mirror_exchanges_left_and_right_and_nothing_else() -> None:
    """Quadrants, leftmost and rightmost; options ask first for west in both, so those are left aside."""
    for world in (land, plaza):
        plain = world(3)
        unmoved = {one for one in _told(plain, mirrored=True) if "west" not in one[1] and "east" not in one[1]}
        turned = {one for one in _told(_mirror(plain), mirrored=False) if "west" not in one[1] and "east" not in one[1]}
        assert unmoved == turned != set()


def test_an_object_far_away_changes_no_record_that_does_not_count_it() -> None:
    """A new tree stands in no question of ships, whatever else it makes."""
    for image in (land(3), plaza(3)):
        tree = Annotation("f#999", "tree", Box(5, 5, 25, 25))
        before = {one.id for one in candidates(image)}
        assert before <= {one.id for one in candidates(replace(image, annotations=(*image.annotations, tree)))}
        assert before


def _found(recipe: str, *marks: Annotation) -> set[str]:
    """Reasons for which something was rejected, with `asked` where anything can be asked."""
    image = AnnotatedImage("a.png", 4000, 3000, marks)
    each = RECIPES[recipe].candidates(image, CONTEXT, np.random.default_rng(0))
    return {"asked" if isinstance(one, Candidate) else one.reason for one in each}


@pytest.mark.parametrize(("lead", "asked"), [(29, False), (31, True)])
def test_the_outermost_object_leads_by_half_its_side(lead: int, asked: bool) -> None:
    """30 pixels of ships that are 60 wide."""
    ships = (mark(1, "ship", 500, 500), mark(2, "ship", 500 + lead, 800))
    found = _found("rs-relational-inference", *ships, mark(3, "ship", 2900, 1100))
    assert ("near_tie" not in found) == asked


@pytest.mark.parametrize(("y", "asked"), [(514, False), (516, True)])
def test_a_relation_holds_by_a_share_of_the_side(y: int, asked: bool) -> None:
    """15 pixels of 3,000, between objects that are 20 high."""
    found = _found("rs-relational-inference", mark(1, "ship", 500, 500), mark(2, "ship", 2900, y))
    assert ("asked" in found) == asked


@pytest.mark.parametrize(("gap", "expected"), [(49, "asked"), (51, "ambiguous_condition"), (76, "asked")])
def test_nearness_ends_at_half_a_diagonal_and_is_unsure_up_to_half_as_much_more(gap: int, expected: str) -> None:
    """Roundabouts of 60 x 80 have a diagonal of 100; one ship touches each, so that the condition holds for some."""
    marks = []
    for at, x in enumerate((800, 2800)):
        marks += [mark(10 * at + 1, "roundabout", x, 600, size=(60, 80)), mark(10 * at + 2, "ship", x, 600)]
        marks += [mark(10 * at + 3, "ship", x, 900), mark(10 * at + 4, "ship", x + 30 + gap + 30, 600)]
    found = _found("rs-comparison", *marks)
    assert expected in found
    assert ("ambiguous_condition" in found) == (expected == "ambiguous_condition")


@pytest.mark.parametrize(("number", "asked"), [(12, True), (13, False)])
def test_a_comparison_counts_twelve_at_most(number: int, asked: bool) -> None:
    """Of either bundle."""
    persons = [mark(at, "person", 100 + 100 * at, 300) for at in range(number)]
    found = _found("cctv-comparison", *persons, mark(90, "bicycle", 500, 700))
    assert ("asked" in found) == asked


@pytest.mark.parametrize(("number", "reason"), [(1, "too_few"), (2, "asked"), (24, "asked"), (25, "dense")])
def test_a_verification_counts_two_to_twenty_four(number: int, reason: str) -> None:
    """Of which most lie in one quadrant."""
    persons = [mark(at, "person", 100 + 70 * at, 300) for at in range(number)]
    assert reason in _found("cctv-logical-verification", *persons)


@pytest.mark.parametrize(("across", "asked"), [(79, False), (81, True)])
def test_persons_stand_apart_in_both_directions(across: int, asked: bool) -> None:
    """By 80 pixels of 4,000."""
    cues = {"facing": "left", "upper clothing": "pink"}
    one = replace(mark(1, "person", 500, 500), attributes=cues)
    other = replace(mark(2, "person", 500 + across, 700), attributes={**cues, "upper clothing": "blue"})
    assert ("asked" in _found("cctv-relational-inference", one, other)) == asked


def test_a_description_that_may_fit_another_person_is_none() -> None:
    """Whoever lacks a cue may have it; one with another value does not."""
    one = replace(mark(1, "person", 500, 500), attributes={"facing": "left", "upper clothing": "pink"})
    other = replace(mark(2, "person", 900, 700), attributes={"facing": "left", "upper clothing": "blue"})
    unknown = mark(3, "person", 1200, 900)
    assert "asked" in _found("cctv-relational-inference", one, other)
    assert "asked" not in _found("cctv-relational-inference", one, other, unknown)


def test_a_description_is_held_against_persons_of_every_category() -> None:
    """Of whom an age is told, no category is: a rider may be the adult who walks; a thing without an age may not."""
    cues = {"facing": "left", "age": "adult", "pose": "walking"}
    one = replace(mark(1, "person", 500, 500), attributes=cues)
    other = replace(mark(2, "person", 900, 700), attributes={**cues, "pose": "standing"})
    rider = replace(mark(3, "rider", 1200, 900), attributes={"age": "adult", "pose": "walking"})
    assert "asked" in _found("cctv-relational-inference", one, other, mark(4, "bicycle", 1200, 900))
    assert "asked" not in _found("cctv-relational-inference", one, other, rider)


@pytest.mark.parametrize("value", ["none", "unknown", "unsure"])
def test_what_nobody_wears_or_saw_is_not_told(value: str) -> None:
    """Two persons of whom one has a cap: the other's lack of one tells it from nobody else."""
    capped = replace(mark(1, "person", 500, 500), attributes={"facing": "left", "headwear": "a cap"})
    other = replace(mark(2, "person", 900, 700), attributes={"facing": "left", "headwear": value})
    assert "asked" not in _found("cctv-relational-inference", capped, other)


def test_a_bundle_knows_no_age_of_whom_it_is_unsure() -> None:
    """Who is neither in it nor out of it: nothing is counted then, unless unsure is what the bundle asks for."""
    adult = replace(mark(1, "person", 500, 500), attributes={"age": "adult"})
    unsure = replace(mark(2, "person", 900, 700), attributes={"age": "unsure"})
    adults, others = (Bundle(name, "person", {"age": (name,)}) for name in ("adult", "unsure"))
    assert [adults.holds(one) for one in (adult, unsure)] == [True, None]
    assert [others.holds(one) for one in (adult, unsure)] == [False, True]
