"""The library renders each unique raster once and remembers no more than it may."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageChangedError, ImageUnreadableError, PathEscapesError
from gigavqa.tiling.ingest import make_pyramid
from gigavqa.tiling.recipes import identify, plan_raster
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.rendering import render
from gigavqa.tiling.roots import UPLOAD_PREFIX, ImageRoot
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, textured


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small and a large flat image."""
    folder = tmp_path_factory.mktemp("written")
    Image.fromarray(textured(900, 700)).save(folder / "small.png")
    large = np.tile(textured(500, 500), (9, 8, 1))
    Image.fromarray(large).save(folder / "large.png", compress_level=1)
    return folder


@pytest.fixture
def root(written: Path, tmp_path: Path) -> ImageRoot:
    """A data root with both, which a test may replace."""
    return ImageRoot(shutil.copytree(written, tmp_path / "data"))


@pytest.fixture
def library(root: ImageRoot, tmp_path: Path) -> Renderer:
    """With room for every raster of these tests."""
    return Renderer(root, tmp_path / "pyramids", cache_bytes=2**30)


def crop(index: int) -> View:
    """One of many views of the small image."""
    return View(image="small.png", region=f"{index},0,512,480")


def test_it_renders_what_rendering_renders(library: Renderer, root: ImageRoot) -> None:
    """The same pixels and the same key."""
    raster = library.render(crop(0), SMALL_BUDGET)
    expected = render(root.folder / "small.png", crop(0), SMALL_BUDGET)
    np.testing.assert_array_equal(raster.pixels, expected.pixels)
    assert raster.key == expected.key


def test_a_raster_is_rendered_once(library: Renderer) -> None:
    """And served from memory after that, however the region is written, with the view that was asked for."""
    library.render(View(image="small.png"), SMALL_BUDGET)
    again = View(image="./small.png", region="0,0,900,700")
    raster = library.render(again, SMALL_BUDGET)
    assert raster.view == again
    stats = library.stats()
    assert (stats.renders, stats.hits, stats.bytes) == (1, 1, raster.pixels.nbytes)


def test_budgets_that_share_pixels_keep_their_own_token_counts(library: Renderer) -> None:
    """One raster of 448 x 448 is 196 tokens of 32 pixels, or 256 of 28."""
    view = View(image="small.png", region="0,0,448,448")
    by_32 = library.render(view, QwenBudget(factor=32, min_pixels=1024, max_pixels=512 * 512))
    by_28 = library.render(view, QwenBudget(factor=28, min_pixels=1024, max_pixels=512 * 512))
    assert (by_32.visual_tokens, by_28.visual_tokens) == (196, 256)
    assert library.stats().renders == 1


def test_threads_that_ask_at_once_share_one_rendering(library: Renderer) -> None:
    """Sixteen threads, one barrier, one render."""
    barrier = threading.Barrier(16)

    def ask(_: int) -> str:
        barrier.wait()
        return library.render(View(image="large.png"), SMALL_BUDGET).key

    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(ask, range(16)))
    assert len(keys) == 1
    assert (library.stats().renders, library.stats().hits) == (1, 15)


def test_many_threads_get_their_own_pixels(library: Renderer, root: ImageRoot) -> None:
    """Views rendered in parallel do not mix."""
    with ThreadPoolExecutor(8) as pool:
        rasters = list(pool.map(lambda index: library.render(crop(index % 10), SMALL_BUDGET), range(80)))
    whole = np.asarray(Image.open(root.folder / "small.png"))
    for index, raster in enumerate(rasters):
        np.testing.assert_array_equal(raster.pixels, whole[:480, index % 10 : index % 10 + 512])
    assert library.stats().renders == 10


def test_memory_stays_within_its_bytes(root: ImageRoot, tmp_path: Path) -> None:
    """The least recently used raster leaves first."""
    library = Renderer(root, tmp_path / "pyramids", cache_bytes=3 * 512 * 480 * 3)
    for index in (0, 1, 2, 0, 3, 0):
        library.render(crop(index), SMALL_BUDGET)
        assert library.stats().bytes <= 3 * 512 * 480 * 3
    assert library.stats().renders == 4
    library.render(crop(1), SMALL_BUDGET)
    assert library.stats().renders == 5


def test_a_raster_larger_than_the_memory_is_served_but_not_kept(root: ImageRoot, tmp_path: Path) -> None:
    """It pushes nothing out."""
    library = Renderer(root, tmp_path / "pyramids", cache_bytes=1000)
    assert library.render(crop(0), SMALL_BUDGET).pixels.shape == (480, 512, 3)
    assert library.stats().bytes == 0


def test_shared_pixels_are_read_only(library: Renderer) -> None:
    """Nobody can change what others will see."""
    with pytest.raises(ValueError, match="read-only"):
        library.render(crop(0), SMALL_BUDGET).pixels[0, 0] = 0


def test_a_changed_file_is_rendered_anew(library: Renderer, root: ImageRoot) -> None:
    """The key holds the content's digest."""
    before = library.render(crop(0), SMALL_BUDGET)
    Image.fromarray(textured(900, 700, seed=9)).save(root.folder / "small.png")
    after = library.render(crop(0), SMALL_BUDGET)
    assert before.key != after.key
    assert not np.array_equal(before.pixels, after.pixels)


def test_an_error_reaches_every_caller_and_is_not_kept(library: Renderer, root: ImageRoot) -> None:
    """A file that is mended is served."""
    path = root.folder / "small.png"
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(library.render, View(image="small.png"), SMALL_BUDGET) for _ in range(4)]:
            assert isinstance(future.exception(), ImageUnreadableError)
    path.write_bytes(good)
    assert library.render(View(image="small.png"), SMALL_BUDGET).pixels.size


