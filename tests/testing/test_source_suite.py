"""The suite of sources: one that anybody may write passes it, and each check finds the one that breaks its rule."""

import inspect
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from gigavqa.testing.sources import SourceSuite
from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources import Source
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels
from tests.testing.ppm import PpmDecoder


class TestPpm(SourceSuite):
    """A source that gigavqa does not know."""

    name = "picture.ppm"
    decoder: ClassVar[type[Decoder]] = PpmDecoder
    kind: ClassVar[type[Source]] = Source

    def write(self, path: Path, pixels: Pixels) -> None:
        """By Pillow."""
        Image.fromarray(pixels).save(path)

    def source(self, file: OpenFile) -> Source:
        """By a decoder of our own."""
        return self.kind(file, "ppm", self.decoder(file), orientation=1)


class Turned(PpmDecoder):
    """Takes the width for the height."""

    def __init__(self, file: OpenFile) -> None:
        super().__init__(file)
        self.levels = describe_levels([Size(*reversed(self.levels[0].size))])


class Changed(PpmDecoder):
    """Reads something else, as `change` has it."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Change each band."""
        return map(self.change, super().bands(level, region_l))

    def change(self, band: Pixels) -> Pixels:
        """Shift the columns by one."""
        return np.roll(band, 1, axis=1)


class BlueFirst(Changed):
    """Reads BGR."""

    def change(self, band: Pixels) -> Pixels:
        """Turn the colours around."""
        return band[..., ::-1]


class BlackLevel(PpmDecoder):
    """Has a level in which nothing was written."""

    def __init__(self, file: OpenFile) -> None:
        super().__init__(file)
        full = self.levels[0].size
        self.levels = describe_levels([full, Size(full.width // 2, full.height // 2)])

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Yield black of level 1."""
        return iter(
            [np.zeros((region_l.height, region_l.width, 3), np.uint8)] if level else super().bands(level, region_l)
        )


class Aligned(PpmDecoder):
    """Begins at whole blocks."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Round the left edge down."""
        return super().bands(level, region_l._replace(x=region_l.x // 8 * 8))


class Lenient(Source):
    """Asks nobody whether a region is there."""

    def stored_region(self, level: int, region_l: Region) -> Region:
        """Return it as it is."""
        return region_l


class Short(PpmDecoder):
    """Leaves out the last band."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Yield all but the last."""
        yield from [*super().bands(level, region_l)][:-1]


class Lost(PpmDecoder):
    """Has its landmarks elsewhere."""

    def landmarks(self, level: int) -> list[Region]:
        """Return one that begins where the level ends."""
        return [Region(*self.levels[level].size, 96, 96)]


class Hoarding(PpmDecoder):
    """Reads all before it yields anything."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Keep every band."""
        held = [band.copy() for band in super().bands(level, region_l)]
        yield from held
        del held


class Shared(PpmDecoder):
    """Keeps in one place what every thread wants."""

    wanted: ClassVar[Region]
    all_wait: ClassVar[threading.Barrier] = threading.Barrier(8)
    waits = True

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Read what was wanted last, once all have said what they want."""
        type(self).wanted = region_l
        if self.waits and region_l.size != self.levels[0].size:
            self.waits = False
            self.all_wait.wait(30)
        return super().bands(level, self.wanted)


class Leaking(PpmDecoder):
    """Opens the file once more."""

    def __init__(self, file: OpenFile) -> None:
        super().__init__(file)
        self.kept = os.dup(file.descriptor)

    def __del__(self) -> None:
        os.close(self.kept)


class Padding(PpmDecoder):
    """Shows black where the file has ended."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Swallow the error."""
        try:
            yield from super().bands(level, region_l)
        except ImageUnreadableError:
            yield np.zeros((1, region_l.width, 3), np.uint8)


class Nameless(PpmDecoder):
    """Does not say which file it is."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Say less."""
        try:
            yield from super().bands(level, region_l)
        except ImageUnreadableError:
            raise ImageUnreadableError("a file ends within its pixels") from None


class Untyped(PpmDecoder):
    """Lets through what a library raises."""

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Raise another."""
        try:
            yield from super().bands(level, region_l)
        except ImageUnreadableError as error:
            raise ValueError("cannot reshape array of size 5") from error


class Remembering(PpmDecoder):
    """Knows every file by its name."""

    known: ClassVar[dict[Path, list[Pixels]]] = {}

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Yield what a file of this name had when it was read first."""
        return iter(self.known.setdefault(self._file.path, [*super().bands(level, region_l)]))


BROKEN: list[tuple[str, type[Decoder], str]] = [
    ("test_the_first_level_is_the_image_and_others_are_smaller", Turned, "the image is Size"),
    ("test_what_was_written_is_read", Changed, "differs by"),
    ("test_colours_are_red_green_and_blue", BlueFirst, "red, green and blue are"),
    ("test_smaller_levels_show_the_same", BlackLevel, "level 1 differs by"),
    ("test_a_region_is_that_part_of_its_level", Aligned, "level 0 is another at"),
    ("test_bands_lie_one_below_another", Short, "rows"),
    ("test_landmarks_lie_within_their_level", Lost, "a landmark of level 0"),
    ("test_memory_is_bounded_while_all_is_read", Hoarding, "bytes are held"),
    ("test_threads_that_read_at_once_read_the_same", Shared, "threads read something else"),
    ("test_a_closed_source_holds_no_file", Leaking, "still open"),
    ("test_a_truncated_file_is_unreadable_by_its_name", Padding, "of 2% of a file something is read"),
    ("test_a_truncated_file_is_unreadable_by_its_name", Nameless, "does not name"),
    ("test_a_truncated_file_is_unreadable_by_its_name", Untyped, "cannot reshape"),
    ("test_a_file_that_is_opened_again_is_read_again", Remembering, "those of the one before"),
]
LENIENT = "test_a_region_outside_its_level_is_refused"


def told(folder: Path, check: str, **changes: type) -> str:
    """What a check says of a source that is changed."""
    suite = type("Suite", (TestPpm,), changes)()
    with pytest.raises((AssertionError, ValueError)) as caught:
        getattr(suite, check)(folder)
    return str(caught.value)


@pytest.mark.parametrize(("check", "decoder", "words"), BROKEN)
def test_a_decoder_that_breaks_a_rule_is_told_of(
    tmp_path: Path, check: str, decoder: type[Decoder], words: str
) -> None:
    """In words that say what was found."""
    assert words in told(tmp_path, check, decoder=decoder)


def test_a_source_that_reads_beyond_its_level_is_told_of(tmp_path: Path) -> None:
    """By the region."""
    assert "has pixels at (-1, 0, 5, 5)" in told(tmp_path, LENIENT, kind=Lenient)


def test_every_check_can_fail() -> None:
    """There is a source here that breaks its rule."""
    checks = {name for name in dir(SourceSuite) if name.startswith("test_")}
    assert checks == {LENIENT, *(check for check, _, _ in BROKEN)}


def test_the_source_that_the_page_shows_is_this_one() -> None:
    """Word for word."""
    page = Path(__file__).parents[2] / "docs" / "extending.md"
    assert inspect.getsource(PpmDecoder) in page.read_text(encoding="utf-8")
