"""Pyramids of a folder: the images that they were made of, and the bytes of those whose image is gone."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from gigavqa.tiling.digest import DIGEST_PATTERN, content_digest
from gigavqa.tiling.errors import ImageUnsupportedError, TilingError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_stored_header
from gigavqa.tiling.image_folders import folder_kind

_PYRAMID_NAME = re.compile(rf"{DIGEST_PATTERN}(-[0-9a-f]{{16}})?\.(tif|partial)")
"""Names of what ingest makes, or made in earlier releases; whatever else lies there is somebody's own."""


@dataclass(frozen=True)
class StoredPyramid:
    """A pyramid, or what an ingest that was killed left of one.

    `pictures` are the names below the data root of the images with this content; links to the pyramid itself count.
    """

    path: Path
    num_bytes: int
    made_at: datetime
    pictures: tuple[str, ...]

    @property
    def is_partial(self) -> bool:
        """Whether it never became a pyramid."""
        return self.path.suffix == ".partial"


def list_pyramids(folder: Path, data: Path) -> list[StoredPyramid]:
    """Return what `folder` holds, largest first, with the pictures of it below the data root `data`.

    Reads the headers of all images below `data`, and digests those that are as large as a pyramid is.
    """
    paths = [path for path in folder.glob("*") if _PYRAMID_NAME.fullmatch(path.name)]
    pictures = _match_images([path for path in paths if path.suffix == ".tif"], data) if paths else {}
    found = [_stored_pyramid(path, pictures.get(path.resolve(), ())) for path in paths]
    return sorted(found, key=lambda kept: (-kept.num_bytes, kept.path.name))


def unused_files(folder: Path, days: float) -> list[Path]:
    """Return the rasters, digests or facts of a folder that nobody used for so many days.

    A mapped raster keeps its pixels.
    """
    before = time.time() - days * 24 * 3600
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in {".raster", ".digest", ".fact", ".partial"})
    return [path for path in files if path.stat().st_mtime < before]


def delete_pyramid(kept: StoredPyramid) -> bool:
    """Delete a pyramid, or a partial one unless it is being made; returns whether it is gone."""
    try:
        with FileLock(kept.path.with_suffix(".lock"), timeout=0):
            kept.path.unlink(missing_ok=True)
    except Timeout:
        return False
    return True


def _stored_pyramid(path: Path, pictures: tuple[str, ...]) -> StoredPyramid:
    stat = path.stat()
    return StoredPyramid(path, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC), pictures)


def _match_images(pyramids: list[Path], data: Path) -> dict[Path, tuple[str, ...]]:
    by_digest: dict[str, list[Path]] = {}
    for path in pyramids:
        by_digest.setdefault(path.stem.partition("-")[0], []).append(path.resolve())
    sizes = {size for path in pyramids if (size := _size_s(path))}
    found: dict[Path, list[str]] = {path.resolve(): [] for path in pyramids}
    for image in sorted(_find_images(data)):
        if image.resolve() in found:
            found[image.resolve()].append(image.relative_to(data).as_posix())
        elif _may_match(image, sizes):
            for pyramid in by_digest.get(content_digest(image), ()):
                found[pyramid].append(image.relative_to(data).as_posix())
    return {path: tuple(names) for path, names in found.items()}


def _find_images(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder that may be images, and the folders that are; what is in a store is a part."""
    for path in folder.iterdir() if folder.is_dir() else ():
        kind = folder_kind(path)
        if kind or (path.is_file() and path.suffix not in {".json", ".jsonl", ".toml"}):
            yield path
        if path.is_dir() and not path.is_symlink() and kind != "zarr":
            yield from _find_images(path)


def _may_match(image: Path, sizes: set[Size]) -> bool:
    try:
        return read_stored_header(image, is_declared=True).size_s in sizes
    except ImageUnsupportedError:
        return True  # of a part that is not declared here
    except TilingError:
        return False


def _size_s(pyramid: Path) -> Size | None:
    try:
        return read_stored_header(pyramid).size_s
    except TilingError:
        return None
