"""A data set's folder is looked at as closely as its files allow."""

from pathlib import Path
from typing import Any

import pytest

from gigavqa.evaluation.inspection import Inspection, inspect_dataset
from gigavqa.tiling.errors import ImageNotFoundError
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_record, step_of
from tests.evaluation.folders import write_dataset


def looked_at(folder: Path, **settings: Any) -> Inspection:
    """A data set whose images are all of one size."""
    return inspect_dataset(folder, lambda image, show: Size(4000, 3000), **settings)


def warned(folder: Path, **settings: Any) -> list[str]:
    """Warnings of a data set without errors."""
    found = looked_at(folder, **settings)
    assert found.errors == []
    return [str(problem) for problem in found.warnings]


def test_good_records_have_no_problem(tmp_path: Path) -> None:
    """Every kind of record of the paper; of one grid the text of V3 rules an option out, which is told."""
    (told,) = warned(write_dataset(tmp_path / "tiny", *GOOD.values()))

    assert told.endswith(
        "ad-choice: V3 tells where the sheet lies, and no sheet holds options C: only A, B, D can be right"
    )


def test_a_broken_rule_of_the_checklists_is_named_by_file_and_record(tmp_path: Path) -> None:
    """A count that is not the number of boxes keeps nobody from asking, and is not told without the checklists."""
    record = good_record("cctv-comparison")
    step_of(record, "S3").update(ground_truth=7)
    folder = write_dataset(tmp_path / "tiny", GOOD["rs-logic"], record)
    (first, *_) = warned(folder)

    assert first.startswith("samples/")
    assert "cctv-comparison: S3 is 7, but S2 lists 2 boxes" in first
    assert warned(folder, checklists=False) == []


def test_evidence_outside_the_image_is_named(tmp_path: Path) -> None:
    """An anomaly in row 12 of a grid of 10 rows lies nowhere."""
    record = good_record("ad-coordinate") | {"answer": "(12, 7)"}
    del record["evidence"]
    found = warned(write_dataset(tmp_path / "tiny", record), checklists=False)

    assert len(found) == 1
    assert "ad-coordinate: V3 and V4 cannot show it: cell (12, 7) is outside a grid of 10 x 10" in found[0]


def test_a_sample_without_evidence_is_named(tmp_path: Path) -> None:
    """A slide whose screening found no region to look into has nothing to show under V3."""
    record = good_record("wsi-comparison")
    del record["evidence"]
    step_of(record, "Q2.1").update(ground_truth=None)
    found = warned(write_dataset(tmp_path / "tiny", record), checklists=False)

    assert len(found) == 1
    assert "neither evidence.rois nor step Q2.1" in found[0]


def test_an_image_that_is_missing_is_named_for_every_sample(tmp_path: Path) -> None:
    """Both samples of the picture cannot be asked."""
    folder = write_dataset(tmp_path / "tiny", GOOD["cctv-comparison"], GOOD["cctv-logic"])

    def missing(image: str, show: str) -> Size:
        raise ImageNotFoundError(f"there is no {image}")

    found = inspect_dataset(folder, missing, checklists=False)

    assert [problem.record for problem in found.errors] == ["cctv-comparison", "cctv-logic"]
    assert found.dataset is not None


QUIRKS = [
    ("an empty answer", {"answer": ""}, "answer", ""),
    ("no answer at all", {"answer": None}, "answer", ""),
    ("options as a list", {"options": ["one", "two", "three", "four"]}, "options", {"A": "one", "B": "two"}),
    ("small letters", {"answer": "b"}, "answer", "B"),
]


@pytest.mark.parametrize(("why", "changes", "field", "expected"), QUIRKS, ids=[quirk[0] for quirk in QUIRKS])
def test_quirks_of_slide_records_are_read(
    tmp_path: Path, why: str, changes: dict[str, Any], field: str, expected: object
) -> None:
    """What templates T1 to T4 leave open, or write in another way."""
    record = good_record("wsi-comparison") | changes
    found = inspect_dataset(write_dataset(tmp_path / "tiny", record), lambda image, show: Size(600, 600))

    assert (found.errors, found.warnings) == ([], [])
    assert found.dataset is not None
    value = getattr(found.dataset.samples[0], field)
    assert expected.items() <= value.items() if isinstance(expected, dict) else value == expected


def test_a_slide_record_without_options_is_named(tmp_path: Path) -> None:
    """Only AD may ask for a coordinate."""
    record = good_record("wsi-comparison")
    del record["options"]

    (error,) = looked_at(write_dataset(tmp_path / "tiny", record)).errors

    assert "options are missing" in error.message


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Invasive component; Tumor-rich region", ["Invasive component", "Tumor-rich region"]),
        ("tumor-rich region, invasive component", ["Tumor-rich region", "Invasive component"]),
        ("Margin / edge area", ["Margin / edge area"]),
        ("Invasive component and something else", "Invasive component and something else"),
    ],
)
def test_a_multi_select_may_be_one_text(tmp_path: Path, written: str, read: object) -> None:
    """Annotators join choices with commas or semicolons; a text with more than choices stays, and is named."""
    record = good_record("wsi-comparison")
    step_of(record, "Q1").update(ground_truth=written)
    found = inspect_dataset(write_dataset(tmp_path / "tiny", record), lambda image, show: Size(600, 600))

    assert found.dataset is not None
    assert found.dataset.samples[0].steps[0].ground_truth == read
    assert bool(found.warnings) == isinstance(read, str)


def test_regions_may_be_one_text(tmp_path: Path) -> None:
    """ "9, 8" are two regions of the grid."""
    record = good_record("wsi-comparison")
    step_of(record, "Q2.1").update(ground_truth="9, 8")
    found = inspect_dataset(write_dataset(tmp_path / "tiny", record), lambda image, show: Size(600, 600))

    assert (found.errors, found.warnings) == ([], [])


@pytest.mark.parametrize("name", ["cctv-comparison", "ad-coordinate"])
def test_a_sample_without_steps_can_be_asked(tmp_path: Path, name: str) -> None:
    """Its warning says which protocols cannot ask it, of every domain alike."""
    record = good_record(name)
    del record["reasoning_supervision"]

    (warning,) = warned(write_dataset(tmp_path / "tiny", record))

    assert warning.endswith(f"{name}: has no steps, so that S2, S4 and S5 cannot ask it")
