"""Building the data set: repeatable, resumable, and never half-written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gigavqa.demo.canvas import replacing
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.ultravr.ad.grid import paint_grid, plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.cctv.paint import paint_plaza
from gigavqa.demo.ultravr.cctv.samples import plaza_records
from gigavqa.demo.ultravr.cctv.scene import plan_plaza
from gigavqa.demo.ultravr.dataset import GENERATOR, IMAGES, build_demo_dataset
from tests.demo.conftest import SCALE, SEED
from tests.waiting import wait_until


@pytest.mark.slow
def test_a_complete_data_set_is_not_painted_again(demo_folder: Path) -> None:
    """The second call touches no file and says that all is there."""
    before = {path: path.stat().st_mtime_ns for path in demo_folder.rglob("*")}
    said: list[str] = []
    assert build_demo_dataset(demo_folder, seed=SEED, scale=SCALE, progress=said.append) == demo_folder
    assert said == ["demo: complete"]
    assert {path: path.stat().st_mtime_ns for path in demo_folder.rglob("*")} == before


@pytest.mark.slow
def test_only_what_is_missing_is_painted_again(demo_folder: Path, tmp_path: Path) -> None:
    """A deleted image comes back, the others are kept, and the new one has the same pixels."""
    copy = tmp_path / "demo"
    for path in demo_folder.rglob("*"):
        target = copy / path.relative_to(demo_folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            target.write_bytes(path.read_bytes())
    lost = PRODUCTS[1].image
    (copy / lost).unlink()
    said: list[str] = []
    build_demo_dataset(copy, seed=SEED, scale=SCALE, progress=said.append)
    assert [line.split(":")[0] for line in said] == [lost, "demo"]
    assert (copy / lost).read_bytes() == (demo_folder / lost).read_bytes()


def test_the_manifest_of_another_seed_or_size_counts_for_nothing(demo_folder: Path) -> None:
    """Images of one seed are never taken for those of another."""
    assert all(DemoManifest.open(demo_folder, GENERATOR, SEED, SCALE).holds(image) for image in IMAGES)
    assert not any(DemoManifest.open(demo_folder, GENERATOR, SEED + 1, SCALE).holds(image) for image in IMAGES)
    assert not any(DemoManifest.open(demo_folder, GENERATOR, SEED, 1.0).holds(image) for image in IMAGES)


def test_what_an_earlier_generator_drew_counts_for_nothing(demo_folder: Path, tmp_path: Path) -> None:
    """A home whose demo has questions that can be guessed is given the new ones, pictures and all."""
    content = json.loads((demo_folder / "manifest.json").read_text())
    content["made_from"]["generator"] = "1"
    (tmp_path / "images").symlink_to(demo_folder / "images")
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    (tmp_path / "dataset.toml").write_text("")
    earlier = DemoManifest.open(tmp_path, GENERATOR, SEED, SCALE)
    assert not earlier.holds_records()
    assert not any(earlier.holds(image) for image in IMAGES)


def test_a_truncated_image_is_not_complete(tmp_path: Path) -> None:
    """The manifest believes a file only at its full length."""
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"whole")
    manifest = DemoManifest.open(tmp_path, GENERATOR, SEED, SCALE)
    manifest.add("images/a.png")
    assert DemoManifest.open(tmp_path, GENERATOR, SEED, SCALE).holds("images/a.png")
    (tmp_path / "images" / "a.png").write_bytes(b"who")
    assert not DemoManifest.open(tmp_path, GENERATOR, SEED, SCALE).holds("images/a.png")


def test_a_painting_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither the file nor its temporary neighbour exists after an error."""
    with pytest.raises(OSError, match="disk full"), replacing(tmp_path / "image.png") as temporary:
        temporary.write_bytes(b"half")
        raise OSError("disk full")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    """The half-written file of a process that is gone does not stay beside the whole one."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f".{gone.pid}-image.png").write_bytes(b"half")
    with replacing(tmp_path / "image.png") as temporary:
        temporary.write_bytes(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["image.png"]


@pytest.mark.slow
def test_a_killed_build_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Images that were complete when the builder was killed are not painted again."""
    folder = tmp_path / "demo"
    call = (
        "from pathlib import Path; from gigavqa.demo.ultravr.dataset import build_demo_dataset; "
        f"build_demo_dataset(Path({str(folder)!r}), scale=0.1)"
    )
    builder = subprocess.Popen([sys.executable, "-c", call], start_new_session=True, stdout=subprocess.DEVNULL)
    wait_until((folder / "manifest.json").exists, timeout=120, what="the first image")
    os.killpg(builder.pid, signal.SIGKILL)
    builder.wait()
    complete = set(json.loads((folder / "manifest.json").read_text())["images"])
    said: list[str] = []
    build_demo_dataset(folder, scale=0.1, progress=said.append)
    painted = {line.split(":")[0] for line in said[:-1]}
    assert painted == set(IMAGES) - complete
    assert said[-1].endswith("samples written and checked")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_pixels_and_records(tmp_path: Path) -> None:
    """Everything is drawn from the seed alone."""
    for name in ("first", "second"):
        paint_plaza(plan_plaza(3), tmp_path / f"{name}.jpg", 0.05)
        paint_grid(plan_grid(3, PRODUCTS[0]), tmp_path / f"{name}.png", 0.05)
    assert (tmp_path / "first.jpg").read_bytes() == (tmp_path / "second.jpg").read_bytes()
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert json.dumps(plaza_records(plan_plaza(3))) == json.dumps(plaza_records(plan_plaza(3)))


def test_another_seed_gives_another_plaza() -> None:
    """The seed decides where people stand."""
    assert plan_plaza(3).figures != plan_plaza(4).figures
