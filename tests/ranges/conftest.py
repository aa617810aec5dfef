"""Pictures that a server of this machine serves, and what reads them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.ranges import attempts
from gigavqa.ranges.sources import RangeSources
from gigavqa.tiling import opening
from gigavqa.tiling.opening import use_remote_images
from gigavqa.tiling.remote.images import RemoteImages
from tests.ranges.server import FileServer, file_server

SIDE, TILE = 2048, 256


def draw_pyramid(path: Path, side: int = SIDE) -> Path:
    """Write a pyramid of noise on a gradient: lossless tiles, of which none is like another."""
    rng = np.random.default_rng(11)
    ramp = np.linspace(0, 200, side, dtype=np.float32)
    pixels = (ramp[:, None, None] + ramp[None, :, None] / 8 + rng.integers(0, 30, (side, side, 3))).astype(np.uint8)
    levels = [pixels]
    while len(levels[-1]) > TILE:
        levels.append(np.asarray(Image.fromarray(levels[-1]).reduce(2)))
    with tifffile.TiffWriter(path) as file:
        for number, level in enumerate(levels):
            tiles = {"tile": (TILE, TILE), "photometric": "rgb", "compression": "zlib"}
            file.write(level, subfiletype=int(number > 0), **tiles)
    return path


@pytest.fixture(scope="session")
def pyramid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pyramid of 2048 pixels on a side, of 5 MB."""
    return draw_pyramid(tmp_path_factory.mktemp("pyramids") / "pyramid.tif")


@pytest.fixture(autouse=True)
def _quick_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "PAUSES", (0.01, 0.02, 0.04))


@pytest.fixture
def server() -> Iterator[FileServer]:
    """A server that the test fills."""
    with file_server() as state:
        yield state


ReadRemote = Callable[..., RemoteImages]


@pytest.fixture
def read_remote(tmp_path: Path, server: FileServer) -> Iterator[ReadRemote]:
    """Lets this process read what the server serves, by what bounds the test says."""
    before = [*opening._MAKERS], [*opening._MADE]

    def read(
        *prefixes: str,
        private: tuple[str, ...] = ("127.0.0.1",),
        seconds: float = 20.0,
        capacity: int = 1 << 30,
        most_whole: int = 1 << 26,
        look_seconds: float = 60.0,
    ) -> RemoteImages:
        reader = RangeSources(prefixes or (server.prefix,), private, seconds, look_seconds)
        images = RemoteImages(
            tmp_path / "remote", reader, capacity=capacity, most_whole=most_whole, look_seconds=look_seconds
        )
        use_remote_images(lambda: images)
        return images

    yield read
    opening._MAKERS[:], opening._MADE[:] = before
