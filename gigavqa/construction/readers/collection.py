"""The images that a source names and their marks, checked, each image once, in the order of names."""

from collections.abc import Iterator
from typing import NamedTuple

from gigavqa.construction.annotations import AnnotatedImage, Annotation, AttributeValue, Omission, Omissions
from gigavqa.construction.errors import MarkError
from gigavqa.construction.kept_ids import is_own_id
from gigavqa.construction.readers.marks import Mark, annotation_of
from gigavqa.construction.readers.reader import ImageIndex, ImageOnDisk
from gigavqa.construction.readers.spool import MarkSpool

UPRIGHT_REMEDY = "write its pixels upright (ImageMagick: `mogrify -auto-orient`) and annotate or export it anew"


EVERY = -1
"""Stands for all images, of which one lost a mark, and nobody knows which."""
_TRANSPOSED_FROM = 5
"""EXIF orientations from here on exchange width and height, so that a size tells which of both was annotated."""


ImageSize = tuple[float, float] | None
"""Width and height that a file says its image has; None where it says nothing."""


class _Entry(NamedTuple):
    """An image as a source has it: in which of its files, and at which record."""

    image: ImageOnDisk
    file: str
    record: str


class MarkCollection:
    """What a source marks, gathered in whatever order it stands there, and then given back by image.

    An image that two records of a source are about is left out whole: neither of them is known to be all of it.
    `merges` are sources whose records about one image belong together.
    """

    def __init__(self, images: ImageIndex, omissions: Omissions, *, merges: bool = False) -> None:
        self.omissions = omissions
        self._images = images
        self._merges = merges
        self._entries: list[_Entry] = []
        self._numbers: dict[str, int] = {}
        self._twice: set[int] = set()
        self._spool = MarkSpool()
        self._files: list[str] = []
        self._file_numbers: dict[str, int] = {}
        self._incomplete: dict[int, set[str]] = {}
        self._labels: dict[int, dict[str, AttributeValue]] = {}
        self._kept: set[str] = set()

    def leave_out(
        self, reason: str, file: str, record: str, text: str, times: int = 1, *, image: int | None = None
    ) -> None:
        """Count something that is not used, with a sentence of file, record, field, remedy.

        Where it is a mark of an `image`, or of one of `EVERY`, that is incomplete now.
        """
        if image is not None:
            self._incomplete.setdefault(image, set()).add("")
        self.omissions.add(reason, f"{file}: {record}: {text}", times)

    def enter(
        self, written: str, file: str, record: str, size: ImageSize = None, *, by_beginning: bool = False
    ) -> int | None:
        """Return the number of the image that a record names; None where it is left out, which is counted.

        `size` is the width and height that the record says the image has.
        """
        found = self._images.find(written, by_beginning=by_beginning)
        fault = found if isinstance(found, Omission) else _size_fault(found, size)
        if isinstance(found, Omission) or fault:
            assert fault
            self.leave_out(fault.reason, file, record, fault.sentence)
            return None
        if found.name in self._numbers:
            return self._enter_again(self._numbers[found.name], file, record)
        number = self._numbers[found.name] = len(self._entries)
        self._entries.append(_Entry(found, file, record))
        return number

    def _enter_again(self, number: int, file: str, record: str) -> int | None:
        if self._merges:
            return number
        first = self._entries[number]
        self._twice.add(number)
        told = f"image: {first.image.name} is that of {first.file}: {first.record}, too; neither is used: join them"
        self.leave_out("image-twice", file, record, told)
        return None

    def image(self, number: int) -> ImageOnDisk:
        """Return the image of a number."""
        return self._entries[number].image

    def add(self, number: int, mark: Mark, file: str) -> None:
        """Add a mark of an image, which one of the source's files holds."""
        self._spool.add(number, mark._replace(position=self._position(file, mark.position)))

    def _position(self, file: str, position: int) -> int:
        """Pack file and position in one number."""
        if file not in self._file_numbers:
            self._file_numbers[file] = len(self._files)
            self._files.append(file)
        return self._file_numbers[file] << 40 | position

    def label(self, number: int, name: str, value: AttributeValue) -> None:
        """Say something of an image as a whole."""
        self._labels.setdefault(number, {})[name] = value

    def discard(self, number: int) -> None:
        """Leave out an image whole, of which the caller said why."""
        self._twice.add(number)

    def annotated(self) -> Iterator[AnnotatedImage]:
        """Yield every image with its annotations, by name."""
        counts = self._spool.counts()
        for number in sorted(self._twice):
            entry = self._entries[number]
            told = f"image: {entry.image.name} is left out, and so are its {counts.get(number)} objects"
            if number in counts:
                self.leave_out("of-left-out-image", entry.file, entry.record, told, counts[number])
        names = {number: entry.image.name for number, entry in enumerate(self._entries) if number not in self._twice}
        order = sorted(names, key=names.__getitem__)
        for number, marks in zip(order, self._spool.groups(order), strict=True):
            image = self._entries[number].image
            annotations = tuple(self._checked(marks, number))
            labels, incomplete = self._labels.get(number, {}), self._incomplete_of(number)
            yield AnnotatedImage(image.name, image.width, image.height, annotations, labels, incomplete)

    def _incomplete_of(self, number: int) -> frozenset[str]:
        return frozenset((*self._incomplete.get(number, ()), *self._incomplete.get(EVERY, ())))

    def _checked(self, marks: list[Mark], number: int) -> Iterator[Annotation]:
        image = self.image(number)
        seen: dict[object, str] = {}
        for mark in marks:
            file, position = self._files[mark.position >> 40], mark.position & ((1 << 40) - 1)
            try:
                annotation = annotation_of(mark, self._id_of(mark, file, position), image.width, image.height)
                key = annotation.category, annotation.box, annotation.rings, annotation.quad
                if key in seen:
                    raise MarkError("duplicate", f"is the same object as {seen[key]}; the first is used")
            except MarkError as error:
                self.leave_out(error.reason, file, mark.record, str(error))
                if error.reason != "duplicate":
                    self._incomplete.setdefault(number, set()).add(mark.category.strip())
                continue
            seen[key] = mark.record
            if annotation.id == mark.kept:
                self._kept.add(mark.kept)
            yield annotation

    def _id_of(self, mark: Mark, file: str, position: int) -> str:
        """Return the id that a mark was given, if no other has it, else that of its place."""
        own = f"{file}#{position}"
        if mark.kept in self._kept:
            if is_own_id(file, mark.kept):
                return own  # a file's own ids are what its writer made of them
            told = f"id: '{mark.kept}' is that of another object, of which it may be a copy; it counts as a new one"
            self.leave_out("id-twice", file, mark.record, told)
            return own
        return mark.kept or own


def _size_fault(image: ImageOnDisk, size: tuple[float, float] | None) -> Omission | None:
    """Return why coordinates of a file cannot be those of an image as it is shown, by the size that the file says."""
    told = size and f"size: {size[0]:g} x {size[1]:g} is not that of {image.name}, {image.width} x {image.height}"
    if size and size != (image.width, image.height):
        if image.orientation >= _TRANSPOSED_FROM and size == (image.height, image.width):
            return Omission("turned", f"{told}, which its EXIF orientation turns; {UPRIGHT_REMEDY}")
        return Omission("size-differs", f"{told}; give the image that was annotated")
    is_sure = size is not None and image.orientation >= _TRANSPOSED_FROM and image.width != image.height
    if image.orientation != 1 and not is_sure:
        why = "image: an EXIF orientation turns it, and whether the file counts pixels before or after is unsure"
        return Omission("turned", f"{why}; {UPRIGHT_REMEDY}")
    return None
