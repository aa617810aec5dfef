"""Large flat pictures are never decoded for a tile, and memory does not grow with what is asked at once."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from gigavqa.viewer.drawing import decode_overview
from gigavqa.viewer.errors import ViewerBusyError
from gigavqa.viewer.images import ImagePool
from gigavqa.viewer.settings import ViewerSettings
from performance.view_files import write_tile_pyramid
from tests.tiling.pictures import textured
from tests.viewer.test_pictures import shown
from tests.viewer.viewing import Viewing, viewing
from tests.waiting import async_wait_until, wait_until

FLAT = (5000, 3300)
"""Pixels of a picture that is large, and flat."""
PIXELS = np.tile(textured(1250, 1100, seed=2), (3, 4, 1))


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewing]:
    """A viewer of two renders at a time and few bytes, over a large flat picture and one of 60,000 x 40,000."""
    home = tmp_path_factory.mktemp("narrow")
    (home / "data").mkdir()
    Image.fromarray(PIXELS).save(home / "data/flat.png", compress_level=0)
    write_tile_pyramid(home / "data/huge.tif", (60_000, 40_000), tile=512, levels=8, quality=50)
    (home / "data/cut.png").write_bytes((home / "data/flat.png").read_bytes()[:-1_000_000])
    with viewing(
        home, "--renders", "2", "--tile-bytes", "1MB", "--waiting", "30", "--patience-seconds", "60"
    ) as running:
        yield running


def test_a_flat_picture_is_decoded_once_and_a_pyramid_is_made_when_it_is_looked_at_closely(narrow: Viewing) -> None:
    """The whole of it comes of what is kept in memory; the first tile of its own resolution waits for the pyramid."""
    whole = narrow.get("flat.png", "full/1000,/0/default.jpg")
    assert whole.headers["cache-control"] == "no-store"
    renders, pyramids = narrow.count("renders"), list((narrow.home / "pyramids").glob("*.tif"))
    for left in (0, 1024, 2048):
        assert narrow.get("flat.png", f"{left},0,2048,2048/512,512/0/default.jpg").is_success
    assert (narrow.count("renders") - renders, pyramids) == (3, [])

    tile = shown(narrow.get("flat.png", "4096,2048,512,512/max/0/default.png"))
    np.testing.assert_array_equal(tile, PIXELS[2048:2560, 4096:4608])
    assert narrow.count("pyramids") == 1
    refined = narrow.get("flat.png", "full/1000,/0/default.jpg")
    assert (refined.headers["cache-control"], "etag" in refined.headers) == ("no-cache", True)


@pytest.mark.slow
def test_what_a_model_saw_of_a_large_flat_picture_is_its_raster(tmp_path: Path) -> None:
    """Not a piece of the overview, although that would be there sooner."""
    (tmp_path / "data").mkdir()
    path = tmp_path / "data/flat.jpg"
    Image.fromarray(PIXELS).save(path)
    raster = render(path, View(image="flat.jpg"), QwenBudget(factor=2, min_pixels=4, max_pixels=500 * 330))
    height, width, _ = raster.pixels.shape
    with viewing(tmp_path, "--patience-seconds", "60") as running:
        assert running.get("flat.jpg", f"full/{width},{height}/0/default.png").headers["cache-control"] == "no-store"
        answer = running.get("flat.jpg", f"full/{width},{height}/0/default.png?as=raster")
        assert answer.headers["cache-control"] == "no-cache"
        np.testing.assert_array_equal(shown(answer), raster.pixels)


def test_a_flat_picture_that_is_damaged_is_found_out_once(narrow: Viewing) -> None:
    """No pyramid is begun again for each of its tiles."""
    for _ in range(3):
        told = narrow.get("cut.png", "0,0,512,512/max/0/default.jpg")
        assert (told.status_code, told.json()["detail"].startswith("cut.png: ")) == (422, True)
    assert (narrow.home / "viewer.log").read_text().count("no pyramid of cut.png") == 1


@pytest.mark.slow
async def test_64_tiles_at_once_are_made_two_at_a_time(narrow: Viewing) -> None:
    """Of a picture of 60,000 x 40,000 pixels; those for which there is no room are told to come again."""
    wishes = [
        f"{column * 4096},{row * 4096},4096,4096/500,500/0/default.jpg" for column in range(8) for row in range(8)
    ]
    limits = httpx.Limits(max_connections=64)
    async with httpx.AsyncClient(timeout=120, limits=limits) as http:

        async def tile(wish: str) -> int:
            refused = 0
            while (answer := await http.get(narrow.address("huge.tif", wish))).status_code == 503:
                assert answer.headers["retry-after"] == "2"
                refused += 1
                await asyncio.sleep(0.05)
            assert answer.is_success
            return refused

        refused = sum(await asyncio.gather(*map(tile, wishes)))
    assert refused
    assert narrow.count("renders_at_once_most") == 2
    assert narrow.count("tile_bytes") <= 1_000_000
    assert narrow.count("waiting") == 0


async def test_one_tile_that_many_ask_for_is_made_once(narrow: Viewing) -> None:
    """Whoever comes while it is being made gets the same bytes."""
    renders = narrow.count("renders")
    async with httpx.AsyncClient(timeout=60) as http:
        address = narrow.address("huge.tif", "0,0,16384,16384/700,700/0/default.png")
        answers = await asyncio.gather(*(http.get(address) for _ in range(12)))
    assert len({answer.content for answer in answers}) == 1
    assert narrow.count("renders") - renders == 1


async def test_tiles_that_nobody_waits_for_any_more_are_not_made(narrow: Viewing) -> None:
    """As of a reader who moves on before they come: what was not begun never is."""
    renders = narrow.count("renders")
    wishes = [f"{left},8192,32768,16384/2000,1000/0/default.png" for left in range(0, 24_000, 1000)]
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=30)) as http:

        async def waits(number: int) -> bool:
            return f"gigavqa_viewer_waiting {number}.0" in (await http.get(f"{narrow.url}/metrics")).text

        asked = [asyncio.create_task(http.get(narrow.address("huge.tif", wish))) for wish in wishes]
        await async_wait_until(partial(waits, len(wishes)), what="a queue")
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
    wait_until(lambda: narrow.count("waiting") == 0, what="an empty queue")
    assert narrow.count("renders") - renders < len(wishes)


@pytest.mark.slow
def test_answers_that_nobody_takes_are_counted_and_bounded(tmp_path: Path) -> None:
    """A client asks for pictures and reads none: others are told to come again, and served when it has gone."""
    (tmp_path / "data").mkdir()
    Image.fromarray(textured(1400, 1400, seed=5)).save(tmp_path / "data/a.png")
    with viewing(tmp_path, "--held-bytes", "10MB") as running:
        host, port = running.url.removeprefix("http://").split(":")
        with ExitStack() as stack:
            for left in range(4):
                silent = stack.enter_context(socket.socket())
                silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                silent.connect((host, int(port)))
                wish = f"GET /iiif/3/a.png/{left},0,1300,1300/max/0/default.png HTTP/1.1\r\nHost: {host}\r\n\r\n"
                silent.sendall(wish.encode())
            wait_until(lambda: running.count("held_bytes") > 10_000_000, what="answers that nobody takes")
            told = running.get("a.png", "9,9,99,99/max/0/default.png")
            assert (told.status_code, "have not taken" in told.text) == (503, True)
        wait_until(lambda: running.count("held_bytes") == 0, what="the end of their connections")
        assert running.get("a.png", "9,9,99,99/max/0/default.png").is_success


def test_a_picture_that_nobody_waits_for_is_not_decoded_to_its_end(narrow: Viewing) -> None:
    """The file is left at its first rows."""
    settings = ViewerSettings.read(["--home", str(narrow.home)], {})
    picture = ImagePool(settings.root, narrow.home / "none").find("flat.png")
    looks: list[bool] = []
    with pytest.raises(ViewerBusyError):
        decode_overview(picture, lambda: bool(looks.append(True)))
    assert looks == [True]


@pytest.mark.slow
def test_ending_gives_up_a_pyramid_that_is_being_made(tmp_path: Path) -> None:
    """Nothing of it stays, and the viewer ends at once."""
    (tmp_path / "data").mkdir()
    Image.new("L", (16_000, 12_000)).save(tmp_path / "data/flat.png", compress_level=1)  # it takes seconds to make
    with viewing(tmp_path, "--patience-seconds", "0.1") as running:
        told = running.get("flat.png", "0,0,512,512/max/0/default.jpg")
        assert (told.status_code, "is being made" in told.text) == (503, True)
        wait_until(lambda: list((tmp_path / "pyramids").glob("*.partial")), what="the beginning of a pyramid")
    assert [path.suffix for path in (tmp_path / "pyramids").iterdir()] == [".lock"]
