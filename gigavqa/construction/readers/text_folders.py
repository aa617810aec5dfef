"""Folders of one label file an image, as DOTA and YOLO have them."""

from collections.abc import Iterator
from pathlib import Path

from gigavqa.construction.errors import AnnotationFileError
from gigavqa.construction.readers.documents import opened
from gigavqa.evaluation.sample_files import list_files

_LONGEST_LINE = 1 << 20
MARKED_LIST = (".txt", ".txt.gz")


def label_files(folder: Path) -> list[str]:
    """Return the names of all label files below a folder, sorted."""
    return [name for name in list_files(folder) if name.lower().endswith(MARKED_LIST)]


def stem_of(name: str) -> str:
    """Return a label file's name without its ending."""
    return name[: name.lower().rindex(".txt")]


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that hold something, each with its number from 1.

    Raises AnnotationFileError for what is no UTF-8 text, and for lines of more than a MiB.
    """
    with opened(path) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                raise AnnotationFileError(f"{path.name}: line {number}: is longer than a MiB; give labels")
            try:
                text = line.decode().strip()
            except UnicodeDecodeError:
                raise AnnotationFileError(f"{path.name}: line {number}: is no UTF-8 text; save it so") from None
            if text:
                yield number, text
