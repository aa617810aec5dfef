"""Slides that OpenSlide reads: each vendor's files show what was drawn, by size, level, region, scene and plane."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pydicom
import pytest
from PIL import Image

from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageNotFoundError, ImageUnreadableError, ImageUnsupportedError, TilingError
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.slides import slide_facts
from gigavqa.tiling.sources import open_source
from tests.tiling.pictures import Pixels, textured
from tests.tiling.slide_files.czi import write_czi
from tests.tiling.slide_files.dicom import write_dicom_slide
from tests.tiling.slide_files.hamamatsu import write_ndpi, write_vms, write_vmu
from tests.tiling.slide_files.mirax import write_mirax
from tests.tiling.slide_files.tiffs import write_argos, write_bif, write_huron, write_philips, write_scn, write_trestle

SQUARE, OTHER = textured(512, 512), textured(512, 512, seed=1)
OVERLAPPING = textured(4 * 96 + 32, 3 * 96 + 32)
ODD = textured(700, 500)
FILL = (240, 238, 236)


class DrawnSlide(NamedTuple):
    """A slide's writer, the picture in it, the steps of 255 that its codec may lose at the mean, and its facts."""

    write: Callable[[Path], Path]
    picture: Pixels
    loss: float
    format: str
    microns: tuple[float, float] | None
    macro: str = "macro"


