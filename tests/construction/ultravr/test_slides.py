"""Questions of whole slides: true by an independent reading, none to be guessed, and nothing asked that is unsure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.draws import stream
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.slide_findings import patient_of, read_findings
from gigavqa.construction.ultravr.slide_recipe import SlideRecipe
from gigavqa.construction.ultravr.slide_rois import find_areas
from gigavqa.construction.ultravr.wsi_comparison import SlideComparison
from gigavqa.construction.ultravr.wsi_relation import SlideRelation
from gigavqa.construction.ultravr.wsi_verification import SlideSummary, SlideVerification
from tests.benchmarks.ultravr.good_records import sample_from
from tests.construction.ultravr.drawn_slides import HEIGHT, WIDTH, WORLDS, draw_slides
from tests.construction.ultravr.slide_oracle import right_letter

CONTEXT = RecipeContext({}, ())
RECIPES: tuple[SlideRecipe, ...] = (
    SlideComparison(),
    SlideVerification(),
    SlideSummary(),
    SlideSummary("paper"),
    SlideRelation(),
)


def _found(recipe: SlideRecipe, slide: AnnotatedImage) -> tuple[list[Candidate], list[Rejection]]:
    found = list(recipe.candidates(slide, CONTEXT, stream(0, recipe.name, slide.image)))
    return [one for one in found if isinstance(one, Candidate)], [one for one in found if isinstance(one, Rejection)]


def _record(recipe: SlideRecipe, candidate: Candidate) -> dict[str, Any]:
    return recipe.record(candidate, recipe.word(candidate, CONTEXT, stream(0, candidate.id)))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("recipe", RECIPES[:4], ids=lambda recipe: recipe.version)
def test_every_truth_is_what_labels_say_and_every_record_keeps_the_papers_rules(
    recipe: SlideRecipe, world: str
) -> None:
    """Of 20 slides, read off the texts by a reader that knows nothing of the recipe."""
    letters: Counter[str] = Counter()
    for slide in draw_slides(world, 20):
        for candidate in _found(recipe, slide)[0]:
            record = _record(recipe, candidate)
            assert record["answer"] == right_letter(record, slide.labels)
            assert check_sample(sample_from(record)) == []
            letters[record["answer"]] += 1
    assert min(letters["A"], letters["B"]) > 3


def _slide(labels: dict[str, Any], *marks: Annotation) -> AnnotatedImage:
    return AnnotatedImage("TCGA-A1-A0SJ-01Z-00-DX1.svs", WIDTH, HEIGHT, marks, labels)


def _cell(category: str, number: int, share: float = 1.0, at: int = 0) -> Annotation:
    """Mark the upper part of a cell, of so large a share."""
    row, column = divmod(number - 1, 6)
    x1, x2 = WIDTH * column / 6, WIDTH * (column + 1) / 6
    y1 = HEIGHT * row / 6
    return Annotation(f"f#{at or number}", category, Box(x1, y1, x2, y1 + share * HEIGHT / 6))


@pytest.mark.parametrize(
    ("marks", "rois"),
    [
        ([_cell("DCIS", 8, 0.11)], [8]),
        ([_cell("DCIS", 8, 0.09), *(_cell("DCIS", at, 0.09) for at in (1, 2, 3, 4, 5))], []),
        ([_cell("DCIS", 8, 0.09), _cell("DCIS", 9, 0.09)], [8, 9]),
        ([_cell("Invasive", at, 0.1 + at / 50) for at in range(1, 10)], [4, 5, 6, 7, 8, 9]),
        ([_cell("Invasive", at) for at in range(1, 10)] + [_cell("in-situ", 36, 0.02)], [1, 2, 3, 4, 5, 36]),
        ([_cell("Stroma", 8)], []),
        ([_cell("DCIS", 8, 0.06), _cell("DCIS", 8, 0.05, at=2), *(_cell("DCIS", at, 0.09) for at in range(1, 6))], []),
    ],
)
def test_cells_are_evidence_by_a_tenth_of_them_or_a_quarter_of_all(marks: list[Annotation], rois: list[int]) -> None:
    """At most six, those first that show the finding best; what overlaps counts once, other classes nothing."""
    assert find_areas(_slide({}, *marks)).rois(["in situ", "invasive"]) == rois


def test_shares_of_cells_are_those_of_points_in_the_areas() -> None:
    """Of 20 random triangles, against a grid of points, to 1.5 % of a cell."""
    rng = np.random.default_rng(5)
    ys, xs = (np.mgrid[0:480, 0:480] + 0.5) / 480
    for at in range(20):
        (ax, ay), (bx, by), (cx, cy) = corners = rng.random((3, 2))
        sides = [
            (qx - px) * (ys - py) - (qy - py) * (xs - px)
            for (px, py), (qx, qy) in (((ax, ay), (bx, by)), ((bx, by), (cx, cy)), ((cx, cy), (ax, ay)))
        ]
        inside = np.logical_and.reduce([side > 0 for side in sides]) | np.logical_and.reduce([s < 0 for s in sides])
        ring = tuple(float(v) for x, y in corners for v in (x * WIDTH, y * HEIGHT))
        mark = Annotation(f"f#{at}", "Tumor", Box(0, 0, 1, 1), rings=(ring,))
        shares = find_areas(_slide({}, mark)).shares["tumor"]
        assert np.abs(shares - inside.reshape(6, 80, 6, 80).mean(axis=(1, 3)).ravel()).max() < 0.015


@pytest.mark.parametrize(
    ("labels", "recipe", "reason"),
    [
        ({}, SlideComparison(), "unlabelled"),
        ({"focality": "leans unifocal", "grade": "3", "lvi": "absent"}, SlideVerification(), "unlabelled"),
        ({"focality": "unifocal", "grade": "2", "lvi": "absent"}, SlideVerification(), "unlabelled"),
        ({"invasive": "present", "in_situ": "absent", "focality": "unifocal"}, SlideVerification(), "implausible"),
        ({"invasive": "absent", "grade": "3", "in_situ": "present"}, SlideSummary(), "unlabelled"),
        ({"invasive": "absent"}, SlideRelation(), "unlabelled"),
    ],
)
def test_what_is_not_sure_is_not_asked(labels: dict[str, str], recipe: SlideRecipe, reason: str) -> None:
    """And the rejection says why, in the words of the closed list."""
    rejections = _found(recipe, _slide(labels, _cell("Tumor", 8)))[1]
    assert reason in {one.reason for one in rejections}
    assert {one.reason for one in rejections} <= set(recipe.reasons)


def test_a_slide_without_areas_wants_an_experts_cells() -> None:
    """Nobody knows where to look; with an expert's steps it is known, and the record says whose they are."""
    labels = {"focality": "multifocal"}
    (rejection,) = {one.reason for one in _found(RECIPES[0], _slide(labels))[1]}
    assert rejection == "no_rois"
    steps = {
        "Q1": "Tumor-rich region; Invasive component", "Q2": "Yes", "Q2.1": "9; 3", "Q3": "10x", "Q4": "Mitoses",
        "Q5": "No", "Q6.1": "Mitoses", "Q6.2": "Infiltrative growth", "Q6.3": "An invasive component",
    }  # fmt: skip
    given = {**labels, **{f"comparison/{step}": text for step, text in steps.items()}}
    for slide, rois, by in (
        (_slide(given), [3, 9], "expert"),
        (_slide(given, _cell("Tumor", 8)), [3, 9], "expert"),
        (_slide({**given, "comparison/Q2.1": ""}, _cell("Tumor", 8)), [8], "expert"),
        (_slide({**given, "comparison/Q6.2": ""}, _cell("Tumor", 8)), [8], "preset"),
    ):
        record = _record(RECIPES[0], _found(RECIPES[0], slide)[0][0])
        assert (record["evidence"]["rois"], record["steps_by"]) == (rois, by)
        assert check_sample(sample_from(record)) == []


