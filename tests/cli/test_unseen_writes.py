"""A picture that was written to without any time of its file changing is told of, where its bytes are read anyway."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.tiling.versions import is_settled, version_of
from tests.cli.installation import MODEL, Installation
from tests.waiting import wait_until

TOLD = "its content is another one, though no time of the file changed; `touch` it"


@pytest.fixture
def picture(installation: Installation) -> Path:
    """The one picture of the data set `tiny`, whose digest is kept."""
    path = installation.home / "data/tiny/images/plaza.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (700, 800, 3), np.uint8)).save(path)
    wait_until(lambda: is_settled(version_of(path)), what="the file system's clock")
    seen = installation.home / "seen.png"
    assert installation.run("view", str(path), "-m", MODEL, "-o", str(seen), "--json").returncode == 0
    return path


@pytest.fixture
def written(installation: Installation, picture: Path) -> Path:
    """The same, of which another content's digest is kept: no mapping is written through at just the right moment."""
    (kept,) = (installation.home / "digests").rglob("*.digest")
    kept.write_text("ab" * 32)
    return picture


def test_ingest_tells_and_makes_the_pyramid_of_what_is_there(installation: Installation, written: Path) -> None:
    """Once: from then on its digest is right."""
    told = installation.run("ingest", str(written))
    assert f"plaza.png: {TOLD}" in told.stderr
    assert "ab" * 32 not in told.stdout
    assert TOLD not in installation.run("ingest", str(written)).stderr


def test_a_check_that_decodes_pixels_warns(installation: Installation, written: Path) -> None:
    """Another one reads headers alone."""
    checks = [("--pixels",), ()]
    warnings = [installation.json("dataset", "check", "tiny", *each, "--json")["warnings"] for each in checks]
    assert [any(TOLD in warning["message"] for warning in each) for each in warnings] == [True, False]


def test_nothing_is_told_of_a_picture_that_is_what_it_was(installation: Installation, picture: Path) -> None:
    """Nor is its pyramid made anew."""
    assert TOLD not in installation.run("ingest", str(picture)).stderr
