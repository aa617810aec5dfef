"""The pictures below the data root, by the names that addresses give them, and their files, kept open for a while."""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gigavqa.tiling.digest import DIGEST_PATTERN
from gigavqa.tiling.displays.display_rules import show_below
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.errors import PixelTypeError, quote_text
from gigavqa.tiling.file_facts import cached_identity, matches_recorded_digest, name_image_in_errors
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.ground.scale import ImageScale, scale_of
from gigavqa.tiling.ingest import RenderSource, find_render_source
from gigavqa.tiling.levels import LARGE_PIXELS, ReadPlan
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources import Source, open_source
from gigavqa.viewer.errors import NoSuchImageError
from gigavqa.viewer.samples import describe_samples

_SourceKey = tuple[Path, str, Tone | None]
_PINNED_NAME = re.compile(rf"(.+)@({DIGEST_PATTERN})", re.DOTALL)


@dataclass(frozen=True)
class ViewerImage:
    """A picture as it is now: what lies at `path`, and what is read for it: itself, or the pyramid made of it.

    `is_pinned`: its address names its content, so that answers never change. `show` is what is asked for, or
    what its data set declares of it, `tone` what its samples are shown in, and `scale` what a pixel is in the world.
    """

    name: str
    path: Path
    original: RenderSource
    digest: str
    size: Size
    format: str
    is_pinned: bool
    show: str = ""
    tone: Tone | None = None
    scale: ImageScale | None = None

    @property
    def content(self) -> str:
        """The name of the pixels that it shows: those of its file, in its tone."""
        return f"{self.digest}:{self.tone}" if self.tone else self.digest

    @property
    def reading(self) -> ReadPlan:
        """The way to read it."""
        return self.original.reading

    @property
    def needs_pyramid(self) -> bool:
        """Whether it is large, and whatever is shown of it, much of the file would be decoded."""
        return self.reading.is_flat and self.size.area >= LARGE_PIXELS


class ImagePool:
    """Finds pictures by identifier, and opens them. Thread-safe; at most `most_open` files stay open unused."""

    def __init__(self, root: ImageRoot, pyramids: Path, most_open: int = 8) -> None:
        self.pyramids = pyramids
        self._root = root
        self._most_open = most_open
        self._lock = threading.Lock()
        self._idle: OrderedDict[int, tuple[_SourceKey, Source]] = OrderedDict()

    def find(self, identifier: str, asked: str = "") -> ViewerImage:
        """Find the picture called `NAME`, or `NAME@DIGEST` while that is its content, shown as is `asked` for.

        Else it is shown as its data set declares. Blocks: reads headers. Raises ViewerError and TilingError subclasses.
        """
        pinned = _PINNED_NAME.fullmatch(identifier)
        name = pinned[1] if pinned else identifier
        path = self._root.locate(name)
        with self.naming(name, path):
            show = asked or show_below(self._root.folder, name)
            found = cached_identity(path, None, show)
            if pinned and found.digest != pinned[2] and not matches_recorded_digest(path, pinned[2], found.digest):
                raise NoSuchImageError(f"'{quote_text(name)}' has changed: its content is no longer {pinned[2]}")
            original = find_render_source(path, found.digest, self.pyramids, tone=found.tone)
            header = found.header
            is_pinned = pinned is not None and show == asked  # what its data set declares may change
            how = is_pinned, show, found.tone, scale_of(header.size, header.geotags)
            return ViewerImage(name, path, original, found.digest, header.size, header.format, *how)

    def describe_samples(self, identifier: str, asked: str = "") -> dict[str, Any]:
        """Describe the samples of the picture of this name, and how they are shown. Blocks; raises as `find` does."""
        pinned = _PINNED_NAME.fullmatch(identifier)
        name = pinned[1] if pinned else identifier
        path = self._root.locate(name)
        with self.naming(name, path):
            declared = show_below(self._root.folder, name)
            told = describe_samples(path, asked or declared, self._refusal(name, path))
            return {"image": name, "declared": declared, **told}

    def _refusal(self, name: str, path: Path) -> str:
        """Return why a picture is not shown as it is, if so."""
        try:
            with self.naming(name, path):
                cached_identity(path)
        except PixelTypeError as error:
            return str(error)
        return ""

    def of_region(self, picture: ViewerImage, region: Region) -> ViewerImage:
        """Return the picture in the colours that a model is shown of one region, which may have limits of its own."""
        if not picture.show:
            return picture
        with self.naming(picture.name, picture.path):
            tone = cached_identity(picture.path, None, picture.show, str(region)).tone
            original = find_render_source(picture.path, picture.digest, self.pyramids, tone=tone)
        return replace(picture, original=original, tone=tone)

    @contextmanager
    def opened(self, picture: ViewerImage) -> Iterator[Source]:
        """Lend the open file of a picture, which nobody else uses meanwhile; one that failed is closed.

        Raises ImageChangedError at the end where the file did not keep the picture's content: what was read is nothing.
        """
        file, digest, _, tone = picture.original
        key = file, picture.digest, tone
        source = self._take(key) or open_source(file, digest, tone)
        try:
            with source.unchanging():
                yield source
        except BaseException:
            source.close()
            raise
        self._put(key, source)

    @contextmanager
    def naming(self, name: str, path: Path) -> Iterator[None]:
        """Let errors about a file call it by the picture's name."""
        with name_image_in_errors(name, path, self.pyramids):
            yield

    def close(self) -> None:
        """Close what is open and unused."""
        with self._lock:
            idle, self._idle = self._idle, OrderedDict()
        for _, source in idle.values():
            source.close()

    def _take(self, key: _SourceKey) -> Source | None:
        """Return an idle source of a file that is still what it was when it was opened."""
        while True:
            with self._lock:
                number = next((number for number, (kept, _) in reversed(self._idle.items()) if kept == key), None)
                source = None if number is None else self._idle.pop(number)[1]
            if source is None or source.is_unchanged:
                return source
            source.close()

    def _put(self, key: _SourceKey, source: Source) -> None:
        with self._lock:
            self._idle[id(source)] = key, source
            surplus = self._idle.popitem(last=False)[1][1] if len(self._idle) > self._most_open else None
        if surplus:
            surplus.close()
