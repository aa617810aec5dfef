"""All views that are wanted of a flat image are made in one pass over it, and each is what it would be alone."""

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling import levels
from gigavqa.tiling.budgets.base import VisualBudget
from gigavqa.tiling.errors import ImageUnreadableError, RegionError
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.streaming_resize import StreamingResize
from gigavqa.tiling.views import View
from tests.tiling.pictures import Pixels, as_pillow_sees, psnr, save_pyramid, size_of, textured

WIDTH, HEIGHT = 1501, 1203  # odd, and large enough for levels that are made in passing, by what is large here
LARGE, SMALLEST = 1_700_000, 340
FLAT = ["a.png", "a.jpg", "a.webp", "strips.tif", "tiles.tif"]
BUDGET = QwenBudget(factor=16, min_pixels=85 * 85, max_pixels=170 * 170)
BILINEAR = QwenBudget(factor=14, min_pixels=28 * 28, max_pixels=150 * 150)


@pytest.fixture(scope="module", autouse=True)
def _small_is_large() -> Iterator[None]:
    """Levels are made of pictures with a ninth of the pixels, which is enough for all that holds of passes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "LARGE_PIXELS", LARGE)
        patch.setattr(levels, "SMALLEST", SMALLEST)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One large textured picture in every flat layout, and as a pyramid."""
    folder = tmp_path_factory.mktemp("passes")
    coarse = Image.fromarray(textured(WIDTH // 2, HEIGHT // 2))
    pixels = np.asarray(coarse.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))
    picture = Image.fromarray(pixels)
    picture.save(folder / "a.png", compress_level=1)
    picture.save(folder / "a.jpg", quality=92)
    picture.save(folder / "a.webp", lossless=True, method=0, quality=0)
    picture.save(folder / "strips.tif")
    tifffile.imwrite(folder / "tiles.tif", pixels, photometric="rgb", tile=(176, 176), compression="zlib")
    save_pyramid(pixels, folder / "pyramid.tif")
    return folder


@pytest.fixture
def library(data: Path, tmp_path: Path) -> Renderer:
    """A library that forgets every raster at once."""
    return Renderer(ImageRoot(data), tmp_path / "pyramids", cache_bytes=0)


def views(name: str) -> list[View]:
    """What a job looks at: a thumbnail, all, four quadrants that overlap, and small crops."""
    quadrants = [f"{x},{y},767,618" for x in (0, 734) for y in (0, 585)]
    crops = ["0,0,160,160", "335,169,213,171", "1334,1036,167,167", "1500,1202,1,1"]
    return [
        View(image=name, sizing="longest:171"),
        View(image=name),
        *(View(image=name, region=region) for region in quadrants + crops),
    ]


def together(library: Renderer, looks: list[View], budget: VisualBudget = BUDGET) -> list[Raster]:
    """The rasters of views that are asked for at once."""
    awaited, work = library.plan([ViewRequest(view) for view in looks], budget)
    for make in work:
        make(lambda: True)
    return [each.result() for each in awaited]


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "strips.tif"])
def test_a_flat_image_is_passed_over_once_for_all_its_views(library: Renderer, name: str) -> None:
    """Halved on its way for those who need less of it."""
    together(library, views(name))
    assert (library.stats().renders, library.stats().passes) == (len(views(name)), 1)


