"""Pixels of regions as services get them: JPEG files in data URLs. It needs the extra `pixels`."""

import base64
import io
from pathlib import Path

from PIL import Image

from gigavqa.load.prompts import Picture, ShowRegion
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View

_QUALITY = 90
_MOST_PIXELS = 2**26


class _OwnSize(NativeBudget):
    """The visual budget of a client that scales nothing: what models make of a region is the service's affair."""

    @property
    def max_visual_tokens(self) -> int:
        """None are known."""
        return 0

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest region."""
        return _MOST_PIXELS

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Return the size itself."""
        return PreprocessingDecision(size, size)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Return none."""
        return 0


def region_cutter(pyramids: Path) -> ShowRegion:
    """Return what cuts a region out of a picture, or of its pyramid where `pyramids` has one. It raises TilingError."""
    budget = _OwnSize()

    def cut(picture: Picture, region: Region) -> str:
        view = View(image=picture.name, region=str(region), show=picture.show)
        pixels = render(Path(picture.path), view, budget, pyramids=pyramids).pixels
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=_QUALITY)
        return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"

    return cut