SLIDES = {
    "mirax/one.mrxs": DrawnSlide(lambda path: write_mirax(path, SQUARE), SQUARE, 0, "mirax", (0.25, 0.26)),
    "vms/one.vms": DrawnSlide(lambda path: write_vms(path, SQUARE), SQUARE, 4, "hamamatsu", (0.5, 0.5)),
    "vmu/one.vmu": DrawnSlide(lambda path: write_vmu(path, SQUARE), SQUARE, 0, "hamamatsu", (0.25, 0.25)),
    "one.ndpi": DrawnSlide(lambda path: write_ndpi(path, SQUARE), SQUARE, 4, "ndpi", (0.25, 0.25)),
    "one.bif": DrawnSlide(lambda path: write_bif(path, SQUARE), SQUARE, 0, "bif", (0.25, 0.25)),
    "trestle.tif": DrawnSlide(
        lambda path: write_trestle(path, OVERLAPPING), OVERLAPPING, 0, "trestle", (0.5, 0.5), macro=""
    ),
    "philips.tiff": DrawnSlide(lambda path: write_philips(path, SQUARE), SQUARE, 6, "philips", (0.5, 0.25), macro=""),
    "huron.tif": DrawnSlide(lambda path: write_huron(path, SQUARE), SQUARE, 0, "huron", (0.4, 0.4), macro=""),
    "one.czi": DrawnSlide(lambda path: write_czi(path, [SQUARE]), SQUARE, 0, "zeiss", (0.25, 0.25), macro=""),
    "one.avs": DrawnSlide(lambda path: write_argos(path, [SQUARE]), SQUARE, 0, "argos", (0.5, 0.5)),
    "dicom/0.dcm": DrawnSlide(
        lambda path: write_dicom_slide(path.parent, ODD)[0], ODD, 0, "dicom", (0.25, 0.25), macro="label"
    ),
    "jpeg/0.dcm": DrawnSlide(
        lambda path: write_dicom_slide(path.parent, ODD, codec="jpeg")[0], ODD, 6, "dicom", (0.25, 0.25), "label"
    ),
    "jpeg2000/0.dcm": DrawnSlide(
        lambda path: write_dicom_slide(path.parent, ODD, codec="jpeg2000")[0], ODD, 0, "dicom", (0.25, 0.25), "label"
    ),
    "lossy/0.dcm": DrawnSlide(
        lambda path: write_dicom_slide(path.parent, ODD, codec="jpeg2000-lossy")[0],
        ODD, 1, "dicom", (0.25, 0.25), "label",
    ),
    "sparse/0.dcm": DrawnSlide(
        lambda path: write_dicom_slide(path.parent, ODD, missing=frozenset())[0], ODD, 0, "dicom", (0.25, 0.25), "label"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All slides, written once."""
    made = tmp_path_factory.mktemp("slides")
    for name, slide in SLIDES.items():
        (made / name).parent.mkdir(exist_ok=True)
        slide.write(made / name)
    write_scn(made / "two.scn", [SQUARE, OTHER])
    write_czi(made / "two.czi", [SQUARE, OTHER])
    return made


def read(path: Path, show: str = "", level: int = 0, region: Region | None = None) -> Pixels:
    """Read a level of a part of a slide, or a region of it."""
    tone = cached_identity(path, None, show).tone
    with open_source(path, tone=tone) as source:
        return source.read(level, region or Region(0, 0, *source.levels[level].size))


def difference(found: Pixels, expected: Pixels) -> float:
    """Steps of 255 by which pixels differ at the mean."""
    assert found.shape == expected.shape
    return float(np.abs(found.astype(int) - expected).mean())


@pytest.mark.parametrize("name", SLIDES)
def test_a_slide_shows_what_was_drawn(folder: Path, name: str) -> None:
    """At full resolution, in each level, and in any region; its header says how large it is, and of what format."""
    slide, path = SLIDES[name], folder / name
    height, width = slide.picture.shape[:2]
    assert (read_header(path).size, read_header(path).format) == (Size(width, height), slide.format)
    assert difference(read(path), slide.picture) <= slide.loss
    with open_source(path) as source:
        assert source.microns_per_pixel == slide.microns
        levels = source.levels
        for number, level in enumerate(levels):
            small = Image.fromarray(slide.picture).resize(level.size, Image.Resampling.BOX)
            if min(level.size) >= 32:
                assert difference(source.read(number, Region(0, 0, *level.size)), np.asarray(small)) <= slide.loss + 12
        region = Region(101, 77, 203, 178)
        whole = source.read(0, Region(0, 0, width, height))
        np.testing.assert_array_equal(source.read(0, region), whole[77:255, 101:304])


@pytest.mark.parametrize("name", [name for name, slide in SLIDES.items() if slide.macro])
def test_an_associated_image_is_shown_by_its_name(folder: Path, name: str) -> None:
    """Where it is declared; another name is refused with those that there are."""
    slide = SLIDES[name]
    show = f"associated={slide.macro}"
    found = read(folder / name, show)
    assert read_header(folder / name, show).size == (found.shape[1], found.shape[0])
    expected = Image.fromarray(slide.picture).reduce(round(slide.picture.shape[1] / found.shape[1]))
    assert difference(found, np.asarray(expected)) <= 6
    with pytest.raises(ImageUnsupportedError, match=f"associated image map, and it has .*{slide.macro}"):
        read_header(folder / name, "associated=map")


def test_what_was_not_scanned_has_the_background_of_the_slide(tmp_path: Path) -> None:
    """In every level, and also where a region lies in it alone."""
    missing = frozenset({(column, row) for column in range(4) for row in range(8)})
    path = write_mirax(tmp_path / "half.mrxs", SQUARE, missing=missing)
    for level in range(3):
        found = read(path, level=level)
        left = found.shape[1] // 2
        assert (found[:, :left] == FILL).all()
        assert (found[:, left:] != FILL).any()
    assert (read(path, region=Region(10, 10, 50, 50)) == FILL).all()


def test_a_slide_is_cut_to_what_was_scanned_where_that_is_declared(tmp_path: Path) -> None:
    """Else all of it is shown: annotations are counted from its corner."""
    missing = frozenset({(column, row) for column in range(4) for row in range(8)})
    path = write_mirax(tmp_path / "half.mrxs", SQUARE, missing=missing)
    assert read_header(path).size == (512, 512)
    assert read_header(path, "crop=scanned").size == (256, 512)
    np.testing.assert_array_equal(read(path, "crop=scanned"), SQUARE[:, 256:])
    assert difference(read(path, "crop=scanned", 1), np.asarray(Image.fromarray(SQUARE).reduce(2))[:, 128:]) <= 1


@pytest.mark.parametrize(("name", "margin"), [("two.scn", 64), ("two.czi", 0)])
def test_scenes_are_shown_where_they_lie_or_alone(folder: Path, name: str, margin: int) -> None:
    """Two areas on one canvas; each by its number."""
    path = folder / name
    whole = read(path)
    assert whole.shape == (512 + 2 * margin, 1088 + 2 * margin, 3)
    np.testing.assert_array_equal(whole[margin : margin + 512, margin : margin + 512], SQUARE)
    np.testing.assert_array_equal(whole[margin : margin + 512, margin + 576 : margin + 1088], OTHER)
    for number, picture in enumerate((SQUARE, OTHER), start=1):
        np.testing.assert_array_equal(read(path, f"scene={number}"), picture)
        small = read(path, f"scene={number}", 1)
        assert difference(small, np.asarray(Image.fromarray(picture).reduce(512 // small.shape[0]))) <= 1
    with pytest.raises(ImageUnsupportedError, match="scene=3, and it has 2 scenes"):
        read_header(path, "scene=3")
    if margin:
        assert read_header(path, "crop=scanned").size == (1088, 512)


def test_which_of_several_focal_planes_is_shown_is_said(tmp_path: Path) -> None:
    """Where OpenSlide reads one of them: the first, or the middle."""
    ndpi = write_ndpi(tmp_path / "planes.ndpi", SQUARE, num_planes=2)
    assert difference(read(ndpi), SQUARE) <= 4
    argos = write_argos(tmp_path / "planes.avs", [OTHER, SQUARE, OTHER])
    np.testing.assert_array_equal(read(argos), SQUARE)
    for path, told in ((ndpi, "2 focal planes; number 1,"), (argos, "3 focal planes; number 2,")):
        (remark,) = file_remarks(path)
        assert f"it has {told}" in remark


def test_a_czi_of_focal_planes_is_refused(tmp_path: Path) -> None:
    """OpenSlide reads one plane; the sentence says what helps."""
    path = write_czi(tmp_path / "planes.czi", [SQUARE], axis="Z")
    with pytest.raises(ImageUnreadableError, match='dimension "Z"; OpenSlide reads CZI of one plane: save it as OME-T'):
        read_header(path)


def test_a_folder_of_one_dicom_series_is_an_image(folder: Path, tmp_path: Path) -> None:
    """As is each of its files, a level or its label; of two series one must be named."""
    assert read_header(folder / "dicom").size == (700, 500)
    np.testing.assert_array_equal(read(folder / "dicom"), ODD)
    np.testing.assert_array_equal(read(folder / "dicom/1.dcm"), ODD)
    assert ImageRoot(folder).locate("dicom") == folder / "dicom"
    both = tmp_path / "both"
    for name, picture in (("a", ODD), ("b", SQUARE)):
        write_dicom_slide(both, picture, name=name)
    np.testing.assert_array_equal(read(both / "b0.dcm"), SQUARE)
    with pytest.raises(ImageUnreadableError, match=r"holds 2 slides; name one \.dcm of the one that is meant: a0.dcm"):
        read_header(both)


def test_tiles_that_a_sparse_series_lacks_are_white(tmp_path: Path) -> None:
    """DICOM names no background."""
    path, *_ = write_dicom_slide(tmp_path / "sparse", ODD, missing=frozenset({(0, 0), (1, 2)}))
    found = read(path)
    assert (found[:128, :128] == 255).all()
    np.testing.assert_array_equal(found[:128, 128:], ODD[:128, 128:])


def test_a_changed_part_is_another_content(folder: Path, tmp_path: Path) -> None:
    """Of a series that is named by its folder, too."""
    shutil.copytree(folder / "dicom", tmp_path / "dicom")
    before = content_digest(tmp_path / "dicom")
    assert before == content_digest(shutil.copytree(folder / "dicom", tmp_path / "again" / "dicom"))
    with (tmp_path / "dicom/1.dcm").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\1")
    assert content_digest(tmp_path / "dicom") != before


@pytest.mark.parametrize(
    ("name", "part", "told"),
    [
        ("mirax/one.mrxs", "one", "its folder one/ with Slidedat.ini is missing beside it"),
        ("mirax/one.mrxs", "one/Data0000.dat", r"one/Data0000\.dat is missing; copy the slide with all its files"),
        ("mirax/one.mrxs", "one/Index.dat", r"one/Index\.dat is missing"),
        ("vms/one.vms", "one_1_0.jpg", r"one_1_0\.jpg is missing"),
        ("vmu/one.vmu", "one.ngr", r"one\.ngr is missing"),
    ],
)
def test_a_slide_without_one_of_its_files_is_refused_by_that_name(
    folder: Path, tmp_path: Path, name: str, part: str, told: str
) -> None:
    """Before anything is rendered of it."""
    path = shutil.copytree((folder / name).parent, tmp_path / "slide") / Path(name).name
    gone = path.parent / part
    if gone.is_dir():
        shutil.rmtree(gone)
    else:
        gone.unlink()
    with pytest.raises(ImageUnreadableError, match=f"{path}: {told}"):
        read_header(path)


def test_what_names_a_slide_and_is_none_is_refused(tmp_path: Path) -> None:
    """A DICOM file by another name, ZVI, a folder of other files."""
    (tmp_path / "scan").write_bytes(bytes(128) + b"DICM")
    with pytest.raises(ImageUnsupportedError, match=r"is a DICOM file; name it scan\.dcm"):
        read_header(tmp_path / "scan")
    (tmp_path / "old.zvi").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))
    with pytest.raises(ImageUnsupportedError, match="ZVI files are not served; save it as CZI or OME-TIFF"):
        read_header(tmp_path / "old.zvi")
    with pytest.raises(ImageNotFoundError):
        read_header(tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("TransferSyntaxUID", "1.2.840.10008.1.2.4.80", r"Unsupported transfer syntax .*: convert it"),
        (
            "TotalPixelMatrixFocalPlanes",
            3,
            "FocalPlanes value 3 != 1; OpenSlide reads .* one focal plane",
        ),
        ("BitsStored", 12, "BitsStored value 12 != 8; OpenSlide reads DICOM of 8-bit RGB"),
        ("SOPClassUID", "1.2.840.10008.5.1.4.1.1.2", "OpenSlide knows no slide like it"),
    ],
)
def test_dicom_that_openslide_does_not_read_is_refused_with_what_helps(
    tmp_path: Path, field: str, value: object, told: str
) -> None:
    """Other codecs, focal planes, deeper samples, and what is no whole-slide image."""
    (path,) = write_dicom_slide(tmp_path / "slide", ODD, num_levels=1, codec="jpeg2000")
    path.with_name("label.dcm").unlink()
    instance = pydicom.dcmread(path)
    setattr(instance.file_meta if field == "TransferSyntaxUID" else instance, field, value)
    if field == "SOPClassUID":
        instance.file_meta.MediaStorageSOPClassUID = value
    instance.save_as(path)
    with pytest.raises(ImageUnreadableError, match=f"{path}: .*{told}"):
        read_header(path)


def test_a_header_that_openslide_does_not_survive_is_an_error_of_one_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one is read by another process; where there is no OpenSlide, the extra that has it is named."""
    killer = tmp_path / "killer"
    (killer / "openslide").mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(killer))
    for source, told in (
        ("import os; os._exit(1)", "did not survive its header"),
        ("raise ImportError", r"\[gateway\]"),
    ):
        (killer / "openslide/__init__.py").write_text(source)
        slide_facts._process.cache_clear()
        with pytest.raises((ImageUnreadableError, ImageUnsupportedError), match=told):
            read_header(folder / "one.ndpi")
    slide_facts._process.cache_clear()
    monkeypatch.undo()
    assert read_header(folder / "one.ndpi").size == (512, 512)


def mutate(data: bytes, draw: np.random.Generator) -> bytes:
    """Cut a file off, or change one to four of its bytes, half of the time near its begin."""
    if draw.integers(3) == 0:
        return data[: draw.integers(0, len(data))]
    changed = bytearray(data)
    for place in draw.integers(0, len(data) if draw.integers(2) else min(len(data), 1000), draw.integers(1, 5)):
        changed[place] = draw.integers(256)
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLIDES)
def test_damaged_slides_are_refused_by_name_or_shown(folder: Path, tmp_path: Path, name: str) -> None:
    """Six damages of each of its files; none ends this process, and none takes long."""
    draw = np.random.default_rng(list(SLIDES).index(name))
    original = folder / name
    is_alone = original.parent == folder
    files = (
        [original]
        if is_alone
        else sorted(each for each in original.parent.rglob("*") if each.is_file() and each.stat().st_size)
    )
    for number in range(12):
        copy = tmp_path / str(number)
        if is_alone:
            copy.mkdir()
            shutil.copy(original, copy / original.name)
        else:
            shutil.copytree(original.parent, copy)
        damaged = copy / files[number % len(files)].relative_to(original.parent)
        damaged.write_bytes(mutate(damaged.read_bytes(), draw))
        path = copy / original.name
        try:
            assert read(path).shape[2] == 3
        except TilingError as error:
            assert str(path) in str(error)
