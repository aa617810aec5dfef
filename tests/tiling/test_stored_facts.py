"""What takes reading of pixels is found out once for a content, by whichever process comes first."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tifffile

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling import file_facts, levels
from gigavqa.tiling.digest import digest_folder, store_digests
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.file_facts import cached_identity, cached_read_plan
from gigavqa.tiling.level_comparison import compare_levels
from gigavqa.tiling.levels import ReadPlan
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources.base import Decoder
from gigavqa.tiling.statistics import sample_pixels
from gigavqa.tiling.views import View
from tests.tiling.pictures import save_pyramid, textured

BUDGET = QwenBudget(factor=4, min_pixels=16, max_pixels=512 * 512)
SHOW = "stretch=percentile:2:98"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    before = digest_folder()
    store_digests(tmp_path / "digests")
    yield tmp_path / "digests"
    store_digests(before)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.random.default_rng(0).integers(200, 3000, (96, 128), np.uint16))
    return path


@pytest.fixture
def samplings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each time that pixels were sampled."""
    seen: list[object] = []
    monkeypatch.setattr(file_facts, "sample_pixels", lambda *some: [seen.append(some), sample_pixels(*some)][1])
    return seen


def tone(path: Path, show: str = SHOW, region: str = "full") -> Tone:
    """As a process that knows nothing of the file finds it."""
    file_facts._tone.cache_clear()  # what a new process lacks
    found = cached_identity(path, None, show, region).tone
    assert found is not None
    return found


def test_the_next_process_samples_nothing_and_shows_the_same(image: Path, samplings: list[object]) -> None:
    """To the last digit."""
    assert tone(image) == tone(image)
    assert len(samplings) == 1


def test_another_display_region_or_content_has_limits_of_its_own(image: Path) -> None:
    """None is taken for the other."""
    told = [
        tone(image),
        tone(image, "stretch=minmax"),
        *(tone(image, f"{SHOW} per=region", at) for at in ("full", "0,0,9,9")),
    ]
    tifffile.imwrite(image, np.random.default_rng(1).integers(5000, 6000, (96, 128), np.uint16))
    assert len({*map(str, told), str(tone(image))}) == 4  # the third is the first


@pytest.mark.parametrize("text", ["", "[[1]]", '"', "[[NaN, 1, 2]]", "{}", "3", "\x00\xff"])
def test_what_was_kept_and_can_no_longer_be_read_is_found_anew(
    image: Path, folder: Path, samplings: list[object], text: str
) -> None:
    """A disk may lose what it was given."""
    right = tone(image)
    (place,) = folder.rglob("*.fact")
    place.write_text(text, "latin-1")
    assert tone(image) == right
    assert len(samplings) == 2


def test_a_folder_that_takes_nothing_costs_time_alone(image: Path, folder: Path, samplings: list[object]) -> None:
    """The answer is the same."""
    right = tone(image)
    store_digests(folder.with_name("a.tif") / "below a file")
    assert [tone(image), tone(image)] == [right, right]
    assert len(samplings) == 3


def read_plan(path: Path, show: str = "") -> ReadPlan:
    """As a process that knows nothing of the file finds it."""
    file_facts._read_plan.cache_clear()  # what a new process lacks
    return cached_read_plan(path, tone=cached_identity(path, None, show).tone)


@pytest.mark.parametrize("step", [1, 2], ids=["believed", "disbelieved"])
def test_levels_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """What is wrong with them is told as before."""
    compared: list[Decoder] = []
    monkeypatch.setattr(file_facts, "compare_levels", lambda some: [compared.append(some), compare_levels(some)][1])
    path, pixels = tmp_path / "a.tif", textured(800, 600)
    if step == 1:
        save_pyramid(pixels, path)
    else:
        with tifffile.TiffWriter(path) as writer:
            for number in range(2):
                level = pixels[:: step**number, :: step**number]
                writer.write(level, photometric="rgb", tile=(128, 128), subfiletype=number)
    first = read_plan(path)
    assert read_plan(path) == first
    assert bool(first.remarks) == (step > 1)
    assert len(compared) == 1
    read_plan(path, "stretch=range:0:9")
    assert len(compared) == 2


def test_a_view_of_the_full_resolution_compares_no_levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs none of them; a smaller one beside it does, and both have the pixels that they have alone."""
    compared: list[Decoder] = []
    monkeypatch.setattr(levels, "LARGE_PIXELS", 1)
    monkeypatch.setattr(file_facts, "compare_levels", lambda some: [compared.append(some), compare_levels(some)][1])
    save_pyramid(textured(1600, 1200), tmp_path / "a.tif")
    full, small = View(image="a.tif", region="100,100,64,64"), View(image="a.tif", sizing="longest:64")
    alone = Renderer(ImageRoot(tmp_path), tmp_path / "pyramids", cache_bytes=0)
    near = alone.render(full, BUDGET)
    assert (near.level, compared) == (0, [])
    far = alone.render(small, BUDGET)
    assert far.level > 0
    assert len(compared) == 1

    together, works = Renderer(ImageRoot(tmp_path), tmp_path / "pyramids", cache_bytes=0).plan(
        [ViewRequest(full), ViewRequest(small)], BUDGET
    )
    for work in works:
        work(lambda: True)
    for one, other in zip(together, (near, far), strict=True):
        np.testing.assert_array_equal(one.result().pixels, other.pixels)
