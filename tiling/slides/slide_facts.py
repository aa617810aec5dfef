"""What OpenSlide tells of a slide before a pixel of it is read. Needs no OpenSlide: a process of its own does.

So every machine can say how large a slide is, no damaged file ends the process that asks, and all who ask are told the
same as who reads the pixels (docs/slides.md).
"""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import MicronsPerPixel, Region, Size
from gigavqa.tiling.image_part import ImagePart, require_associated, resolve_part
from gigavqa.tiling.pixel_types import PixelType

_MOST_SECONDS, _MOST_SECONDS_TO_END = 60, 1
_MODULE = "gigavqa.tiling.slides.slide_process"
SLIDE_PIXELS = PixelType(8, "rgb", 3)
"""What OpenSlide makes of the pixels of every slide, once its transparency lies on the background."""
_PACKAGES = str(Path(__file__).parents[2])


_REMEDIES = {
    "Unsupported or missing image file": "OpenSlide knows no slide like it",
    "Unrecognized subblock dimension": "OpenSlide reads CZI of one plane: save it as OME-TIFF or OME-Zarr",
    "Unsupported transfer syntax": "OpenSlide reads DICOM that is uncompressed, JPEG or JPEG 2000: convert it",
    "Attribute ": "OpenSlide reads DICOM of 8-bit RGB in one focal plane: convert it",
}
"""What helps, by words of OpenSlide's errors."""


class SlideFacts(NamedTuple):
    """A slide's vendor, sizes of levels, microns of a level-0 pixel (x, y), and what else its file says.

    `associated` are the sizes of its associated images by name, `scenes` the areas that were scanned apart, `scanned`
    is what encloses all of them, in level-0 pixels; `background` is the colour where nothing was scanned.
    """

    vendor: str
    levels: tuple[Size, ...]
    downsamples: tuple[float, ...]
    microns_per_pixel: MicronsPerPixel | None = None
    objective_power: float | None = None
    associated: tuple[tuple[str, Size], ...] = ()
    scenes: tuple[Region, ...] = ()
    scanned: Region | None = None
    background: str = "FFFFFF"
    has_profile: bool = False

    def as_json(self) -> str:
        """Return one line that `read_facts` reads."""
        return json.dumps(self._asdict())

    def sizes_within(self, place: Region) -> Iterator[Size]:
        """Yield the sizes of levels of what lies at a place, in level-0 pixels; of all, those of the file."""
        for size, downsample in zip(self.levels, self.downsamples, strict=True):
            if place.size == self.levels[0]:
                yield size
            else:
                yield Size(*(max(1, int(side / downsample)) for side in place.size))


def facts_from(told: dict[str, Any]) -> SlideFacts:
    """Return the facts that were written as JSON."""
    shown = {name: value for name, value in told.items() if name in SlideFacts._fields}
    shown["levels"] = tuple(Size(*size) for size in told["levels"])
    shown["downsamples"] = tuple(told["downsamples"])
    shown["microns_per_pixel"] = MicronsPerPixel(*told["microns_per_pixel"]) if told["microns_per_pixel"] else None
    shown["associated"] = tuple((name, Size(*size)) for name, size in told["associated"])
    shown["scenes"] = tuple(Region(*scene) for scene in told["scenes"])
    shown["scanned"] = Region(*told["scanned"]) if told["scanned"] else None
    return SlideFacts(**shown)


def part_of_slide(path: Path, facts: SlideFacts, part: ImagePart) -> Region:
    """Return where a declared part of a slide lies, in its level-0 pixels: all of it where none is declared.

    Raises ImageUnsupportedError for a part that it does not have.
    """
    resolve_part(path, part._replace(scene=0), {})
    if part.scene > len(facts.scenes):
        raise ImageUnsupportedError(
            f"{path}: `show` asks for scene={part.scene}, and it has {len(facts.scenes)} scenes"
        )
    if part.is_scanned and facts.scanned is None:
        raise ImageUnsupportedError(f"{path}: `show` {part}: the slide does not say which part of it was scanned")
    whole = Region(0, 0, *facts.levels[0])
    place = facts.scenes[part.scene - 1] if part.scene else facts.scanned if part.is_scanned else whole
    return _within(path, place or whole, whole)


