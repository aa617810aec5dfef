"""What is shown under V0 to V4, in level-0 pixels, and that nothing shown or said gives the answer away."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.benchmarks.ultravr.conditions import ConditionViews, show_condition
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.benchmark import Scene
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.reports.report import build_report
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_record, good_sample, sample_from, step_of
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tests.reports.tables import caveats_of

SIZE = Size(1000, 600)
PICTURED: tuple[Condition, ...] = ("V1", "V2", "V3", "V4")


def shown(sample: UltraVRSample, condition: Condition, seed: str = "0") -> ConditionViews:
    """Show a sample whose image has 1000 x 600 pixels."""
    return show_condition(sample, Scene(("tiny/image.png",), lambda _: SIZE, seed), condition)


def regions(showing: ConditionViews) -> list[str]:
    """Regions of the views in order."""
    return [view.region for view in showing.views]


def test_v0_shows_nothing_and_says_so() -> None:
    """Text only."""
    showing = shown(good_sample("rs-logic"), "V0")

    assert showing == ConditionViews((), "No image is provided.")


def test_v1_shows_the_full_image_downsampled() -> None:
    """A global view with a longest side of 1,024 pixels."""
    (view,) = shown(good_sample("rs-logic"), "V1").views

    assert (view.region, view.sizing) == ("full", "longest:1024")


def test_v2_shows_the_full_image_natively() -> None:
    """The original image under the model's own preprocessing."""
    (view,) = shown(good_sample("rs-logic"), "V2").views

    assert (view.region, view.sizing) == ("full", "native")


def test_v3_of_quadrants_shows_those_of_the_question_by_name() -> None:
    """CCTV and RS: crops in the quadrants' own order, whatever order the annotation has."""
    showing = shown(good_sample("cctv-comparison"), "V3")

    assert regions(showing) == ["0,0,500,300", "500,0,500,300"]


def test_v3_without_quadrant_evidence_shows_all_four() -> None:
    """A record without evidence is shown all its quadrants."""
    showing = shown(good_sample("cctv-relation"), "V3")

    assert regions(showing) == ["0,0,500,300", "500,0,500,300", "0,300,500,300", "500,300,500,300"]


def test_v3_of_slides_shows_the_annotated_cells_of_the_six_by_six_grid_without_their_numbers() -> None:
    """ROI 8 is row 2, column 2; ROI 9 the cell to its right; Q2.1 asks for the numbers, so none is told."""
    showing = shown(good_sample("wsi-comparison"), "V3")

    assert regions(showing) == ["166,100,167,100", "333,100,167,100"]
    assert not {"8", "9"} & set(re.findall(r"\d+", showing.context))


def test_v3_of_slides_falls_back_to_the_truth_of_step_q2_1() -> None:
    """Without evidence the ROIs are those of the annotated step."""
    assert regions(shown(good_sample("wsi-comparison", evidence=None), "V3")) == ["166,100,167,100", "333,100,167,100"]


def test_regions_may_be_written_as_text() -> None:
    """Annotators of step Q2.1 also wrote "8, 9"."""
    record = good_record("wsi-comparison")
    del record["evidence"]
    step_of(record, "Q2.1").update(ground_truth="8, 9")

    assert regions(shown(sample_from(record), "V3")) == ["166,100,167,100", "333,100,167,100"]


def test_v3_of_a_grid_shows_a_sheet_that_holds_the_anomaly_and_says_where_the_sheet_lies() -> None:
    """The sheet is 5 x 5 cells of 100 x 60 pixels; its rows and columns are told, the cell is not."""
    showing = shown(good_sample("ad-coordinate"), "V3")
    (region,) = regions(showing)
    x, y, width, height = map(int, region.split(","))
    told = re.search(r"rows (\d+) to (\d+) and columns (\d+) to (\d+)", showing.context)

    assert (width, height) == (500, 300)
    assert told is not None
    assert tuple(map(int, told.groups())) == (y // 60 + 1, y // 60 + 5, x // 100 + 1, x // 100 + 5)
    assert y // 60 + 1 <= 3 <= y // 60 + 5
    assert x // 100 + 1 <= 7 <= x // 100 + 5


def test_the_place_of_the_anomaly_in_its_sheet_varies_with_the_seed() -> None:
    """Over many seeds the anomalous cell takes many places in the sheet, and none of them most of the time."""
    sample = good_sample("ad-coordinate", answer="(5, 5)", evidence={"cell": [5, 5]})
    places = Counter(regions(shown(sample, "V3", seed=str(seed)))[0] for seed in range(200))

    assert len(places) > 15
    assert max(places.values()) < 40


def test_v3_of_a_grid_shows_the_sheet_that_the_record_names() -> None:
    """Whatever the seed, so that options can be drawn from the same sheet."""
    sample = good_sample("ad-coordinate", answer="(5, 5)", evidence={"cell": [5, 5], "sheet": [1, 3]})
    showings = [shown(sample, "V3", str(seed)) for seed in range(5)]

    assert {tuple(regions(showing)) for showing in showings} == {("200,0,500,300",)}
    assert "rows 1 to 5" in showings[0].context and "columns 3 to 7" in showings[0].context


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        ({"cell": [5, 5], "sheet": [6, 3]}, r"the sheet from cell \(6, 3\) does not hold the cell \(5, 5\)"),
        ({"cell": [9, 9], "sheet": [7, 6]}, r"the sheet from cell \(7, 6\) reaches out of the grid \(10, 10\)"),
        ({"sheet": [1, 1]}, r"the sheet from cell \(1, 1\) does not hold the cell None"),
    ],
)
def test_a_sheet_that_cannot_be_shown_is_refused(evidence: dict[str, list[int]], problem: str) -> None:
    """A sheet without the anomaly, or beyond the grid, is an error of the record."""
    with pytest.raises(ValueError, match=problem):
        good_sample("ad-coordinate", answer="(5, 5)", evidence=evidence)


