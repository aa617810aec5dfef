"""`gigavqa show` proposes how samples of any depth could be shown; what it prints is taken by every command."""

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.cli.installation import MODEL, Installation
from tests.tiling.pictures import textured
from tests.tiling.slide_files.mirax import write_mirax


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A scene of five bands of 16 bits."""
    y, x = np.mgrid[:300, :400]
    bands = np.stack([1000 + 10 * (band + 1) * (x + y) % 3000 for band in range(5)], axis=-1)
    tifffile.imwrite(tmp_path / "scene.tif", bands.astype(np.uint16), photometric="minisblack", planarconfig="contig")
    return tmp_path / "scene.tif"


def test_bands_are_told_and_displays_proposed(installation: Installation, scene: Path, tmp_path: Path) -> None:
    """With a picture of them side by side."""
    shown = installation.ok("show", str(scene), "-o", str(tmp_path / "sheet.png"), "--side", "200")
    told = installation.json("show", str(scene), "--json")

    assert "scene.tif: 5 bands of 16 bits (uint16)" in shown
    assert f'show = "{told["displays"][0]}"' in shown
    assert len(told["bands"]) == 5 and told["bands"][0]["least"] == 1000
    assert told["displays"] == [f"bands={order} stretch=percentile:2:98" for order in ("1,2,3", "3,2,1", "4,3,2")]
    assert Image.open(tmp_path / "sheet.png").size == (3 * 212 - 12, 150 + 28)


def test_what_is_proposed_is_what_a_model_can_be_shown(installation: Installation, scene: Path, tmp_path: Path) -> None:
    """And what is declared at an import is written down, and checked with the data set."""
    display = "bands=4,3,2 stretch=percentile:2:98"
    installation.ok("view", str(scene), "-m", MODEL, "--show", display, "-o", str(tmp_path / "seen.png"))
    assert np.asarray(Image.open(tmp_path / "seen.png")).std(axis=(0, 1)).min() > 30
    questions = tmp_path / "rows.csv"
    questions.write_text("image,question,answer\nscene.tif,Is there a field?,yes\n", "utf-8")
    arguments = ("dataset", "import", str(questions), "fields", "--images", str(tmp_path), "--benchmark", "questions")

    assert "proposes how it could be shown" in " ".join(installation.run(*arguments).stderr.split())
    installation.ok(*arguments, "--show", display)

    assert f'show = "{display}"' in (installation.home / "data" / "fields" / "dataset.toml").read_text("utf-8")
    assert "no problem found" in installation.ok("dataset", "check", "fields", "--pixels")


def test_a_display_that_does_not_fit_the_file_is_told(installation: Installation, scene: Path, tmp_path: Path) -> None:
    """By the number of its bands."""
    run = installation.run("view", str(scene), "-m", MODEL, "--show", "bands=8,4,3 stretch=minmax", "-o", "a.png")
    assert run.returncode == 2
    assert "scene.tif: has 5 bands, and `show` asks for band 8" in " ".join(run.stderr.split())


def test_what_a_slide_says_of_itself_is_told(installation: Installation, tmp_path: Path) -> None:
    """Microns of a pixel, objective, associated images, scenes; and views are asked in microns."""
    slide = write_mirax(tmp_path / "one.mrxs", textured(512, 512))
    shown = installation.ok("show", str(slide))
    assert "one.mrxs: 512 x 512 pixels, mirax, 0.25 x 0.26 microns per pixel, 20-fold objective" in shown
    assert 'associated image macro, 128 x 128; show = "associated=macro" shows it' in shown
    assert installation.json("show", str(slide), "--json")["facts"]["objective_power"] == 20

    output = ("-o", str(tmp_path / "seen.png"), "--json")
    asked = ("-c", "V3", "--region", "um:32,0,64,65", "--mpp", "0.5")
    (seen,) = installation.json("view", str(slide), "-m", MODEL, *asked, *output)
    assert (seen["region"], seen["sizing"], seen["microns_per_pixel"]) == ("128,0,256,250", "mpp:0.5", [0.25, 0.26])
    (macro,) = installation.json("view", str(slide), "-m", MODEL, "--show", "associated=macro", *output)
    assert macro["source"] == [128, 128]
    assert "would enlarge" in installation.run("view", str(slide), "-m", MODEL, "--mpp", "0.1").stderr
