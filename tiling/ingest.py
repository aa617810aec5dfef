"""Makes a lossless tiled pyramid of an image once, so that every further view reads only what it shows."""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from gigavqa.runtime.durable_files import sync
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.file_facts import cached_read_plan
from gigavqa.tiling.levels import LARGE_PIXELS, ReadPlan
from gigavqa.tiling.passes import RenderPass
from gigavqa.tiling.pyramid import OnProgress, write_pyramid
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.sources import open_source

_DECODE_COSTS: dict[str, tuple[float, ...]] = {"jpeg": (11.8, 5.9, 4.4), "jp2": (143.0,)}
"""Nanoseconds of one core for each pixel of the image, by the level that its decoder yields."""

_DEFAULT_DECODE_COSTS = (9.0,)
_WRITE_COST = 13.0  # decision 0007
_PYRAMID_READ_COST = 3.0  # for each pixel of the level


def pyramid_path(digest: str, folder: Path, tone: Tone | None = None) -> Path:
    """Return where the pyramid of an image with this content digest is kept, as its samples are shown by `tone`."""
    shown = f"-{hashlib.blake2b(str(tone).encode(), digest_size=8).hexdigest()}" if tone else ""
    return folder / f"{digest}{shown}.tif"


class ShownImage(NamedTuple):
    """An image's file, and the tone that its samples are shown in."""

    path: Path
    tone: Tone | None = None


class PassCosts:
    """Sum what passes over flat images have cost beyond views of a pyramid. Thread-safe.

    A pyramid is due when its making would have cost no more: whatever is asked for next, not much more than twice the
    least that was possible is spent. Costs are counted from pixels, at rates that were measured on one core
    (docs/performance/views.md), so that they are the same on every machine.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lost: dict[ShownImage, float] = {}
        self._due: dict[ShownImage, str | None] = {}

    def add(
        self, image: ShownImage, reading: ReadPlan, made: RenderPass, share: float, named: str | None = None
    ) -> None:
        """Count a pass over an image that decoded this share; `named` as `find_render_source` has it."""
        area = reading.levels[0].size.area
        if not reading.is_flat or area < LARGE_PIXELS:
            return
        rates = _DECODE_COSTS.get(reading.format, _DEFAULT_DECODE_COSTS)[: reading.num_decoded]
        cost = share * area * rates[made.decoded]
        instead = sum(each.recipe.region.size.area / reading.levels[each.level].downsample ** 2 for each in made.drafts)
        with self._lock:
            self._lost[image] = self._lost.get(image, 0) + max(0, cost - instead * _PYRAMID_READ_COST)
            if self._lost[image] >= area * (sum(rates) + _WRITE_COST):
                self._due[image] = named

    def due(self) -> tuple[ShownImage, str | None] | None:
        """Return an image whose pyramid is due, and what it is named by if by its digest; told once."""
        with self._lock:
            found = next(iter(self._due.items()), None)
            if found is not None:
                del self._due[found[0]]
                self._lost.pop(found[0], None)
        return found


def has_levels(reading: ReadPlan) -> bool:
    """Return whether views read levels of the image's own, so that a pyramid would be a copy that nobody needs."""
    return not reading.is_flat


class RenderSource(NamedTuple):
    """The file that views of an image are made of, and how it is read.

    `digest` is that of the content that it must have while it is read; None of a file that never changes. Its samples
    are shown by `tone`, else as they are.
    """

    path: Path
    digest: str | None
    reading: ReadPlan
    tone: Tone | None = None


def find_render_source(
    path: Path, digest: str, folder: Path | None, named: str | None = None, tone: Tone | None = None
) -> RenderSource:
    """Return the file that views of the image at `path` are made of: itself, or its pyramid in `folder` if it is flat
    and has one.

    Either gives the same pixels. A file that is `named` by its digest never changes, nor does a pyramid. Raises
    TilingError subclasses; ImageChangedError where the image's content is not that of `digest`.
    """
    reading = cached_read_plan(path, named, digest=digest, tone=tone)
    pyramid = pyramid_path(digest, folder, tone) if folder else None
    if pyramid is None or has_levels(reading) or not pyramid.exists():
        return RenderSource(path, None if named else digest, reading, tone)
    return RenderSource(pyramid, None, pyramid_read_plan(pyramid, reading))


def find_render_sources(
    path: Path, folder: Path | None, recipes: Sequence[Recipe], named: str | None = None
) -> Iterator[tuple[RenderSource, list[Recipe]]]:
    """Yield the files that recipes of the image at `path`, of one digest and tone, are made of, each with its recipes.

    What is made of the full resolution needs no smaller level, so that none is compared for it. Raises as
    `find_render_source` does.
    """
    digest, tone = recipes[0].digest, recipes[0].tone
    own = cached_read_plan(path, named, digest=digest, compares_levels=False, tone=tone)
    finest = [] if own.is_flat else [each for each in recipes if own.level_for(each.region.size, each.stages[0]) == 0]
    if finest:
        yield RenderSource(path, None if named else digest, own, tone), finest
    if others := [each for each in recipes if each not in finest]:
        yield find_render_source(path, digest, folder, named, tone), others


def pyramid_read_plan(pyramid: Path, reading: ReadPlan) -> ReadPlan:
    """Return how a pyramid is read of an image that is read so without.

    At the same levels. Raises TilingError subclasses.
    """
    return replace(cached_read_plan(pyramid, compares_levels=False), oversampling=reading.oversampling)


def ingest(path: Path, folder: Path) -> Path:
    """Make the lossless pyramid of the image at `path` in `folder`, unless it is there; return its path.

    It is named by the image's content digest and appears whole or not at all; of processes that ask at once, one makes
    it and the others wait. Raises TilingError subclasses: damage anywhere in the image ends the ingest.
    """
    make_pyramid(path, folder)
    return pyramid_path(content_digest(path), folder)


def make_pyramid(
    path: Path,
    folder: Path,
    progress: OnProgress | None = None,
    *,
    digest: str | None = None,
    named: str | None = None,
    tone: Tone | None = None,
    wait: bool = True,
) -> bool:
    """Do what `ingest` says; return whether this call made the pyramid, rather than found it.

    It is of the image as it is now, or of the content of this digest alone; a file that is `named` by its digest never
    changes. Unless it is to `wait`, it leaves a pyramid that another process is making to that one.
    """
    digest = named or digest or content_digest(path)
    pyramid = pyramid_path(digest, folder, tone)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(FileLock(pyramid.with_suffix(".lock"), timeout=-1 if wait else 0))
        except Timeout:
            return False
        if pyramid.exists():
            return False
        partial = pyramid.with_suffix(".partial")
        try:
            with open_source(path, None if named else digest, tone) as source, source.unchanging():
                write_pyramid(source, partial, progress)
            _publish(partial, pyramid)
        finally:
            partial.unlink(missing_ok=True)
    return True


def _publish(partial: Path, pyramid: Path) -> None:
    """Rename when the bytes are on the disk, then make the name itself durable."""
    sync(partial)
    partial.replace(pyramid)
    sync(pyramid.parent)
