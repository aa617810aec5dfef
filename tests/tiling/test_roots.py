"""Names of images stay beneath their root."""

from pathlib import Path

import pytest

from gigavqa.tiling.errors import ImageNotFoundError, PathEscapesError
from gigavqa.tiling.roots import ImageRoot


@pytest.fixture
def root(tmp_path: Path) -> ImageRoot:
    """A root with one image, one link that stays inside, and three that lead out."""
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "plaza.jpg").write_bytes(b"inside")
    (tmp_path / "secret.jpg").write_bytes(b"outside")
    (folder / "inner.jpg").symlink_to(folder / "images" / "plaza.jpg")
    (folder / "outer.jpg").symlink_to(tmp_path / "secret.jpg")
    (folder / "up").symlink_to(tmp_path)
    (tmp_path / "data-other").mkdir()
    (tmp_path / "data-other" / "a.jpg").write_bytes(b"a neighbour whose name begins alike")
    (folder / "neighbour").symlink_to(tmp_path / "data-other")
    return ImageRoot(folder)


@pytest.mark.parametrize("name", ["images/plaza.jpg", "./images/plaza.jpg", "inner.jpg"])
def test_an_image_beneath_the_root_is_found(root: ImageRoot, name: str) -> None:
    """By its plain name, or through a link that stays inside."""
    assert root.locate(name).read_bytes() == b"inside"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "../secret.jpg",
        "images/../../secret.jpg",
        "outer.jpg",
        "up/secret.jpg",
        "neighbour/a.jpg",
        "a\0b",
    ],
)
def test_a_name_that_leads_out_is_refused(root: ImageRoot, name: str) -> None:
    """Absolute names, parents, links to files and folders outside, and names that no file can have."""
    with pytest.raises(PathEscapesError):
        root.locate(name)


@pytest.mark.parametrize("name", ["images/other.jpg", "images", "images/plaza.jpg/x"])
def test_a_name_without_a_file_is_not_found(root: ImageRoot, name: str) -> None:
    """A folder is no image either."""
    with pytest.raises(ImageNotFoundError):
        root.locate(name)


def test_nothing_of_a_hidden_folder_is_found(tmp_path: Path) -> None:
    """What lies there is somebody's unfinished work, such as an import's; a folder deeper may be called so."""
    for name in (".import-1/images/a.png", "town/.small/a.png"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    with pytest.raises(ImageNotFoundError):
        ImageRoot(tmp_path).locate(".import-1/images/a.png")
    with pytest.raises(ImageNotFoundError):
        ImageRoot(tmp_path).locate("./.import-1/images/a.png")
    assert ImageRoot(tmp_path).locate("town/.small/a.png").is_file()


def test_a_name_that_no_file_can_have_is_not_found(tmp_path: Path) -> None:
    """A name beyond the file system's limit, and links in a circle, are images that cannot exist."""
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("a" * 300, "circle"):
        with pytest.raises(ImageNotFoundError, match="cannot exist"):
            ImageRoot(tmp_path).locate(name)
