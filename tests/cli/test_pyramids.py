"""Pyramids are made where they are needed, listed, and deleted when their pictures are gone."""

import os
import pty
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.cli.installation import Installation
from tests.tiling.pictures import save_pyramid, textured


def picture(installation: Installation) -> Path:
    """The one picture of the data set `tiny`."""
    return installation.home / "data" / "tiny" / "images" / "plaza.png"


@pytest.fixture
def ingested(installation: Installation) -> Path:
    """Its pyramid."""
    return Path(installation.ok("ingest", "tiny/images/plaza.png").strip())


@pytest.mark.slow
def test_of_a_pyramid_none_is_made(installation: Installation) -> None:
    """A sentence says so, the status is 0, and nothing is written but with --force."""
    save_pyramid(textured(1500, 1200), picture(installation).with_name("levels.tif"))
    run = installation.run("ingest", "tiny/images/levels.tif")
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == ("tiny/images/levels.tif is a pyramid already: views read it as it is, and nothing was made\n")
    assert not (installation.home / "pyramids").exists()
    assert Path(installation.ok("ingest", "tiny/images/levels.tif", "--force").strip()).is_file()


def test_every_image_is_looked_for_before_one_is_read(installation: Installation) -> None:
    """A name that is none ends the command before the first pyramid."""
    run = installation.run("ingest", "tiny/images/plaza.png", "tiny/images/plazza.png")
    assert (run.returncode, "did you mean 'plaza.png'?" in run.stderr) == (2, True)
    assert not (installation.home / "pyramids").exists()


def test_a_terminal_shows_how_far_an_ingest_is(installation: Installation) -> None:
    """A bar with the image's name and 100 % in the end; a pipe shows nothing of it."""
    assert installation.run("ingest", "tiny/images/plaza.png", "-o", str(installation.home / "one")).stderr == ""
    ours, theirs = pty.openpty()
    environment = installation.environment | {"TERM": "xterm"}
    arguments = installation.command("ingest", "tiny/images/plaza.png", "-o", str(installation.home / "two"))
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = _read_all(ours)
        assert process.wait(60) == 0
    assert "plaza.png" in shown and "100%" in shown


def _read_all(descriptor: int) -> str:
    parts = []
    try:
        while part := os.read(descriptor, 4096):
            parts.append(part)
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(descriptor)
    return b"".join(parts).decode()


def test_pyramids_are_listed_with_their_pictures(installation: Installation, ingested: Path) -> None:
    """And what they take."""
    (listed,) = installation.json("pyramids", "list", "--json")
    assert (listed["pyramid"], listed["pictures"]) == (str(ingested), ["tiny/images/plaza.png"])
    assert listed["bytes"] == ingested.stat().st_size
    assert "tiny/images/plaza.png" in installation.ok("pyramids", "list")


def test_a_pyramid_in_use_stays(installation: Installation, ingested: Path) -> None:
    """Unless all are to go."""
    assert "nothing deleted" in installation.ok("pyramids", "prune")
    assert ingested.exists()
    assert "deleted: 1 pyramid" in installation.ok("pyramids", "prune", "--all", "--yes")
    assert not ingested.exists()


def test_prune_deletes_nothing_unasked_and_says_what_it_frees(installation: Installation, ingested: Path) -> None:
    """Where nobody can be asked nothing is deleted; --yes needs no answer."""
    picture(installation).unlink()
    run = subprocess.run(
        installation.command("pyramids", "prune"),
        env=installation.environment,
        input="n\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "say --yes" in run.stderr
    assert ingested.exists()
    freed = installation.json("pyramids", "prune", "--yes", "--json")["bytes"]
    assert freed > 0
    assert not ingested.exists()


def test_without_a_data_root_nothing_is_pruned(installation: Installation, ingested: Path) -> None:
    """A folder that is not mounted is no reason to delete the pyramids of its pictures."""
    data = installation.home / "data"
    data.rename(installation.home / "elsewhere")
    run = installation.run("pyramids", "prune", "--yes")
    assert (run.returncode, str(data) in run.stderr) == (1, True)
    assert ingested.exists()


def test_views_of_the_pyramids_picture_need_it_no_more(installation: Installation, ingested: Path) -> None:
    """What is pruned is only a copy: ingest makes the same again."""
    before = np.fromfile(ingested, np.uint8)
    installation.ok("pyramids", "prune", "--all", "--yes")
    assert Path(installation.ok("ingest", "tiny/images/plaza.png").strip()) == ingested
    assert np.array_equal(np.fromfile(ingested, np.uint8), before)
