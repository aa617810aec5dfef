"""From a build to reviewed questions at the command line: what is made once, published, refused and deleted."""

import json
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.review_files import ReviewLog, digests_in
from gigavqa.evaluation.reviews import ReviewEntry
from tests.cli.installation import Installation


@pytest.fixture
def boxes(tmp_path: Path) -> Installation:
    """An installation with a build of one picture with rows of ships."""
    (tmp_path / "images").mkdir()
    Image.new("RGB", (800, 800), "grey").save(tmp_path / "images/a.png")
    places = [(20 + 60 * x, 20 + 60 * y) for y in range(12) for x in range(12) if (x * 7 + y * 3) % 5 < 1 + (x > 6)]
    marks = [
        {"id": n, "image_id": 1, "category_id": 1 + n % 2, "bbox": [x, y, 20, 20]} for n, (x, y) in enumerate(places, 1)
    ]
    images = [{"id": 1, "file_name": "a.png", "width": 800, "height": 800}]
    kinds = [{"id": 1, "name": "ship"}, {"id": 2, "name": "car"}]
    (tmp_path / "coco.json").write_text(json.dumps({"images": images, "annotations": marks, "categories": kinds}))
    made = Installation(tmp_path)
    made.ok("build", "boxes", "--from", str(tmp_path / "coco.json"), "--images", str(tmp_path / "images"))
    return made


def _review(folder: Path, most: int | None = None) -> int:
    """Drop the first question, keep the others; returns how many there are."""
    dataset = load_dataset(folder)
    for number, sample in enumerate(dataset.samples[:most]):
        told = {"verdict": "keep"} if number else {"verdict": "drop", "reason": "unclear"}
        entry = {"id": f"entry-{number:04}", "sample": sample.id, "digest": digests_in(dataset)(sample.id), **told}
        ReviewLog(folder / "reviews/ann.jsonl").append(ReviewEntry.model_validate(entry))
    return len(dataset.samples)


@pytest.mark.slow
def test_one_picture_goes_all_the_way_to_reviewed_questions(boxes: Installation) -> None:
    """Made once, published when all is reviewed, and deleted with its reviews by whoever says so alone."""
    folder, page = boxes.home / "data/boxes", boxes.home / "builds/boxes/index.html"
    before = (folder / "dataset.toml").stat().st_mtime_ns, page.stat().st_mtime_ns
    boxes.ok("build", "boxes")
    assert ((folder / "dataset.toml").stat().st_mtime_ns, page.stat().st_mtime_ns) == before
    (folder / "dataset.toml").touch()
    boxes.ok("build", "boxes")
    assert page.stat().st_mtime_ns != before[1]

    source = str(boxes.home / "coco.json")
    run = boxes.run("build", "boxes", "--from", source, "--from", source)
    assert (run.returncode, "make a build of each" in run.stderr) == (2, True)

    _review(folder, 1)
    run = boxes.run("build", "publish", "boxes")
    assert (run.returncode, "1 dropped" in run.stderr, "--unreviewed" in run.stderr) == (2, True, True)
    (folder / "reviews/ann.jsonl").unlink()
    number = _review(folder)
    boxes.ok("build", "publish", "boxes")
    assert len(load_dataset(boxes.home / "data/boxes-reviewed").samples) == number - 1

    run = boxes.run("build", "revue", "boxes")
    assert (run.returncode, "did you mean 'review'" in run.stderr) == (2, True)
    for words in (("dataset", "delete", "boxes"), ("build", "delete", "boxes")):
        run = boxes.run(*words, "--yes")
        assert (run.returncode, f"{number} reviews of 1 reviewer" in run.stderr) == (2, True), run.stderr
    boxes.ok("build", "delete", "boxes", "--yes", "--with-reviews")
    assert [path.name for path in (boxes.home / "data").iterdir()] == ["boxes-reviewed"]
    assert not page.exists()
