"""Headers of images, each read once as long as its file does not change: for jobs, lists of images, and chats."""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from gigavqa.service.http.freshness import StampedCache, file_stamp
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.opening import open_file, pinned_digest
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.roots import ImageRoot

_KEPT_HEADERS = 100_000


class ImageInfo(NamedTuple):
    """An image before a pixel of it is decoded: level-0 size in the oriented frame, format, and length of its files.

    `pin` names the version of a file elsewhere that was looked at.
    """

    size: Size
    format: str
    num_bytes: int
    pin: str = ""


class ImageHeaders:
    """Reads headers, of images below the data root by name. Blocks."""

    def __init__(self, data: Path, num_threads: int) -> None:
        self._root = ImageRoot(data)
        self._num_threads = num_threads
        self._kept = StampedCache[ImageInfo](_KEPT_HEADERS)
        self._stopping = threading.Event()

    def read(self, path: Path, show: str = "") -> ImageInfo:
        """Return what a file's header says of an image that is shown so. Raises TilingError."""
        stamp = file_stamp(path)
        return self._kept.get((path, show), stamp, lambda: _read(path, show))

    def survey(self, names: Iterable[str], show_of: Callable[[str], str]) -> Mapping[str, ImageInfo | str]:
        """Return by name what is in the images below the data root, or what is wrong with them; `show_of` as declared.

        Names that escape the root are wrong like unreadable files.
        """
        unique = tuple(dict.fromkeys(names))
        with ThreadPoolExecutor(self._num_threads, thread_name_prefix="headers") as pool:
            return dict(zip(unique, pool.map(self._look, unique, map(show_of, unique)), strict=True))

    def stop(self) -> None:
        """End surveys that are under way, so that the process can exit."""
        self._stopping.set()

    def _look(self, name: str, show: str) -> ImageInfo | str:
        if self._stopping.is_set():
            raise InterruptedError("the gateway is stopping")
        path = self._root.folder / "none"
        try:
            return self.read(path := self._root.locate(name), show)
        except TilingError as error:
            # A client has no business with where the data root lies, or what is kept of a file elsewhere.
            told = str(error).replace(str(path), name) if is_remote_name(name) else str(error)
            return told.replace(f"{self._root.folder}/", "")


def _read(path: Path, show: str) -> ImageInfo:
    header = read_header(path, show)
    with open_file(path) as file:
        return ImageInfo(header.size, header.format, file.num_bytes, pinned_digest(path) or "")