def test_grade_2_is_asked_about_only_where_somebody_says_what_it_is() -> None:
    """It is neither high nor, for all, lower."""
    assert "grade" not in read_findings({"grade": "2"})
    assert read_findings({"grade": 2.0}, grade_2_is_lower=True)["grade"].value == 0
    assert [read_findings({"grade": grade})["grade"].value for grade in ("1", "3")] == [0, 1]


def test_answers_to_relations_are_experts_alone() -> None:
    """Areas propose, and labels exclude; nobody else answers, and what nobody answered is asked and not scored."""
    labels = {"invasive": "present", "in_situ": "present", "grade": "1"}
    marks = [_cell("Invasive", 8), _cell("Invasive", 9), _cell("DCIS", 10, 0.3)]
    found = _found(RECIPES[4], _slide(labels, *marks))[0]
    assert {one.program["pair"] for one in found} == {"in_situ", "intraductal"}
    for candidate in found:
        record = _record(RECIPES[4], candidate)
        assert (record["answer"], candidate.program["proposal"], candidate.balance) == ("", "A", "")
        assert check_sample(sample_from(record)) == []
        assert not sample_from(record).answer
    told = {**labels, "relation_in_situ": "not established"}
    answered = [one for one in _found(RECIPES[4], _slide(told, *marks))[0] if one.program["pair"] == "in_situ"]
    assert {one.truth for one in answered} == {"C"}
    assert {_record(RECIPES[4], one)["answer"] for one in answered} == {"C"}


@pytest.mark.parametrize(("ratio", "proposal"), [(0.26, ""), (0.24, "A"), (0.51, "B"), (0.49, ""), (1.0, "B")])
def test_areas_propose_by_how_many_times_one_is_the_other(ratio: float, proposal: str) -> None:
    """Four times and more, twice and less, and between the two nothing."""
    marks = [_cell("Invasive", 8), _cell("DCIS", 10, ratio)]
    found = _found(RECIPES[4], _slide({"in_situ": "present", "grade": "1"}, *marks))[0]
    assert {one.program["proposal"] for one in found} == {proposal}


def test_patients_are_told_by_their_barcode() -> None:
    """So that slides of one are never on both sides of a split."""
    assert patient_of("a/TCGA-A1-A0SJ-01Z-00-DX1.svs") == patient_of("TCGA-A1-A0SJ-01A-02.svs") == "TCGA-A1-A0SJ"
    assert patient_of("slides/17.tiff") == "17"


def test_ids_do_not_move_when_another_slide_or_label_comes() -> None:
    """A margin changes no question about anything else."""
    slides = draw_slides("even", 5)
    more = [replace(slide, labels={**slide.labels, "margin": "negative"}) for slide in draw_slides("even", 6)]
    for recipe in RECIPES:
        ids = {one.id for one in _candidates(recipe, slides)}
        assert ids
        assert ids <= {one.id for one in _candidates(recipe, more)}


def _candidates(recipe: SlideRecipe, slides: Iterable[AnnotatedImage]) -> list[Candidate]:
    return [one for slide in slides for one in _found(recipe, slide)[0]]
