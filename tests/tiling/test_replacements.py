"""A raster shows the content that its digest names, whatever takes the image's place meanwhile, and is put back."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageChangedError, ImageNotFoundError
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources import open_source
from gigavqa.tiling.store import RasterStore
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET
from tests.tiling.replacing import RED, SAVE, WAYS, Side, Sides, side_of

LATER = 0.03
STORM = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the one image of a data root."""
    (tmp_path / "data/set").mkdir(parents=True)
    return tmp_path / "data/set"


def library_of(folder: Path) -> Renderer:
    """A library of the data root, as of a process that begins."""
    store = RasterStore(folder.parent.parent / "rasters", 10**8)
    return Renderer(ImageRoot(folder.parent), folder.parent.parent / "pyramids", cache_bytes=2**28, store=store)


def seen(library: Renderer, sides: Sides, region: str = "full") -> Raster:
    """A region of the image as it is now."""
    return library.render(View(image=f"set/{sides.path.name}", region=region), SMALL_BUDGET)


def digests_of(sides: Sides) -> dict[str, Side]:
    """Which content a digest names: both are digested whole, wherever they lie."""
    named: dict[str, Side] = {content_digest(sides.stored(side)): side for side in ("one", "other")}
    assert len(named) == 2
    return named


def require_right(library: Renderer, sides: Sides, digests: dict[str, Side]) -> None:
    """Whatever is kept by now, in memory and on the disk: each content is shown as itself."""
    for side in ("one", "other", "one"):
        sides.put(side, "by renaming a copy")
        for each in (library, library_of(sides.path.parent)):
            raster = seen(each, sides)
            assert digests[raster.digest] == side_of(raster.pixels) == side


@pytest.mark.parametrize("suffix", SAVE)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("away", "back"),
    [pytest.param(1, 2, marks=pytest.mark.slow), (1, 3), pytest.param(2, 3, marks=pytest.mark.slow), (3, 99)],
)
def test_what_lies_there_for_a_moment_is_never_shown_for_what_was_planned(
    folder: Path, suffix: str, way: str, away: int, back: int
) -> None:
    """Replaced before the file is opened, or between its rows, and put back before anybody looks again."""
    sides = Sides(folder, suffix)
    sides.put("one", way)
    library, digests = library_of(folder), digests_of(sides)
    (awaited,), works = library.plan([ViewRequest(View(image=f"set/{sides.path.name}"))], SMALL_BUDGET)
    asked = count(1)

    def is_wanted() -> bool:
        """Is asked before the file is opened, and at each band of its rows."""
        number = next(asked)
        if number in {away, back}:
            sides.put("other" if number == away else "one", way)
        return True

    for work in works:
        work(is_wanted)
    try:
        raster = awaited.result()
    except (ImageChangedError, ImageNotFoundError):
        pass
    else:
        assert digests[raster.digest] == side_of(raster.pixels) == "one"
        library.keep(raster)
    require_right(library, sides, digests)


@pytest.mark.parametrize("way", WAYS)
def test_an_open_source_tells_whether_it_still_shows_what_it_was_opened_for(folder: Path, way: str) -> None:
    """Or goes on showing it, whatever lies at its name."""
    sides = Sides(folder, "png")
    sides.put("one", way)
    digest = content_digest(sides.path)
    with open_source(sides.path, digest) as source:
        assert source.is_unchanged
        sides.put("other", way)
        shown = side_of(source.read(0, source.stored_region(0, (0, 0, *source.size))))
        assert shown == "one" or not source.is_unchanged
    with pytest.raises(ImageChangedError, match="image"):
        open_source(sides.path, digest)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_after_a_storm_of_replacements_every_key_shows_its_own_content(folder: Path, suffix: str) -> None:
    """Two contents take each other's place in every way, at every moment, while rasters are made and kept."""
    sides = Sides(folder, suffix)
    sides.put("one", "in place")
    library, digests = library_of(folder), digests_of(sides)
    rasters: list[Raster] = []
    over = threading.Event()

    def ask(numbers: Iterator[int]) -> None:
        while not over.is_set():
            try:
                raster = seen(library, sides, f"{next(numbers) % 90},0,100,450")
            except (ImageChangedError, ImageNotFoundError):
                continue
            rasters.append(raster)
            library.keep(raster)

    with ThreadPoolExecutor(2) as threads:
        asking = [threads.submit(ask, count(first)) for first in (0, 45)]
        chance = random.Random(1)
        for number in count():
            sides.put("other" if number % 2 else "one", chance.choice(WAYS))
            # Ever slower, so that rasters of both come through on a busy machine, too.
            over.wait(chance.random() * LATER * max(1.0, number / STORM))
            if number > 10 * STORM or (number > STORM and {digests[raster.digest] for raster in rasters} == {*RED}):
                break
        over.set()
        for each in asking:
            each.result()
    assert {digests[raster.digest] for raster in rasters} == {*RED}
    wrong = [raster.key for raster in rasters if side_of(raster.pixels) != digests[raster.digest]]
    assert wrong == []
    require_right(library, sides, digests)
