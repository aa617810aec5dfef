"""Sizes of images from their headers alone: read in threads, kept as long as a file does not change."""

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from service.http.freshness import Kept, stamp
from tiling.errors import TilingError
from tiling.geometry import Size
from tiling.headers import Header, read_header
from tiling.roots import ImageRoot

_KEPT_HEADERS = 100_000


@dataclass(frozen=True)
class Survey:
    """Level-0 sizes, in pixels, of the images that can be served, and what is wrong with the others, by name."""

    sizes: Mapping[str, Size]
    errors: Mapping[str, str]


class Images:
    """The images below the data root, by name. Names that escape it are errors like unreadable files."""

    def __init__(self, root: Path, num_threads: int) -> None:
        self._root = ImageRoot(root)
        self._num_threads = num_threads
        self._kept = Kept[Header](_KEPT_HEADERS)
        self._stopping = threading.Event()

    def survey(self, names: Iterable[str]) -> Survey:
        """Read the headers of all these images; blocks."""
        unique = tuple(dict.fromkeys(names))
        with ThreadPoolExecutor(self._num_threads, thread_name_prefix="headers") as pool:
            found = dict(zip(unique, pool.map(self._look, unique), strict=True))
        sizes = {name: size for name, size in found.items() if isinstance(size, Size)}
        return Survey(sizes, {name: error for name, error in found.items() if isinstance(error, str)})

    def stop(self) -> None:
        """End surveys that are under way, so that the process can exit."""
        self._stopping.set()

    def _look(self, name: str) -> Size | str:
        if self._stopping.is_set():
            raise InterruptedError("the gateway is stopping")
        try:
            path = self._root.locate(name)
            return self._kept.get(path, stamp(path), lambda: read_header(path)).size
        except TilingError as error:
            # A client has no business with where the data root lies.
            return str(error).replace(f"{self._root.folder}/", "")
