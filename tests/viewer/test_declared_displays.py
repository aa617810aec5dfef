"""Images whose data set declares how they are shown look in the viewer as they do to a model."""

import io
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET
from tests.viewer.viewing import viewing


@pytest.mark.parametrize("scope", ["band", "region"])
def test_a_region_is_shown_in_the_colours_that_a_model_sees(tmp_path: Path, scope: str) -> None:
    """To the byte, also where each region has limits of its own; a file of which nothing is declared is refused."""
    images = tmp_path / "data" / "set" / "images"
    images.mkdir(parents=True)
    y, x = np.mgrid[:256, :512]
    samples = (3 * x + 2 * y).astype(np.uint16)
    tifffile.imwrite(images / "declared.tif", samples, tile=(64, 64))
    tifffile.imwrite(images / "other.tif", samples)
    display = f"stretch=minmax{' per=region' if scope == 'region' else ''}"
    (images.parent / "dataset.toml").write_text(f'[show]\n"images/declared*" = "{display}"\n', "utf-8")
    region = "0,0,256,256"
    seen = render(images / "declared.tif", View(image="x", region=region, show=display), SMALL_BUDGET).pixels

    with viewing(tmp_path) as viewer:
        answer = viewer.get("set/images/declared.tif", f"{region}/256,256/0/default.png?as=raster")
        refused = viewer.get("set/images/other.tif", f"{region}/256,256/0/default.png")

    assert np.array_equal(np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB")), seen)
    assert bool(seen.max() > 250) is (scope == "region")
    assert refused.status_code == 422 and "has 16 bits a sample" in refused.text
