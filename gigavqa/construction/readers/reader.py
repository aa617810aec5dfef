"""What a reader of annotation files is, and the images that annotations are about."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from gigavqa.construction.annotations import AnnotatedImage, Omissions


class ImageOnDisk(NamedTuple):
    """An image that annotations can be about: its name below the folder of images, and its pixels by its header."""

    name: str
    width: int
    height: int


class ImageIndex(Protocol):
    """The images at hand. Each header is read once, when an annotation names the image."""

    folder: Path

    def find(self, written: str) -> ImageOnDisk | None:
        """Return the image that a file names: by path, by file name, or by stem; None if there is none, or several.

        Raises AnnotationFileError, with the sentence, for one that is there and cannot be read.
        """

    def names(self) -> Iterator[str]:
        """Yield the names of all images below the folder, sorted."""


class AnnotationReader(Protocol):
    """A reader of one form of annotation files, bounded in memory."""

    name: str
    """As `--form` takes it: `coco`."""
    title: str
    """As people call it: "COCO"."""

    def recognises(self, source: Path) -> bool:
        """Return whether a file or folder has this form, by a bounded look at its content; never by its name alone."""

    def read(self, source: Path, images: ImageIndex, omissions: Omissions) -> Iterator[AnnotatedImage]:
        """Yield the annotated images of a source, each image once, in order of their names.

        An image of the folder that the source does not name is not yielded; one that the source names and that has no
        objects is. What is left out goes into `omissions`. Raises AnnotationFileError for a file that cannot be read at
        all.
        """
