"""Georeferenced pictures at the command line: facts, places, and evidence in GeoJSON, in and out."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.installation import MODEL, Installation
from tests.tiling.earth import write_geotiff

DISPLAY = "bands=3,2,1 stretch=range:0:4000"
PLACE = "projected:450100,5799500,450300,5799900"
PIXELS = "10,10,20,40"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Three bands of 16 bits, each column of its own value."""
    (tmp_path / "pictures").mkdir()
    bands = np.tile(np.arange(96, dtype=np.uint16) * 40, (3, 64, 1))
    return write_geotiff(tmp_path / "pictures" / "scene.tif", pixels=bands)


def test_show_tells_where_an_image_lies(installation: Installation, scene: Path) -> None:
    """The system, the sampling distance and north, for people and for programs."""
    line = "EPSG:32633 (WGS 84 / UTM zone 33N); ground sampling distance 10 m; north is 0.6 degrees right of up"
    assert line in installation.ok("show", str(scene))
    told = installation.json("show", str(scene), "--json")
    assert (told["crs"], told["gsd"], told["north"]) == ("EPSG:32633 (WGS 84 / UTM zone 33N)", [10, 10], 0.576)


def test_view_shows_a_place(installation: Installation, scene: Path, tmp_path: Path) -> None:
    """The very pixels of the region that it names."""
    views = []
    for number, region in enumerate((PLACE, PIXELS)):
        to = tmp_path / f"{number}.png"
        arguments = ("view", str(scene), "-m", MODEL, "-c", "V3", "--show", DISPLAY, "--region", region, "-o", str(to))
        assert installation.json(*arguments, "--json")[0]["region"] == PIXELS
        views.append(np.asarray(Image.open(to)))
    assert np.array_equal(*views)
    run = installation.run("view", str(scene), "-m", MODEL, "-c", "V3", "--show", DISPLAY, "--region", "lonlat:1,2,3,4")
    assert run.returncode == 2
    assert "outside the image, which spans lonlat:14.26" in run.stderr


def test_evidence_goes_in_and_out_as_geojson(installation: Installation, scene: Path, tmp_path: Path) -> None:
    """What `boxes` writes is taken as evidence again, and shows the same pixels."""
    rows = [{"id": "a", "image": "scene.tif", "question": "Is it a field?", "answer": "yes", "evidence": [PLACE]}]
    told = []
    for name in ("first", "second"):
        records = tmp_path / f"{name}.jsonl"
        records.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        installation.ok("dataset", "import", str(records), name, "--images", str(scene.parent), "--show", DISPLAY)
        assert "no problem found" in installation.ok("dataset", "check", name)
        (one,) = json.loads(installation.ok("dataset", "boxes", name))["features"]
        told.append(one["properties"])
        rows[0]["evidence"] = one
    assert told[0] == told[1]
    assert (told[0]["region"], told[0]["truth"], told[0]["sample"]) == (PIXELS, "yes", "a")


def test_boxes_of_an_image_that_lies_nowhere_are_left_out(installation: Installation, tmp_path: Path) -> None:
    """And counted, with the reason."""
    Image.new("RGB", (64, 48)).save(tmp_path / "plain.png")
    row = {"id": "a", "image": "plain.png", "question": "Is it a field?", "answer": "yes", "evidence": "1,1,9,9"}
    (tmp_path / "plain.jsonl").write_text(json.dumps(row), "utf-8")
    installation.ok("dataset", "import", str(tmp_path / "plain.jsonl"), "plain", "--images", str(tmp_path))
    run = installation.run("dataset", "boxes", "plain", "-o", str(tmp_path / "boxes.geojson"))
    assert "1 box left out: plain/images/plain.png: its file has no georeference" in run.stderr
    assert json.loads((tmp_path / "boxes.geojson").read_text("utf-8"))["features"] == []


@pytest.fixture
def fields(tmp_path: Path) -> Path:
    """The folder that the example draws."""
    script = Path(__file__).parents[2] / "examples" / "earth.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "fields")], check=True)
    return tmp_path / "fields"


def test_the_place_of_the_examples_question_shows_its_lake(
    installation: Installation, fields: Path, tmp_path: Path
) -> None:
    """Blue amid fields, of which it has few: the display and the place are right."""
    place = json.loads((fields / "questions.jsonl").read_text("utf-8"))["regions"][0]
    arguments = ("-m", MODEL, "--show", "bands=3,2,1 stretch=range:0:3000", "-o", str(tmp_path / "seen.png"))
    installation.ok("view", str(fields / "scene.tif"), "-c", "V3", "--region", place, *arguments)
    red, _, blue = (np.asarray(Image.open(tmp_path / "seen.png")).astype(int)[..., band] for band in range(3))
    assert 0.1 < (blue > red + 60).mean() < 0.4
    installation.ok("view", str(fields / "scene.tif"), *arguments)
    red, _, blue = (np.asarray(Image.open(tmp_path / "seen.png")).astype(int)[..., band] for band in range(3))
    assert 0 < (blue > red + 60).mean() < 0.01