def test_the_same_seed_shows_the_same_sheet() -> None:
    """V3 and V4 of one sample show the same evidence."""
    sample = good_sample("ad-choice")

    assert shown(sample, "V4").views[1:] == shown(sample, "V3").views


def test_v4_shows_the_full_image_first() -> None:
    """Full image, then the local evidence."""
    assert regions(shown(good_sample("rs-comparison"), "V4")) == ["full", "0,0,500,300", "500,0,500,300"]


@pytest.mark.parametrize("name", GOOD)
def test_the_language_prompt_is_the_same_under_v1_to_v4(name: str) -> None:
    """Section 5.2; but for V3 of a grid, whose sheet alone tells no row or column of the full grid."""
    sample = good_sample(name)
    told = {condition: shown(sample, condition).context for condition in PICTURED}

    assert told["V3"].startswith(told["V2"])
    assert len({told["V1"], told["V2"], told["V4"]}) == 1
    assert (told["V3"] == told["V2"]) == (sample.domain != "ad")


def cells(*places: tuple[int, int]) -> dict[str, str]:
    """Options that name cells."""
    return {letter: f"({row}, {column})" for letter, (row, column) in zip("ABCD", places, strict=True)}


@given(
    corner=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=4, unique=True),
    seed=st.text(max_size=3),
)
def test_a_sheet_holds_all_options_where_one_can(
    corner: tuple[int, int], steps: list[tuple[int, int]], seed: str
) -> None:
    """So that the place of the sheet, which V3 tells, rules none of them out."""
    places = [(corner[0] + down, corner[1] + right) for down, right in steps]
    sample = good_sample("ad-choice", options=cells(*places), answer="B", evidence={"cell": places[1]})
    showing = shown(sample, "V3", seed)
    told = list(map(int, re.findall(r"\d+", showing.context.partition("Shown above")[2])))

    assert showing.outside == ()
    assert all(told[0] <= row <= told[1] and told[2] <= column <= told[3] for row, column in places)


def test_options_that_no_sheet_holds_together_are_named() -> None:
    """Of cells in the four corners, the sheet around the true one holds no other."""
    sample = good_sample(
        "ad-choice", options=cells((1, 1), (1, 10), (10, 1), (10, 10)), answer="C", evidence={"cell": [10, 1]}
    )
    scene = Scene(("tiny/image.png",), lambda _: SIZE, "0")

    assert shown(sample, "V3").outside == ("A", "B", "D")
    assert shown(sample, "V4").outside == ()
    assert list(UltraVR().warnings(sample, scene)) == [
        "V3 tells where the sheet lies, and no sheet holds options A, B, D: only C can be right"
    ]


@pytest.mark.parametrize(
    ("name", "condition", "told"),
    [
        ("cctv-comparison", "V1", "The image above is a downsampled view of the full image."),
        (
            "cctv-comparison",
            "V3",
            "The 2 images above are quadrants of the full image at its original resolution, in this order: "
            "upper-left, upper-right.",
        ),
        (
            "wsi-comparison",
            "V4",
            "The first image above is the full image; what follows it is local evidence from it. The last 2 images are "
            "regions of the whole slide at their original resolution: cells of a 6x6 grid laid over the slide.",
        ),
    ],
)
def test_earlier_jobs_are_asked_again_in_their_words(name: str, condition: Condition, told: str) -> None:
    """Of version conditions/1."""
    showing = show_condition(
        good_sample(name), Scene(("tiny/image.png",), lambda _: SIZE, "0"), condition, "conditions/1"
    )

    assert showing.context == told


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("condition", ["V0", "V1", "V2", "V3", "V4"])
def test_no_context_holds_the_answer(name: str, condition: Condition) -> None:
    """Neither the answer's words nor the anomalous cell stand in what a prompt says of its pictures."""
    sample = good_sample(name)
    context = shown(sample, condition).context.lower()
    answer = sample.options[sample.answer] if sample.options else sample.answer

    assert len(answer) == 1 or answer.lower() not in context
    assert "(3, 7)" not in context


@pytest.mark.parametrize("name", ["wsi-comparison", "ad-coordinate"])
def test_missing_evidence_names_the_sample(name: str) -> None:
    """V3 of a slide without ROIs, and of a grid without a cell, cannot be shown."""
    sample = good_sample(name, evidence=None, reasoning_supervision=None, answer="")

    with pytest.raises(EvidenceMissingError, match=f"sample '{name}'"):
        shown(sample, "V3")


def test_a_report_says_beside_its_tables_that_a_prompt_ruled_options_out() -> None:
    """By the details of each response, so of jobs of any version and seed."""
    sample = good_sample("ad-choice")
    told = response(sample.id, "A", condition="V3", details={"ruled_out": ["A", "B"]})
    report = build_report(dataset_of((sample,)), [told], load_catalogue())

    assert any("1 responses: the AD prompt says where the sheet lies" in text for text in caveats_of(report))
