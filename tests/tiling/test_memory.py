"""Memory of a view is bounded by the design, not by the image: counted in bytes, in a fresh process."""

import subprocess
import sys
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import tifffile

WIDTH, HEIGHT, TILE = 60_000, 40_000, 512
GIB = 2**30

MEASURE = """
import sys
from pathlib import Path
from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from tests.peak_memory import peak_bytes

budget = QwenBudget(factor=32, min_pixels=65536, max_pixels=4096 * 4096)
before = peak_bytes()
raster = render(Path(sys.argv[1]), View(image="x", region=sys.argv[2], sizing=sys.argv[3]), budget)
print(peak_bytes() - before - raster.pixels.nbytes)
"""

MEASURE_PASS = (
    MEASURE[: MEASURE.index("budget =")]
    + """
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.roots import ImageRoot
budget = QwenBudget(factor=32, min_pixels=65536, max_pixels=1024 * 1024)
path = Path(sys.argv[1])
library = Renderer(ImageRoot(path.parent), path.parent / "pyramids", 0)
corners = ("0,0", "50,0", "0,50", "50,50")
views = [View(image=path.name, sizing="longest:1024"), View(image=path.name)]
views += [View(image=path.name, region=f"pct:{corner},50,50") for corner in corners]
before = peak_bytes()
awaited, work = library.plan([ViewRequest(view) for view in views], budget)
for make in work:
    make(lambda: True)
held = sum(each.result().pixels.nbytes for each in awaited)
assert library.stats().passes == 1
print(peak_bytes() - before - held)
"""
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2.4 gigapixels with levels of x2, of x4, and without levels, all of one tile so that they are quickly made."""
    folder = tmp_path_factory.mktemp("memory")
    pixels = np.full((TILE, TILE, 3), (120, 90, 200), np.uint8)  # the mean of which is itself at every level
    jpeg = {"compression": "jpeg", "photometric": "ycbcr", "subsampling": (2, 2)}
    zstd = {"compression": "zstd", "photometric": "rgb"}  # is decoded faster, as all of a flat file must be
    coded = {"jpeg": imagecodecs.jpeg8_encode(pixels, level=75), "zstd": imagecodecs.zstd_encode(pixels.tobytes())}
    for name, scales, options in (
        ("x2.tif", (1, 2, 4, 8, 16, 32), jpeg),
        ("x4.tif", (1, 4, 16), jpeg),
        ("flat.tif", (1,), zstd),
    ):
        with tifffile.TiffWriter(folder / name, bigtiff=True) as writer:
            for scale in scales:
                width, height = WIDTH // scale, HEIGHT // scale
                tiles = -(-width // TILE) * -(-height // TILE)
                writer.write(
                    iter([coded[str(options["compression"])]] * tiles),
                    shape=(height, width, 3),
                    dtype=np.uint8,
                    tile=(TILE, TILE),
                    metadata=None,
                    subfiletype=min(scale - 1, 1),  # a smaller page without it is no level
                    **options,
                )
    return folder


@pytest.mark.parametrize(
    ("name", "region", "sizing"),
    [
        ("x2.tif", "full", "longest:1024"),
        ("x2.tif", "full", "native"),
        ("x2.tif", "30000,20000,30000,20000", "native"),
        ("x4.tif", "full", "longest:1024"),
        ("x4.tif", "full", "native"),
        ("x4.tif", "30000,20000,30000,20000", "native"),
    ],
)
def test_a_view_of_2_4_gigapixels_adds_less_than_half_a_gibibyte(
    folder: Path, name: str, region: str, sizing: str
) -> None:
    """Thumbnail, full view at 4096 x 4096 and quadrant; the raster itself is not counted."""
    command = [sys.executable, "-c", MEASURE, str(folder / name), region, sizing]
    added = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert added < GIB / 2


def test_a_pass_for_six_views_of_2_4_gigapixels_adds_no_more(folder: Path) -> None:
    """Of a flat file, all of whose pixels pass: bands are shared, and each view holds a window of its own rows."""
    command = [sys.executable, "-c", MEASURE_PASS, str(folder / "flat.tif")]
    added = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert added < GIB / 2
