"""The records of the demo data set: complete, of every shape, and true by the paper's own checklists."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gigavqa.answers.coordinates import format_coordinate
from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.benchmarks.ultravr.reading import RecordContext, sample_fields
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import CATEGORIES
from gigavqa.demo.building import check_dataset
from gigavqa.demo.errors import RecordInvalidError
from gigavqa.demo.ultravr.ad.grid import plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.ad.samples import grid_records
from gigavqa.demo.ultravr.cctv.samples import plaza_records
from gigavqa.demo.ultravr.cctv.scene import SIZE as PLAZA
from gigavqa.demo.ultravr.cctv.scene import plan_plaza
from gigavqa.demo.ultravr.placing import PixelBox
from gigavqa.demo.ultravr.rs.samples import land_records
from gigavqa.demo.ultravr.rs.scene import plan_land
from gigavqa.demo.ultravr.wsi.samples import slide_records
from gigavqa.demo.ultravr.wsi.scene import plan_slide
from gigavqa.evaluation.records import Record

_KINDS = [(domain, category) for domain, categories in CATEGORIES.items() for category in categories]


def test_every_sample_passes_the_papers_checklists(samples: tuple[UltraVRSample, ...]) -> None:
    """No sample of the data set breaks a rule of appendices A and F."""
    assert {sample.id: check_sample(sample) for sample in samples if check_sample(sample)} == {}


@pytest.mark.parametrize("seed", range(6))
def test_the_records_of_any_seed_pass_the_papers_checklists(seed: int) -> None:
    """The rules hold for other seeds too."""
    own_file, flat = slide_records(plan_slide(seed))
    records = [*plaza_records(plan_plaza(seed)), *land_records(plan_land(seed)), own_file, *flat]
    records += [record for product in PRODUCTS for record in grid_records(plan_grid(seed, product))]
    found = [
        UltraVRSample.model_validate(fields)
        for index, value in enumerate(records)
        for fields in sample_fields(Record(value=value, line=1, index=index, alone=False), RecordContext("seeded"))
    ]
    assert len(found) >= 30
    assert {sample.id: check_sample(sample) for sample in found if check_sample(sample)} == {}


def test_names_say_nothing_of_the_answers() -> None:
    """Ids, images and subcategories are the same whatever was drawn, and so are the numbers of options and steps."""
    assert len({json.dumps([_outline(record) for record in _records(seed)]) for seed in range(6)}) == 1


def _records(seed: int) -> list[dict[str, Any]]:
    own_file, flat = slide_records(plan_slide(seed))
    records = [*plaza_records(plan_plaza(seed)), *land_records(plan_land(seed)), *flat]
    records += [record for product in PRODUCTS for record in grid_records(plan_grid(seed, product))]
    return [*records, *own_file["categories"].values()]


def _outline(record: dict[str, Any]) -> list[Any]:
    steps = [step["step_id"] for step in record["reasoning_supervision"]["steps"]]
    return [*(record.get(key) for key in ("id", "image", "subcategory")), sorted(record.get("options", ())), steps]


def test_a_box_is_written_finely_enough_to_be_met() -> None:
    """A box of 20 x 40 pixels of the plaza, read back from its record, is the same box."""
    rng = np.random.default_rng(0)
    for x, y in rng.integers(0, 15000, (500, 2)).tolist():
        box = PixelBox(x, y, x + 20, y + 40)
        read = PixelBox(*(n * side for n, side in zip(box.normalized(PLAZA), (*PLAZA, *PLAZA), strict=True)))
        across = min(box.x2, read.x2) - max(box.x1, read.x1)
        down = min(box.y2, read.y2) - max(box.y1, read.y1)
        both = (read.x2 - read.x1) * (read.y2 - read.y1) + 20 * 40
        assert across * down / (both - across * down) > 0.995


def test_every_category_has_several_samples(samples: tuple[UltraVRSample, ...]) -> None:
    """At least thirty samples, and at least two of each pair of domain and category."""
    counts = Counter((sample.domain, sample.category) for sample in samples)
    expected = {(domain, category) for domain, categories in CATEGORIES.items() for category in categories}
    assert set(counts) == expected
    assert min(counts.values()) >= 2
    assert len(samples) >= 30


def test_every_sample_has_steps_and_evidence(samples: tuple[UltraVRSample, ...]) -> None:
    """Steps, and the place of the evidence in the form of its domain."""
    for sample in samples:
        assert sample.steps, sample.id
        assert sample.evidence is not None, sample.id
        place = {"wsi": sample.evidence.rois, "ad": sample.evidence.cell}.get(sample.domain, sample.evidence.quadrants)
        assert place, sample.id


def test_every_category_has_a_sample_on_a_second_image(samples: tuple[UltraVRSample, ...]) -> None:
    """So that few-shot prompts find an example for every sample; the second images have one sample a category."""
    images = {kind: Counter(s.images[0] for s in samples if (s.domain, s.category) == kind) for kind in _KINDS}
    assert all(len(found) == 2 and min(found.values()) == 1 for found in images.values())


def test_one_relational_slide_question_awaits_an_expert(samples: tuple[UltraVRSample, ...]) -> None:
    """Exactly one answer is empty, and it is one of template T4."""
    assert [(s.domain, s.category, s.subcategory) for s in samples if not s.scored] == [
        ("wsi", "relational_inference", "T4")
    ]


def test_both_forms_of_anomaly_questions_name_the_same_cell(samples: tuple[UltraVRSample, ...]) -> None:
    """For each grid one sample asks for the coordinate and one offers four; both point at the annotated cell."""
    for product in PRODUCTS:
        forms = [sample for sample in samples if sample.images == (product.image,)]
        told = {sample.options[sample.answer] if sample.options else sample.answer for sample in forms}
        cells = {
            format_coordinate(sample.evidence.cell) for sample in forms if sample.evidence and sample.evidence.cell
        }
        assert sorted(sample.options is None for sample in forms) == [False, True]
        assert told == cells


def test_every_answer_letter_is_used(samples: tuple[UltraVRSample, ...]) -> None:
    """No letter is a good guess: each of the four is right somewhere."""
    letters = Counter(sample.answer for sample in samples if sample.options and sample.scored)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) <= sum(letters.values()) / 2


def test_the_files_have_the_papers_shapes(demo_folder: Path) -> None:
    """A JSON list, one object a line, and a slide's file with its categories."""
    folder = demo_folder / "samples"
    assert isinstance(json.loads((folder / "cctv.json").read_text()), list)
    assert all(isinstance(json.loads(line), dict) for line in (folder / "rs.jsonl").read_text().splitlines())
    own_files = [json.loads(path.read_text()) for path in (folder / "wsi").glob("*.json")]
    assert {own_file["slide"] for own_file in own_files} == {"synthetic-slide", "second-synthetic-slide"}
    assert all(set(own_file["categories"]) == set(CATEGORIES["wsi"]) for own_file in own_files)


def test_the_description_says_that_all_is_synthetic(demo_folder: Path) -> None:
    """Whoever lists the data set reads that it was drawn, and under which licence it stands."""
    settings = tomllib.loads((demo_folder / "dataset.toml").read_text())
    assert "synthetic" in settings["description"]
    assert "no pathology" in settings["description"]
    assert settings["licence"] == "CC0-1.0"


def test_a_record_that_breaks_a_rule_is_named(demo_folder: Path, tmp_path: Path) -> None:
    """A count that differs from its boxes is refused with the sample's id."""
    copy = tmp_path / "demo"
    (copy / "samples").mkdir(parents=True)
    (copy / "images").symlink_to(demo_folder / "images")
    (copy / "dataset.toml").write_text((demo_folder / "dataset.toml").read_text())
    records = json.loads((demo_folder / "samples" / "cctv.json").read_text())
    records[0]["reasoning_supervision"]["steps"][2]["ground_truth"] += 1
    (copy / "samples" / "cctv.json").write_text(json.dumps(records))
    with pytest.raises(RecordInvalidError, match=records[0]["id"]):
        check_dataset(copy)
