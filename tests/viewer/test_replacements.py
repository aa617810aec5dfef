"""An address that names a content shows that content, for ever, whatever took the picture's place while it was read."""

import io
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageChangedError
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources import Source
from gigavqa.viewer.images import ImagePool
from tests.tiling.replacing import WAYS, Side, Sides, side_of
from tests.viewer.viewing import Viewing, viewing
from tests.waiting import wait_until

WISHES = ("full/90,/0/default.png", "{n},0,150,150/max/0/default.png", "full/{m},/0/default.png?as=raster")
LATER = 0.03


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the one picture of an installation's data root."""
    (tmp_path / "data/set").mkdir(parents=True)
    return tmp_path / "data/set"


def colour(source: Source) -> Side:
    """Which content a source shows."""
    return side_of(source.read(0, source.stored_region(0, (0, 0, *source.size))))


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_kept_open_is_of_the_content_that_it_is_kept_for(folder: Path, suffix: str, way: str) -> None:
    """What lay there for a moment is refused where it was opened, and where it was read, and never lent again."""
    sides = Sides(folder, suffix)
    pictures = ImagePool(ImageRoot(folder.parent), folder.parent.parent / "pyramids")
    sides.put("one", way)
    one = pictures.find(f"set/{sides.path.name}")
    sides.put("other", way)
    if one.path == sides.path:  # elsewhere a link was followed, to what stays the same
        with pytest.raises(ImageChangedError), pictures.opened(one):
            pass
    other = pictures.find(f"set/{sides.path.name}")
    with pictures.opened(other) as source:
        assert colour(source) == "other"
    for side in ("one", "other", "one"):
        sides.put(side, way)
        with pictures.opened(pictures.find(f"set/{sides.path.name}")) as source:
            assert colour(source) == side
    pictures.close()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "tif", "jpg"])
def test_after_a_storm_of_replacements_every_address_shows_its_own_content(folder: Path, suffix: str) -> None:
    """While two contents take each other's place, and in the quiet after it, by every address that was answered."""
    sides = Sides(folder, suffix)
    digests: dict[Side, str] = {side: content_digest(sides.stored(side)) for side in ("one", "other")}
    sides.put("one", "in place")
    answered: list[tuple[Side, str]] = []
    over = threading.Event()

    def has_shown(side: Side) -> bool:
        return any(of == side for of, _ in answered)

    def ask(viewer: Viewing, numbers: Iterator[int]) -> None:
        for number in numbers:
            if over.is_set():
                return
            side: Side = "other" if number % 2 else "one"
            wish = WISHES[number % 3].format(n=number % 90, m=91 + number % 90)
            answer = viewer.get(f"set/{sides.path.name}@{digests[side]}", wish)
            if answer.status_code == 200:
                assert seen(answer) == side
                answered.append((side, wish))
            else:
                assert answer.status_code in {404, 503}, answer.text

    with viewing(folder.parent.parent) as viewer, ThreadPoolExecutor(2) as threads:
        asking = [threads.submit(ask, viewer, count(first)) for first in (0, 45)]
        chance = random.Random(2)
        for number in range(100):
            sides.put("other" if number % 2 else "one", chance.choice(WAYS))
            over.wait(chance.random() * LATER)
        for side in digests:
            sides.put(side, "by renaming a copy")
            wait_until(partial(has_shown, side), what=f"an answer that shows {side}")
        over.set()
        for each in asking:
            each.result()
        for side, digest in digests.items():
            sides.put(side, "by renaming a copy")
            for wish in {wish for of, wish in answered if of == side}:
                assert seen(viewer.get(f"set/{sides.path.name}@{digest}", wish)) == side


def seen(answer: httpx.Response) -> Side:
    """Which content an answer shows."""
    assert answer.is_success, answer.text
    return side_of(np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB")))
