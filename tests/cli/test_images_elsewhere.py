"""Commands take images elsewhere by their addresses: import, check, view; what cannot be read is one sentence."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.installation import MODEL, Installation
from tests.ranges.conftest import draw_pyramid
from tests.ranges.server import FileServer, file_server


@dataclass(frozen=True)
class FarInstallation(Installation):
    """One whose operator lists the pictures of a server of this machine."""

    prefix: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """With its list."""
        listed = {"GIGAVQA_REMOTE_IMAGES": self.prefix, "GIGAVQA_REMOTE_PRIVATE_HOSTS": "127.0.0.1"}
        return super().environment | listed


@pytest.fixture
def server() -> Iterator[FileServer]:
    """A server that the test fills."""
    with file_server() as state:
        yield state


@pytest.fixture
def far(tmp_path: Path, server: FileServer) -> FarInstallation:
    """An installation without data sets."""
    (home := tmp_path / "home").mkdir()
    return FarInstallation(home, prefix=f"{server.prefix}pictures/")


def _picture() -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(3).integers(0, 255, (300, 400, 3), np.uint8)).save(file, "png")
    return file.getvalue()


@pytest.mark.slow
def test_questions_about_images_elsewhere_are_imported_checked_and_shown(
    far: FarInstallation, tmp_path: Path, server: FileServer
) -> None:
    """A pyramid by its tiles, and a PNG whole, which is said; the check then names what has vanished."""
    tiled = server.serve("pictures/plaza.tif", draw_pyramid(tmp_path / "plaza.tif").read_bytes())
    flat = server.serve("pictures/plaza.png", _picture())
    rows = "".join(f"{name},{url},How many?,3\n" for name, url in (("a", tiled), ("b", flat)))
    (tmp_path / "questions.csv").write_text(f"id,image,question,answer\n{rows}")
    told = far.run("dataset", "import", str(tmp_path / "questions.csv"), "far")
    assert told.returncode == 0, told.stderr
    assert f"{flat}: it lies elsewhere and is not read in parts, so that all 0.4 MB" in told.stderr + told.stdout
    found = far.json("dataset", "check", "far", "--json")
    assert (found["ok"], found["errors"]) == (True, [])
    far.ok("view", "--dataset", "far", "--sample", "a", "-m", MODEL, "-c", "V1", "-o", str(tmp_path / "seen.png"))
    far.ok("view", tiled, "-m", MODEL, "-c", "V2", "-o", str(tmp_path / "seen.png"))
    del server.files["/pictures/plaza.tif"]
    run = far.run("dataset", "check", "far")
    assert run.returncode == 2
    assert f"{tiled}: there is no such file (404)" in run.stderr


def test_an_address_that_is_not_listed_is_one_sentence(
    far: FarInstallation, tmp_path: Path, server: FileServer
) -> None:
    """With the setting that lists them, and nothing is asked of its server."""
    url = server.serve("plaza.tif", b"anything")
    (tmp_path / "questions.json").write_text(json.dumps([{"id": "a", "image": url, "question": "?", "answer": "3"}]))
    run = far.run("dataset", "import", str(tmp_path / "questions.json"), "far")
    assert run.returncode == 2
    assert f"image '{url}' is below no listed address; GIGAVQA_REMOTE_IMAGES" in run.stderr
    assert not server.requests
