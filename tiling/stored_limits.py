"""The limits of displays, found once in an image of a content and kept beside the digests."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from gigavqa.tiling.digest import digest_folder, write_fact
from gigavqa.tiling.display import Display
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.tone import Limits

_VERSION = 1  # counts changes that find other limits in the same image


class StoredLimits:
    """Limits that a display has in a region of the image with this digest, in the folder of digests if there is one."""

    def __init__(self, digest: str, display: Display, region: Region) -> None:
        folder = digest_folder()
        name = hashlib.blake2b(repr((_VERSION, digest, str(display), region)).encode(), digest_size=16).hexdigest()
        self._place: Path | None = folder / name[:2] / f"{name}.limits" if folder else None

    def read(self) -> list[Limits] | None:
        """Return what was kept; None where nothing was, or what no longer can be read."""
        if self._place is None:
            return None
        with suppress(OSError, ValueError, TypeError):
            limits = [(float(low), float(high)) for low, high in json.loads(self._place.read_text("ascii"))]
            os.utime(self._place)  # used just now
            return limits
        return None

    def write(self, limits: list[Limits]) -> None:
        """Keep limits for others."""
        if self._place:
            write_fact(self._place, json.dumps(limits))
