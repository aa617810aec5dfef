"""Builds: the same inputs and seed give the same bytes, whatever was interrupted; data sets of builds keep reviews."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.build_summary import BuildSummary
from gigavqa.construction.builds import Build
from gigavqa.construction.errors import BuildBusyError, BuildError
from gigavqa.construction.evidence_pictures import draw_evidence
from gigavqa.construction.explaining import explain_build
from gigavqa.construction.exports import write_coco, write_huggingface
from gigavqa.construction.page import render_page
from gigavqa.construction.publishing import publish, reviewed_records
from gigavqa.construction.recipes.recipe import CategoryNames
from gigavqa.construction.tool_exports.drawn_objects import drawn_images
from gigavqa.construction.tool_exports.tools import write_for_tool
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.review_files import digests_in
from gigavqa.tiling.headers import read_header
from tests.construction.cutting import build_with_cuts

_SIZE = (800, 600)
_IMAGES = 12


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of coloured boxes on a grid, so that none touches another, and COCO's file of them."""
    folder, rng = tmp_path_factory.mktemp("inputs"), np.random.default_rng(3)
    (folder / "images").mkdir()
    document: dict[str, list[Any]] = {"images": [], "annotations": [], "categories": []}
    document["categories"] = [{"id": at, "name": name} for at, name in enumerate(("ship", "car", "small-tank"))]
    for number in range(_IMAGES):
        name, picture = f"{number}.png", Image.new("RGB", _SIZE, "grey")
        document["images"].append({"id": number, "file_name": name, "width": _SIZE[0], "height": _SIZE[1]})
        for cell in rng.choice(48, size=int(rng.integers(4, 20)), replace=False):
            x, y = 10 + 98 * int(cell % 8), 10 + 98 * int(cell // 8)
            width, height = map(int, rng.integers(20, 80, 2))
            document["annotations"].append(_annotation(document, number, int(rng.integers(3)), (x, y, width, height)))
            picture.paste("red", (x, y, x + width, y + height))
        picture.save(folder / "images" / name)
    (folder / "coco.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def _annotation(document: dict[str, list[Any]], image: int, category: int, box: tuple[int, ...]) -> dict[str, Any]:
    number = len(document["annotations"]) + 1
    color = ("red", "blue")[number % 2]
    return {"id": number, "image_id": image, "category_id": category, "bbox": box, "attributes": {"color": color}}


def _settings(inputs: Path, **changed: Any) -> BuildSettings:
    return BuildSettings(**{"source": inputs / "coco.json", "images": inputs / "images", **changed})


def _build(inputs: Path, builds: Path, **changed: Any) -> Build:
    build = Build(BuildFolder(builds, "boxes"), _settings(inputs, **changed))
    with build.folder.locked():
        build.run()
    return build


def _publish(build: Build, data: Path) -> Path:
    settings, samples = build.settings, build.folder.file("samples.jsonl")
    told = {"benchmark": settings.benchmark, "title": ""}
    return publish(build.folder, samples, settings.images, data, **told).folder


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_questions(inputs: Path, tmp_path: Path) -> None:
    """In folders of their own."""
    one, same, other = (_build(inputs, tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    for file in ("candidates.jsonl", "samples.jsonl", "guessing.json"):
        assert one.folder.file(file).read_bytes() == same.folder.file(file).read_bytes()
    assert one.folder.file("samples.jsonl").read_bytes() != other.folder.file("samples.jsonl").read_bytes()


def test_a_build_that_is_cut_at_any_file_goes_on_to_the_same_questions(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was whole is not made again."""
    whole = _build(inputs, tmp_path / "whole").folder.file("samples.jsonl").read_bytes()
    cut = build_with_cuts(lambda: _build(inputs, tmp_path / "cut"), monkeypatch)
    assert cut.cuts > 5
    assert cut.build.folder.file("samples.jsonl").read_bytes() == whole
    assert "annotations.jsonl" not in cut.writes


def test_what_hangs_on_a_change_is_made_anew_and_nothing_else(inputs: Path, tmp_path: Path) -> None:
    """Another quota needs no reading of annotations, and no search."""
    before = _build(inputs, tmp_path)
    read = [before.folder.file(name).stat().st_mtime_ns for name in ("annotations.jsonl", "candidates.jsonl")]
    after = _build(inputs, tmp_path, per_image=2)
    assert [after.folder.file(name).stat().st_mtime_ns for name in ("annotations.jsonl", "candidates.jsonl")] == read
    assert 0 < len(list(after.records())) <= 2 * _IMAGES


def test_two_builds_in_one_folder_do_not_mix(inputs: Path, tmp_path: Path) -> None:
    """The second one is refused."""
    folder = BuildFolder(tmp_path, "boxes")
    with folder.locked(), pytest.raises(BuildBusyError, match="another process"):
        _build(inputs, tmp_path)


def test_a_data_set_of_a_build_has_its_evidence_and_keeps_reviews(inputs: Path, tmp_path: Path) -> None:
    """A later build takes its place, and what people said of it stays."""
    build = _build(inputs, tmp_path / "builds")
    folder = _publish(build, tmp_path / "data")
    samples = load_dataset(folder).samples
    assert {sample.id for sample in samples} == {record["id"] for record in build.records()}
    assert all(sample.evidence for sample in samples)  # type: ignore[attr-defined]
    (folder / "reviews").mkdir()
    (folder / "reviews" / "ann.jsonl").write_text("{}\n", encoding="utf-8")
    assert _publish(_build(inputs, tmp_path / "builds", seed=5), tmp_path / "data") == folder
    assert (folder / "reviews" / "ann.jsonl").read_text(encoding="utf-8") == "{}\n"
    assert {sample.id for sample in load_dataset(folder).samples} != {sample.id for sample in samples}
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["boxes"]


def test_a_data_set_of_another_origin_stays(inputs: Path, tmp_path: Path) -> None:
    """A build of the same name is refused with what helps."""
    (tmp_path / "data" / "boxes").mkdir(parents=True)
    with pytest.raises(BuildError, match="another name"):
        _publish(_build(inputs, tmp_path / "builds"), tmp_path / "data")
    assert (tmp_path / "data" / "boxes").is_dir()


def test_names_that_nobody_knows_are_refused(inputs: Path, tmp_path: Path) -> None:
    """Of recipes, categories, and new builds without sources."""
    with pytest.raises(BuildError, match="did you mean 'count'"):
        _build(inputs, tmp_path, recipes=("cuont",))
    with pytest.raises(BuildError, match="no annotation is of the category 'shp'"):
        _build(inputs, tmp_path, names={"shp": CategoryNames("ship", "ships")})
    with pytest.raises(BuildError, match="--from FILE"):
        BuildSettings.of(BuildFolder(tmp_path, "new"), {})


def test_categories_are_called_as_told(inputs: Path, tmp_path: Path) -> None:
    """Without that by their labels, since a plural is never guessed."""
    told = _build(
        inputs,
        tmp_path / "a",
        recipes=("presence", "attribute"),
        names={"small-tank": CategoryNames("small tank", "small tanks")},
    )
    texts = {record["question"] for record in told.records()} | {
        record["question"] for record in _build(inputs, tmp_path / "b", recipes=("presence", "attribute")).records()
    }
    assert any("small tank" in text for text in texts)
    assert any('labelled "small-tank"' in text for text in texts)


def test_a_question_is_explained_by_its_annotations(inputs: Path, tmp_path: Path) -> None:
    """And a picture by what was looked at in it."""
    build = _build(inputs, tmp_path)
    record = next(build.records())
    found = explain_build(build, record["id"])
    assert [one["id"] for one in found["objects"]] == sorted(
        record["objects"], key=lambda name: int(name.split("#id")[1])
    )
    assert found["outcome"] == "it is a question of the data set"
    assert record["id"] in {one["id"] for one in explain_build(build, record["image"])["candidates"]}
    with pytest.raises(BuildError, match="neither a question nor an annotated image"):
        explain_build(build, "count-0")


def test_the_page_tells_yields_guesses_and_evidence(inputs: Path, tmp_path: Path) -> None:
    """Every candidate is a question, over quota or guessable, and the page shows pictures of some."""
    build = _build(inputs, tmp_path)
    made = BuildSummary.of(build)
    assert made.questions == sum(1 for _ in build.records()) > 0
    for one in made.yields:
        assert one.candidates == one.superseded + one.guessable + one.questions
    page = render_page(made, build.records(), lambda record: draw_evidence(inputs / "images", record))
    assert f"{made.questions:,} questions" in page
    assert page.count("data:image/jpeg;base64,") > 3


def test_other_tools_get_the_questions_with_their_annotations(inputs: Path, tmp_path: Path) -> None:
    """COCO names annotations by number; Parquet comes back as the same questions."""
    build = _build(inputs, tmp_path / "builds")
    write_coco(tmp_path / "coco.json", build.images(), build.records())
    written = json.loads((tmp_path / "coco.json").read_bytes())
    known = {one["id"] for one in written["annotations"]}
    assert all(set(one["annotation_ids"]) <= known for one in written["questions"])
    assert len(written["questions"]) == sum(1 for _ in build.records())
    write_huggingface(tmp_path / "hub", build.records(), inputs / "images", title="Boxes")
    (shard,) = (tmp_path / "hub" / "data").iterdir()
    assert json.loads(pq.read_schema(shard).metadata[b"huggingface"])["info"]["features"]["image"] == {"_type": "Image"}
    benchmark = find_benchmark("questions")
    made = import_dataset(
        benchmark, shard, None, tmp_path / "data" / "back", check_image=lambda path, _: read_header(path)
    )
    back = {sample.id: sample for sample in load_dataset(made.folder).samples}
    own = {sample.id: sample for sample in load_dataset(_publish(build, tmp_path / "data")).samples}
    assert {name: sample.truth for name, sample in back.items()} == {name: own[name].truth for name in own}
    assert {name: sample.question for name, sample in back.items()} == {name: own[name].question for name in own}


def test_an_export_is_what_reviewers_left(inputs: Path, tmp_path: Path) -> None:
    """What one dropped is not in it."""
    build = _build(inputs, tmp_path / "builds")
    folder = _publish(build, tmp_path / "data")
    dataset = load_dataset(folder)
    first = dataset.samples[0].id
    verdict = {
        "id": "7c1f09d2e4",
        "sample": first,
        "verdict": "drop",
        "reason": "unclear",
        "at": "2026-11-21T09:30:00Z",
    }
    verdict["digest"] = str(digests_in(dataset)(first))
    (folder / "reviews").mkdir()
    (folder / "reviews" / "ann.jsonl").write_text(f"{json.dumps(verdict)}\n", encoding="utf-8")
    records, counts = reviewed_records(folder, build.records())
    assert counts.dropped == 1
    assert {record["id"] for record in records} == {sample.id for sample in dataset.samples} - {first}


def test_categories_that_are_written_alike_are_refused(inputs: Path, tmp_path: Path) -> None:
    """Nobody could tell how many ships there are where some are called Ship."""
    document = json.loads((inputs / "coco.json").read_bytes())
    document["categories"][1]["name"] = "Ship"
    (tmp_path / "coco.json").write_text(json.dumps(document), encoding="utf-8")
    settings = BuildSettings(source=tmp_path / "coco.json", images=inputs / "images")
    folder = BuildFolder(tmp_path / "builds", "boxes")
    with folder.locked(), pytest.raises(BuildError, match="'Ship' and 'ship' are written alike"):
        Build(folder, settings).run()


def test_a_setting_that_cannot_be_used_does_not_stay(inputs: Path, tmp_path: Path) -> None:
    """The next command is not refused for it."""
    folder = BuildFolder(tmp_path, "boxes")
    with pytest.raises(BuildError, match="--unit"):
        BuildSettings.of(folder, {"source": inputs, "images": inputs, "options": {"unit": "inches"}})
    with folder.locked(), pytest.raises(BuildError):
        Build(folder, _settings(inputs, form="coca")).run()
    with pytest.raises(BuildError, match="is a new build"):
        BuildSettings.of(folder, {})


def test_categories_that_are_called_alike_are_refused(inputs: Path, tmp_path: Path) -> None:
    """ "Any vehicle?" would ask about one of the two."""
    names = {name: CategoryNames("vehicle", "vehicles") for name in ("ship", "car")}
    with pytest.raises(BuildError, match="two categories are called 'vehicle'"):
        _build(inputs, tmp_path, names=names)


def test_what_is_exported_as_coco_reads_as_it_was(inputs: Path, tmp_path: Path) -> None:
    """With flags, and with zones where marks were left out."""
    document = json.loads((inputs / "coco.json").read_bytes())
    document["annotations"][0]["attributes"]["occluded"] = 1
    document["annotations"][1]["ignore"] = 1
    document["annotations"].append(_annotation(document, 5, 0, (-300, 20, 40, 40)))
    (tmp_path / "coco.json").write_text(json.dumps(document), encoding="utf-8")
    folder = BuildFolder(tmp_path / "one", "boxes")
    build = Build(folder, BuildSettings(source=tmp_path / "coco.json", images=inputs / "images"))
    with folder.locked():
        build.run()
    write_coco(tmp_path / "back.json", build.images(), ({**r, "objects": []} for r in build.records()))
    back_folder = BuildFolder(tmp_path / "two", "boxes")
    back = Build(back_folder, BuildSettings(source=tmp_path / "back.json", images=inputs / "images"))
    with back_folder.locked():
        back.run()
    told = [{image.image: _told(image) for image in each.images()} for each in (build, back)]
    asked = {record["image"] for record in build.records()}
    assert told[1] == {name: marks for name, marks in told[0].items() if name in asked}


def _told(image: AnnotatedImage) -> list[tuple[Any, ...]]:
    """Marks as recipes see them: a category that lost one is as hidden as by a crowd of it."""
    lost = [("ship", frozenset({"crowd"}), (0, 0, image.width, image.height))] if "ship" in image.incomplete else []
    return [*((one.category, one.flags, tuple(one.box)) for one in image.annotations), *lost]


def test_pictures_that_are_set_apart_are_told_and_not_asked(inputs: Path, tmp_path: Path) -> None:
    """The same questions as without, of which those about some pictures are examples of the data set."""
    plain, apart = _build(inputs, tmp_path / "plain"), _build(inputs, tmp_path / "apart", examples=1)
    assert [each["id"] for each in apart.records()] == [each["id"] for each in plain.records()]
    dataset = load_dataset(_publish(apart, tmp_path / "data"))
    told, asked = ({image for one in each for image in one.images} for each in (dataset.examples, dataset.samples))
    assert told
    assert not told & asked
    assert BuildSummary.of(apart).examples == len(dataset.examples)
    assert {one.groups["category"] for one in dataset.examples} == {one.groups["category"] for one in dataset.samples}


def test_a_tool_s_file_of_a_build_makes_the_same_build(inputs: Path, tmp_path: Path) -> None:
    """Whatever the tool: ids are kept, so that questions and their reviews are."""
    build = _build(inputs, tmp_path / "build")
    records = list(build.records())
    for form, name in (("labelstudio", "tasks.json"), ("cvat", "all.xml"), ("qupath", "slides")):
        write_for_tool(form, tmp_path / name, lambda: drawn_images(build.images(), records))
        again = Build(BuildFolder(tmp_path / form, "boxes"), _settings(inputs, source=tmp_path / name))
        with again.folder.locked():
            again.run()
        assert list(again.records()) == records


def test_zero_is_no_bound_on_the_questions_of_an_image(inputs: Path, tmp_path: Path) -> None:
    """Where twelve is, if nothing is said."""
    bounded, free = (
        list(_build(inputs, tmp_path / name, **said).records()) for name, said in (("a", {}), ("b", {"per_image": 0}))
    )
    assert max(Counter(record["image"] for record in bounded).values()) == 12
    assert len(free) > len(bounded)


def test_one_object_less_leaves_most_questions_as_they_were(inputs: Path, tmp_path: Path) -> None:
    """Also the order of their options; an object keeps its id wherever it stands in its file."""
    document = json.loads((inputs / "coco.json").read_text())
    del document["annotations"][3]
    (tmp_path / "coco.json").write_text(json.dumps(document), encoding="utf-8")
    before = {record["id"]: record for record in _build(inputs, tmp_path / "a").records()}
    after = {record["id"]: record for record in _build(inputs, tmp_path / "b", source=tmp_path / "coco.json").records()}
    both = before.keys() & after.keys()
    moved = [name for name in both if before[name] != after[name]]
    reordered = [
        name
        for name in moved
        if sorted(before[name].get("choices", ())) == sorted(after[name].get("choices", ()))
        and before[name]["boxes"] == after[name]["boxes"]
    ]
    assert not reordered
    assert len(both) - len(moved) >= 0.6 * len(before), (len(both), len(moved), len(before))
