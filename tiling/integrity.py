"""Check that a picture can be decoded to its last pixel, which its header does not tell."""

from pathlib import Path

from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources import open_source


def decode_whole(path: Path, show: str = "") -> None:
    """Decode every pixel that a file holds, strictly, in bands; `show` declares how it is shown, if not as it is.

    A JPEG's smaller levels are scaled from the same bytes, so that its first one tells all. Raises TilingError
    subclasses where anything is truncated or damaged.
    """
    with open_source(path, None, cached_identity(path, None, show).tone) as source:
        decoder = source.decoder
        for number, level in enumerate(decoder.levels[:1] if decoder.is_scaling else decoder.levels):
            for _ in decoder.bands(number, Region(0, 0, *level.size)):
                pass
