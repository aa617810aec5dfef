"""Makes a lossless tiled pyramid of an image once, so that every further view reads only what it shows."""

import os
from pathlib import Path

from filelock import FileLock

from tiling.digest import content_digest
from tiling.formats import OPENSLIDE_ONLY
from tiling.pyramid import Progress, write_pyramid
from tiling.sources import Source, open_source

_MIN_PIXELS = 16_000_000  # below, a view takes less time than looking for its pyramid saves
_VIEWS_THAT_PAY: dict[str, int] = {"jpeg": 6}
"""Views from which making a pyramid takes less time than it saves; docs/performance/views.md has the figures."""
_VIEWS_THAT_PAY_ELSE = 3


def pyramid_path(digest: str, folder: Path) -> Path:
    """Where the pyramid of an image with this content digest is kept."""
    return folder / f"{digest}.tif"


def ingest_pays(path: Path, num_views: int) -> bool:
    """Whether `num_views` views of an image are rendered sooner from a pyramid that must be made first.

    Only of large images without levels of their own; a JPEG's decoder scales, so it takes more views than a PNG.
    """
    with open_source(path) as source:
        enough = num_views >= _VIEWS_THAT_PAY.get(source.format, _VIEWS_THAT_PAY_ELSE)
        return not _has_levels(source) and enough and source.size.area >= _MIN_PIXELS


def is_pyramid(path: Path) -> bool:
    """Whether views read levels of the image's own, so that a pyramid would be a copy that nobody needs.

    Not so a slide that only OpenSlide reads: services do not serve it as it is. Raises TilingError subclasses.
    """
    if path.suffix.lower() in OPENSLIDE_ONLY:
        return False
    with open_source(path) as source:
        return _has_levels(source)


def _has_levels(source: Source) -> bool:
    return source.format != "jpeg" and len(source.levels) > 1


def ingest(path: Path, folder: Path) -> Path:
    """Make the lossless pyramid of the image at `path` in `folder`, unless it is there; return its path.

    It is named by the image's content digest and appears whole or not at all; of processes that ask at once, one makes
    it and the others wait. Raises TilingError subclasses: damage anywhere in the image ends the ingest.
    """
    make_pyramid(path, folder)
    return pyramid_path(content_digest(path), folder)


def make_pyramid(path: Path, folder: Path, progress: Progress | None = None) -> bool:
    """Do what `ingest` says; return whether this call made the pyramid, rather than found it."""
    digest = content_digest(path)
    pyramid = pyramid_path(digest, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{digest}.lock"):
        if pyramid.exists():
            return False
        partial = folder / f"{digest}.partial"
        try:
            with open_source(path) as source:
                write_pyramid(source, partial, progress)
            _publish(partial, pyramid)
        finally:
            partial.unlink(missing_ok=True)
    return True


def _publish(partial: Path, pyramid: Path) -> None:
    """Rename when the bytes are on the disk, then make the name itself durable."""
    _flush(partial)
    partial.replace(pyramid)
    _flush(pyramid.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