def size_of_part(path: Path, facts: SlideFacts, part: ImagePart) -> Size:
    """Return the level-0 size of a declared part of a slide, an associated image among them. Raises likewise."""
    if not part.associated:
        return part_of_slide(path, facts, part).size
    sizes = dict(facts.associated)
    require_associated(path, part.associated, sizes)
    return sizes[part.associated]


def _within(path: Path, place: Region, whole: Region) -> Region:
    left, top = max(0, place.x), max(0, place.y)
    right, bottom = min(place.x + place.width, whole.width), min(place.y + place.height, whole.height)
    if right <= left or bottom <= top:
        raise ImageUnreadableError(f"{path}: says that {place} was scanned, which lies outside of its {whole.size}")
    return Region(left, top, right - left, bottom - top)


def read_slide_facts(file: OpenFile) -> SlideFacts:
    """Ask OpenSlide about an open slide, in a process that is kept for the next one. Thread-safe; blocks.

    Raises ImageUnreadableError for what OpenSlide does not open, and where it ends or takes longer than a minute;
    ImageUnsupportedError where this machine has no OpenSlide.
    """
    told = _process(os.getpid()).ask({"path": _outside_path(file), "is_folder": file.folder_kind is not None})
    if told is None:
        raise ImageUnreadableError(f"{file.path}: OpenSlide did not survive its header, which is damaged")
    if "missing" in told:
        raise ImageUnsupportedError(f"{file.path}: OpenSlide reads this slide: `pip install 'gigavqa[gateway]'` has it")
    if "error" in told:
        raise ImageUnreadableError(f"{file.path}: {_with_remedy(told['error'].replace(_outside_path(file), '...'))}")
    return facts_from(told)


def _with_remedy(told: str) -> str:
    told = told.removeprefix("Reading ...: ")
    return next((f"{told}; {remedy}" for words, remedy in _REMEDIES.items() if words in told), told)


def _outside_path(file: OpenFile) -> str:
    """Return a path of the open file that another process can open."""
    path = os.fspath(file)
    return path.replace("/proc/self/", f"/proc/{os.getpid()}/", 1) if path.startswith("/proc/self/") else path


class _SlideProcess:
    """OpenSlide in a process that answers a line of JSON for each; started anew after one that it did not survive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._popen: subprocess.Popen[bytes] | None = None
        atexit.register(self.end)

    def end(self) -> None:
        """Let the process end, which it does where nobody can ask any more."""
        popen, self._popen = self._popen, None
        if popen is not None and popen.stdin is not None and popen.stdout is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                popen.stdin.close()
                popen.stdout.close()
                popen.wait(_MOST_SECONDS_TO_END)

    def ask(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        """Return what is told of a slide; None where the process ended or took too long over it."""
        with self._lock:
            popen = self._popen if self._popen and self._popen.poll() is None else self._start()
            try:
                return self._ask(popen, asked)
            except (OSError, ValueError):
                popen.kill()
                self.end()
                return None

    def _ask(self, popen: "subprocess.Popen[bytes]", asked: dict[str, Any]) -> dict[str, Any]:
        if popen.stdin is None or popen.stdout is None:
            raise OSError("the process has no pipes")
        popen.stdin.write(json.dumps(asked).encode() + b"\n")
        popen.stdin.flush()
        ready = select.poll()
        ready.register(popen.stdout, select.POLLIN | select.POLLHUP)
        if not ready.poll(_MOST_SECONDS * 1000):
            raise OSError("the process takes too long")
        told: dict[str, Any] = json.loads(popen.stdout.readline())
        return told

    def _start(self) -> "subprocess.Popen[bytes]":
        # It ends when its standard input does, which is when this process has ended in whatever way.
        places = [_PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        )
        return self._popen


@cache
def _process(parent: int) -> _SlideProcess:
    """One for each process: a fork has not the pipes to itself."""
    return _SlideProcess()
