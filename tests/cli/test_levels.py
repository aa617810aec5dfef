"""What is wrong with a file's levels, or left out of it, is told wherever somebody looks at it."""

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.cli.installation import MODEL, Installation
from tests.tiling.pictures import psnr, written

SHEET = written(800, 600)


@pytest.fixture
def sheets(installation: Installation) -> Path:
    """The one picture of the data set `tiny`: every second pixel of it is its level, and another page comes last."""
    path = installation.home / "data/tiny/images/plaza.png"
    with tifffile.TiffWriter(path) as writer:
        for pixels, kind in ((SHEET, 0), (SHEET[::2, ::2], 1), (SHEET, 2)):
            writer.write(pixels, photometric="rgb", tile=(128, 128), compression="zlib", subfiletype=kind)
    return path


TOLD = ("it holds 1 more image; its first one is shown", "its level of 400x300 pixels was made by leaving pixels out")


def test_view_tells_and_shows_the_pixels_of_the_first_page(installation: Installation, sheets: Path) -> None:
    """Beside the JSON, not in it."""
    run = installation.run("view", str(sheets), "-m", MODEL, "-o", str(installation.home / "seen.png"), "--json")
    assert run.returncode == 0
    for told in TOLD:
        assert f"plaza.png: {told}" in run.stderr
    seen = np.asarray(Image.open(installation.home / "seen.png"))
    expected = np.asarray(Image.fromarray(SHEET).resize(seen.shape[1::-1], Image.Resampling.BICUBIC))
    assert psnr(seen, expected) > 45


def test_ingest_tells_and_makes_a_pyramid(installation: Installation, sheets: Path) -> None:
    """Without --force: it is no pyramid of itself."""
    run = installation.run("ingest", str(sheets))
    assert all(told in run.stderr for told in TOLD)
    assert Path(run.stdout.strip()).is_file()


def test_a_check_of_its_data_set_warns(installation: Installation, sheets: Path) -> None:
    """By record."""
    found = installation.json("dataset", "check", "tiny", "--no-checklists", "--json")
    messages = [warning["message"] for warning in found["warnings"]]
    assert all(any(told in message for message in messages) for told in TOLD)


def test_further_frames_of_an_animation_are_told(installation: Installation) -> None:
    """The first one is shown."""
    first, *others = (Image.fromarray(np.full((48, 64, 3), grey, np.uint8)) for grey in (0, 90, 180))
    path = installation.home / "data/tiny/images/plaza.png"
    first.save(path, "webp", save_all=True, append_images=others)
    told = "it is an animation; its first frame is shown"
    assert told in installation.run("view", str(path), "-m", MODEL, "-o", str(installation.home / "seen.png")).stderr
    found = installation.json("dataset", "check", "tiny", "--no-checklists", "--json")
    assert any(told in warning["message"] for warning in found["warnings"])
    assert np.asarray(Image.open(installation.home / "seen.png").convert("RGB")).max() < 20
