"""Views of pictures elsewhere and here, and the tiles that they need."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest import MonkeyPatch

from gigavqa.catalogue.load import load_catalogue
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources.tiff import TiffDecoder
from gigavqa.tiling.views import View

BUDGET = load_catalogue()["qwen3-vl-8b"].visual_budget


def render(root: Path, image: str, *, pin: str = "", region: str = "full", sizing: str = "native") -> Raster:
    """Render a view as a worker does that has just begun."""
    renderer = Renderer(ImageRoot(root), root / "pyramids", cache_bytes=0)
    return renderer.render(View(image=image, region=region, sizing=sizing, pin=pin), BUDGET)


@contextmanager
def tiles_read() -> Iterator[dict[int, int]]:
    """Offsets and bytes of all tiles that are decoded in the block."""
    tiles: dict[int, int] = {}
    decode = TiffDecoder._plane

    def decode_counted(self: TiffDecoder, page: object, index: int) -> object:
        tiles[page.dataoffsets[index]] = page.databytecounts[index]  # type: ignore[attr-defined]
        return decode(self, page, index)

    with MonkeyPatch.context() as patched:
        patched.setattr(TiffDecoder, "_plane", decode_counted)
        yield tiles
