"""Which display a data set declares for which of its images."""

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gigavqa.tiling.displays.display import parse_display

SETTINGS = "dataset.toml"


class ImageDisplays(NamedTuple):
    """Displays by patterns of image names within a data set (`images/*.tif`), of which the first that fits counts."""

    patterns: tuple[tuple[str, str], ...] = ()

    def show_of(self, image: str) -> str:
        """Return how an image of the data set is shown; nothing where it is shown as it is."""
        return next((show for pattern, show in self.patterns if fnmatch(image, pattern)), "")


def image_displays(declared: object) -> ImageDisplays:
    """Read what `show` of a data set's settings says: one display for all images, or a table of them by pattern.

    Raises ValueError, which begins with `show`.
    """
    if isinstance(declared, str):
        declared = {"*": declared} if declared else {}
    if not isinstance(declared, Mapping) or not all(isinstance(show, str) for show in declared.values()):
        raise ValueError('show: must be one display, or a table of them by pattern: show = { "images/*.tif" = "..." }')
    return ImageDisplays(tuple((str(pattern), str(parse_display(show))) for pattern, show in declared.items()))


def show_below(root: Path, image: str) -> str:
    """Return how the data set whose folder below `root` an image lies in declares it to be shown.

    Nothing is declared by settings that are not there, or cannot be read: whoever loads the data set is told.
    """
    folder, _, within = image.partition("/")
    path = root / folder / SETTINGS
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ""
    return _read(path, status.st_mtime_ns, status.st_size).show_of(within)


@lru_cache(maxsize=256)
def _read(path: Path, modified: int, size: int) -> ImageDisplays:
    try:
        return image_displays(tomllib.loads(path.read_text(encoding="utf-8-sig")).get("show", {}))
    except (OSError, ValueError):
        return ImageDisplays()