def test_a_helper_that_fails_fails_its_pass(library: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its view is never handed out with a band missing."""

    def fail(resize: StreamingResize, band: Pixels, left: int, top: int) -> None:
        raise ImageUnreadableError("a band of it cannot be resized")

    monkeypatch.setattr(StreamingResize, "take", fail)
    with pytest.raises(ImageUnreadableError, match="cannot be resized"):
        together(library, views("a.png"))


def test_each_scale_of_a_jpeg_is_decoded_once_for_all_its_views(library: Renderer) -> None:
    """Coarse ones first, and each view as it is alone."""
    asked = [View(image="a.jpg", sizing=f"longest:{side}") for side in (13, 20, 33, 50, 100, 171)]
    rasters = together(library, asked)
    assert [raster.level for raster in rasters] == [3, 3, 2, 2, 1, 0]
    assert library.stats().passes == 3
    for raster, view in zip(rasters, asked, strict=True):
        np.testing.assert_array_equal(raster.pixels, library.render(view, BUDGET).pixels)


def test_a_pyramid_is_read_view_by_view(library: Renderer) -> None:
    """From its own levels, where a view reads only what it shows."""
    together(library, views("pyramid.tif"))
    assert library.stats().passes == library.stats().renders == len(views("pyramid.tif"))


def test_distant_crops_of_a_tiled_image_are_read_alone(library: Renderer) -> None:
    """A pass would decode all that lies between them."""
    together(library, [View(image="tiles.tif", region=region) for region in ("0,0,160,160", "1333,1033,160,160")])
    assert library.stats().passes == 2


@pytest.mark.parametrize(
    "budget", [pytest.param(BUDGET, id="bicubic"), pytest.param(BILINEAR, id="bilinear", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", FLAT)
def test_a_view_in_a_pass_has_the_pixels_that_it_has_alone(library: Renderer, name: str, budget: VisualBudget) -> None:
    """To the last bit."""
    in_pass = together(library, views(name), budget)
    for raster, view in zip(in_pass, views(name), strict=True):
        alone = library.render(view, budget)
        assert (alone.key, alone.level, alone.downsample) == (raster.key, raster.level, raster.downsample)
        np.testing.assert_array_equal(raster.pixels, alone.pixels)


@pytest.mark.parametrize("name", FLAT)
def test_every_view_in_a_pass_matches_the_full_image_preprocessed(library: Renderer, data: Path, name: str) -> None:
    """At 45 dB, as each does alone."""
    whole = as_pillow_sees(data / name)
    for raster in together(library, views(name)):
        assert psnr(raster.pixels, preprocessed(whole, raster)) >= 45


def preprocessed(whole: Pixels, raster: Raster) -> Pixels:
    """What Pillow makes of the decoded full image."""
    x, y, width, height = resolve_region(raster.view.region, size_of(whole))
    picture = Image.fromarray(whole[y : y + height, x : x + width])
    own = raster.view.downsampled(raster.region.size)
    if own != raster.region.size:
        picture = picture.resize(own, Image.Resampling.BICUBIC)
    return np.asarray(picture.resize(size_of(raster.pixels), Image.Resampling.BICUBIC))


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("suffix", ["jpg", "tif"])
def test_a_pass_over_a_turned_image_is_in_the_oriented_frame(tmp_path: Path, orientation: int, suffix: str) -> None:
    """Regions lie where a person sees them, whichever way the rows run."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"turned.{suffix}"
    Image.fromarray(textured(1201, 907)).save(path, exif=exif, quality=95, subsampling=0)
    library = Renderer(ImageRoot(tmp_path), tmp_path / "pyramids", cache_bytes=0)
    asked = [
        View(image=path.name),
        View(image=path.name, sizing="longest:257"),
        View(image=path.name, region="11,500,890,390"),
        View(image=path.name, region="600,0,300,300"),
    ]
    whole = as_pillow_sees(path)
    for raster, view in zip(together(library, asked), asked, strict=True):
        assert psnr(raster.pixels, preprocessed(whole, raster)) >= 45
        np.testing.assert_array_equal(raster.pixels, library.render(view, BUDGET).pixels)


def test_a_crop_is_handed_out_when_the_pass_has_gone_past_it(library: Renderer) -> None:
    """Before the views that end further below, which are not there yet."""
    awaited, work = library.plan([ViewRequest(view) for view in views("a.png")], BUDGET)
    done: list[list[int]] = []

    def is_wanted() -> bool:
        done.append([index for index, each in enumerate(awaited) if each.raster.done()])
        return True

    for make in work:
        make(is_wanted)
    crop = 6
    assert [crop] in done
    assert done[0] == []
    assert len([each for each in awaited if each.raster.done()]) == len(awaited)


def test_a_pass_that_nobody_waits_for_ends(library: Renderer) -> None:
    """What is complete by then stands; the rest can be asked for again."""
    awaited, work = library.plan([ViewRequest(view) for view in views("a.png")], BUDGET)
    for make in work:
        make(lambda: not awaited[6].raster.done())
    assert awaited[6].result().pixels.size
    with pytest.raises(CancelledError):
        awaited[0].result()
    assert library.render(views("a.png")[0], BUDGET).pixels.size


def test_who_asks_during_a_pass_shares_what_it_makes(library: Renderer) -> None:
    """The same raster is not made twice, though nobody has it yet."""
    looks = [ViewRequest(view) for view in views("a.png")]
    awaited, work = library.plan(looks, BUDGET)
    begun, go_on = threading.Event(), threading.Event()

    def wait_once() -> bool:
        begun.set()
        return go_on.wait(30)

    thread = threading.Thread(target=lambda: [make(wait_once) for make in work])
    thread.start()
    begun.wait(30)
    later, more = library.plan(looks[:3], BUDGET)
    go_on.set()
    thread.join()
    assert not more
    assert [each.result().key for each in later] == [each.result().key for each in awaited[:3]]
    assert library.stats().passes == 1


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "strips-zlib.tif"])
def test_damage_costs_the_views_that_it_touches(data: Path, tmp_path: Path, name: str) -> None:
    """With errors of the kind that each would raise alone, which name the file; those above it stand."""
    path = tmp_path / name
    if name == "strips-zlib.tif":
        options = {"photometric": "rgb", "compression": "zlib", "rowsperstrip": 64}
        tifffile.imwrite(path, as_pillow_sees(data / "a.png"), **options)
    else:
        path.write_bytes((data / name).read_bytes())
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 400] = b"\xff" * 400
    path.write_bytes(content)
    library = Renderer(ImageRoot(tmp_path), tmp_path / "pyramids", cache_bytes=0)
    asked = [*views(name), View(image=name, region="0,0,9999,1")]
    awaited, work = library.plan([ViewRequest(view) for view in asked], BUDGET)
    for make in work:
        make(lambda: True)
    for each, view in zip(awaited, asked, strict=True):
        alone = outcome(library, view)
        assert type(each.raster.exception()) is type(alone)
        assert alone is None or str(each.raster.exception()).startswith(name)
    kinds = [type(each.raster.exception()) for each in awaited]
    assert {ImageUnreadableError, RegionError, type(None)} == set(kinds)


def outcome(library: Renderer, view: View) -> Exception | None:
    """What rendering a view alone raises."""
    try:
        library.render(view, BUDGET)
    except Exception as error:  # noqa: BLE001 - to be compared
        return error
    return None


@pytest.fixture(autouse=True)
def _no_failure_in_a_helper(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    yield
    assert not failures
