"""What a reader of annotation files is, and the images that annotations are about."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from gigavqa.construction.annotations import AnnotatedImage, Omission, Omissions
from gigavqa.tiling.ground.geotags import NO_GEOTAGS, GeoTags


class ImageOnDisk(NamedTuple):
    """An image that annotations can be about: its name below the folder of images, and its pixels by its header.

    `width` and `height` are those that are shown, which an EXIF `orientation` other than 1 turns or mirrors. `geotags`
    say where it lies on the ground.
    """

    name: str
    width: int
    height: int
    orientation: int = 1
    geotags: GeoTags = NO_GEOTAGS


class ImageIndex(Protocol):
    """The images at hand. Each header is read once, when an annotation names the image."""

    folder: Path

    def find(self, written: str, *, by_beginning: bool = False) -> ImageOnDisk | Omission:
        """Return the image that a file names: by path, by file name, or by stem; else why there is none to use.

        `by_beginning` also finds the one image whose name begins so, as slides of an archive are called.
        """

    def names(self) -> Iterator[str]:
        """Yield the names of all images below the folder, sorted."""


@dataclass(frozen=True)
class ReaderOptions:
    """What a file leaves open, and somebody says: nothing where it is empty.

    `annotator` chooses one of several people; `image` names the image that a file of one image is about; `unit` tells
    pixels of the image from parts of its sides; `category` names the column or property that holds categories.
    """

    annotator: str = ""
    image: str = ""
    unit: Literal["", "pixels", "parts"] = ""
    category: str = ""


class AnnotationReader(Protocol):
    """A reader of one form of annotation files, bounded in memory."""

    name: str
    """As `--form` takes it: `coco`."""
    title: str
    """As people call it: "COCO"."""

    def recognises(self, source: Path) -> bool:
        """Return whether a file or folder has this form, by a bounded look at its content; never by its name alone."""

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield the annotated images of a source, each image once, in order of their names.

        An image of the folder that the source does not name is not yielded; one that the source names and that has no
        objects is. What is left out goes into `omissions`. Raises AnnotationFileError for a file that cannot be read at
        all.
        """