def test_names_cannot_leave_the_root(library: Renderer) -> None:
    """Whoever asks."""
    with pytest.raises(PathEscapesError):
        library.render(View(image="../x.png"), SMALL_BUDGET)


class TestPyramids:
    """Flat images that are passed over again and again."""

    @staticmethod
    def pass_over(library: Renderer, number: int, image: str = "large.png") -> None:
        """Look at a crop at the bottom of the large image, another one for each number."""
        library.render(View(image=image, region=f"{number},4000,500,500"), SMALL_BUDGET)

    def test_none_is_made_before_it_would_have_paid(self, library: Renderer) -> None:
        """Two passes are cheaper than a pyramid, of three it would have been."""
        for number in range(2):
            self.pass_over(library, number)
            assert not library.make_due_pyramid()
        self.pass_over(library, 2)
        assert library.stats().ingests == 0
        assert library.make_due_pyramid()
        assert not library.make_due_pyramid()
        assert library.stats().ingests == 1

    def test_views_then_come_from_the_pyramid_with_the_images_provenance(
        self, library: Renderer, root: ImageRoot
    ) -> None:
        """Digest, size, format and key are the original file's."""
        view, path = View(image="large.png", sizing="longest:512"), root.folder / "large.png"
        for number in range(3):
            self.pass_over(library, number)
        library.make_due_pyramid()
        raster = library.render(view, SMALL_BUDGET)
        assert library.stats().ingests == 1
        assert raster.downsample == 2
        assert (raster.source_format, raster.source_size) == ("png", (4000, 4500))
        assert raster.digest == content_digest(path)
        assert raster.key == plan_raster(identify(path), view, SMALL_BUDGET, 1).key

    def test_an_uploads_pyramid_is_found_by_the_digest_that_it_arrived_with(
        self, root: ImageRoot, tmp_path: Path
    ) -> None:
        """Whoever made it."""
        name = f"sha256/ab/{'ab' * 32}"
        path = tmp_path / "uploads" / name
        path.parent.mkdir(parents=True)
        path.hardlink_to(root.folder / "large.png")
        library = Renderer(ImageRoot(root.folder, tmp_path / "uploads"), tmp_path / "pyramids", cache_bytes=2**30)
        for number in range(3):
            self.pass_over(library, number, f"{UPLOAD_PREFIX}{name}")
        assert library.make_due_pyramid()
        passes = library.stats().passes
        raster = library.render(View(image=f"{UPLOAD_PREFIX}{name}", sizing="longest:512"), SMALL_BUDGET)
        assert (raster.downsample, raster.digest) == (2, "ab" * 32)
        assert not library.make_due_pyramid()
        assert library.stats().passes == passes + 1

    def test_of_a_small_image_none_is_made(self, library: Renderer) -> None:
        """It would cost more than it saves."""
        for number in range(50):
            library.render(crop(number), SMALL_BUDGET)
        assert not library.make_due_pyramid()

    def test_one_that_is_given_up_leaves_nothing(self, library: Renderer, tmp_path: Path) -> None:
        """What is wanted sooner may end it; the next passes make it due again."""

        def give_up(written: int, total: int) -> None:
            raise InterruptedError

        for number in range(3):
            self.pass_over(library, number)
        with pytest.raises(InterruptedError):
            library.make_due_pyramid(give_up)
        assert not list((tmp_path / "pyramids").glob("*.tif"))
        assert not list((tmp_path / "pyramids").glob("*.partial"))


def test_errors_name_the_image_and_not_where_it_lies(library: Renderer, root: ImageRoot) -> None:
    """They become responses, which clients read."""
    (root.folder / "broken.png").write_bytes((root.folder / "small.png").read_bytes()[:3000])
    with pytest.raises(ImageUnreadableError, match=r"^broken\.png") as refused:
        library.render(View(image="broken.png"), SMALL_BUDGET)
    assert str(root.folder) not in str(refused.value)


@pytest.mark.parametrize("size", [(900, 700), (90, 70)])
def test_a_picture_that_is_replaced_before_its_pixels_are_read_gives_no_raster(
    library: Renderer, root: ImageRoot, size: tuple[int, int]
) -> None:
    """Of the same size or not: no raster has the digest of what it does not show, and who asks again sees the new."""
    (awaited,), (work,) = library.plan([ViewRequest(View(image="small.png"))], SMALL_BUDGET)
    new = root.folder / "new.png"
    Image.new("RGB", size, (1, 2, 3)).save(new)
    new.replace(root.folder / "small.png")
    work(lambda: True)
    with pytest.raises(ImageChangedError, match=r"small\.png"):
        awaited.result()
    raster = library.render(View(image="small.png"), SMALL_BUDGET)
    assert raster.digest == content_digest(root.folder / "small.png")
    assert np.unique(raster.pixels.reshape(-1, 3), axis=0).tolist() == [[1, 2, 3]]


def test_no_pyramid_is_made_of_two_versions_of_a_picture(root: ImageRoot, tmp_path: Path) -> None:
    """A picture that is replaced while it is read leaves none."""

    def replace(*_: object) -> None:
        new = root.folder / "new.png"
        Image.new("RGB", (90, 70)).save(new)
        new.rename(root.folder / "large.png")

    with pytest.raises(ImageChangedError, match=r"large\.png"):
        make_pyramid(root.folder / "large.png", tmp_path / "pyramids", replace)
    assert not list((tmp_path / "pyramids").glob("*.tif"))
