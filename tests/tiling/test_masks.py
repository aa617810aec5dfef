"""A masked view is as large as the view, costs as many tokens, and shows nothing of what the mask hides."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.rendering import Raster, render
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, psnr, textured

FULL = View(image="a.png")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> ImageRoot:
    """A picture that is downsized by two, 1024 x 768."""
    folder = tmp_path_factory.mktemp("masks")
    Image.fromarray(textured(1024, 768)).save(folder / "a.png", compress_level=1)
    return ImageRoot(folder)


@pytest.fixture
def library(root: ImageRoot, tmp_path: Path) -> Renderer:
    """With room for all."""
    return Renderer(root, tmp_path / "pyramids", cache_bytes=2**28)


def masked(mask: str, view: View = FULL) -> View:
    """The same view behind a mask."""
    return View(**view.model_dump(exclude={"mask"}), mask=mask)


def look(library: Renderer, mask: str) -> Raster:
    """The full picture behind a mask."""
    return library.render(masked(mask), SMALL_BUDGET)


@pytest.mark.parametrize("mask", ["black", "mean", "blur:16", "black@pct:0,0,50,50"])
def test_size_and_tokens_stay(library: Renderer, mask: str) -> None:
    """And the pixels have a name of their own, which both ways of rendering give."""
    shown, hidden = library.render(FULL, SMALL_BUDGET), look(library, mask)
    assert (hidden.pixels.shape, hidden.visual_tokens) == (shown.pixels.shape, shown.visual_tokens)
    assert (hidden.digest, hidden.view.mask) == (shown.digest, mask)
    assert hidden.key != shown.key
    alone = render(library._root.folder / "a.png", masked(mask), SMALL_BUDGET)
    assert alone.key == hidden.key
    np.testing.assert_array_equal(alone.pixels, hidden.pixels)


def test_each_mask_hides_as_it_says(library: Renderer) -> None:
    """Black is black, the mean is that of all pixels, and a blur is Pillow's Gaussian."""
    shown = library.render(FULL, SMALL_BUDGET).pixels
    assert not look(library, "black").pixels.any()
    colours = np.unique(look(library, "mean").pixels.reshape(-1, 3), axis=0)
    np.testing.assert_array_equal(colours, [np.round(shown.reshape(-1, 3).mean(axis=0))])
    inside = (slice(48, -48), slice(48, -48))  # at the edges each has its own rule
    blurred = np.asarray(Image.fromarray(shown).filter(ImageFilter.GaussianBlur(8)))
    assert psnr(look(library, "blur:8").pixels[inside], blurred[inside]) > 45


def test_a_region_alone_is_hidden(library: Renderer) -> None:
    """All raster pixels that it touches, of several regions each, in a part of the picture as in all of it."""
    shown = library.render(FULL, SMALL_BUDGET).pixels
    hidden = look(library, "black@0,0,3,2;pct:50,50,50,50").pixels
    expected = shown.copy()
    height, width = shown.shape[:2]
    expected[: math.ceil(2 * height / 768), : math.ceil(3 * width / 1024)] = 0
    expected[height // 2 :, width // 2 :] = 0
    np.testing.assert_array_equal(hidden, expected)
    part = View(image="a.png", region="512,384,512,384")
    assert not library.render(masked("black@500,300,524,468", part), SMALL_BUDGET).pixels.any()


def test_the_picture_is_rendered_once_for_all_masks_and_not_at_all_for_black(library: Renderer) -> None:
    """Whoever asks first; of what is black no pixel is read."""
    look(library, "black")
    assert library.stats().passes == 0
    asked = [ViewRequest(masked(mask) if mask else FULL) for mask in ("mean", "", "blur:4", "black@0,0,9,9")]
    awaited, work = library.plan(asked, SMALL_BUDGET)
    for each in work:
        each(lambda: True)
    assert len({one.result().key for one in awaited}) == 4
    assert (library.stats().renders, library.stats().passes) == (1, 1)


def test_whoever_waits_for_a_mask_hears_what_is_wrong_with_the_picture(library: Renderer, tmp_path: Path) -> None:
    """A damaged file has no masked view either."""
    folder = library._root.folder
    (folder / "cut.png").write_bytes((folder / "a.png").read_bytes()[:20_000])
    with pytest.raises(Exception, match=r"cut\.png"):
        library.render(masked("mean", View(image="cut.png")), SMALL_BUDGET)


@pytest.mark.parametrize(
    ("mask", "why"),
    [
        ("grey", "none of black, mean and blur:RADIUS"),
        ("blur", "none of black, mean and blur:RADIUS"),
        ("blur:0", "none of black, mean and blur:RADIUS"),
        ("black@um:0,0,5,5", "neither x,y,w,h nor pct"),
        ("black@here", "mask: region 'here' is none of"),
    ],
)
def test_what_is_no_mask_is_refused(mask: str, why: str) -> None:
    """With what there is."""
    with pytest.raises(ValueError, match=why):
        masked(mask)


def test_a_mask_that_hides_nothing_is_refused(library: Renderer) -> None:
    """The view would be taken for a masked one."""
    with pytest.raises(RegionError, match=r"a\.png \(1024x768\): mask: region '0,0,9,9' hides nothing"):
        library.render(masked("black@0,0,9,9", View(image="a.png", region="512,384,512,384")), SMALL_BUDGET)
    with pytest.raises(RegionError, match="reaches outside"):
        look(library, "black@1000,0,99,9")
