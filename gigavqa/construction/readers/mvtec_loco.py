"""MVTec LOCO AD: a product's folder of normal and anomalous images, whose defects are masks."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.marks import Mark
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.runtime.work_progress import counted
from gigavqa.tiling.errors import DECODER_ERRORS, TilingError
from gigavqa.tiling.headers import read_header

_SPLITS = ("train", "validation", "test")
_GOOD, _TRUTH, _SETTINGS = "good", "ground_truth", "defects_config.json"
_MOST_PIXELS = 1 << 25
_MOST_SETTINGS = 1 << 20


class MvtecLocoReader:
    """Reads a product's folder, or one of such folders. A mask is one object: its category is the defect's name, where
    the settings have it, else the kind of anomaly; labels of an image are its `product`, `split` and `kind`.
    """

    name = "mvtec-loco"
    title = "MVTec LOCO AD"

    def recognises(self, source: Path) -> bool:
        """Return whether a folder, or one in it, has normal images to train with, and masks of anomalies."""
        return bool(_products(source))

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name: normal ones, too."""
        collection = MarkCollection(images, omissions)
        for product in _products(source):
            defects = _defects(product)
            for path in counted(_images(product), "images read"):
                _enter(collection, product, path, defects)
        return collection.annotated()


def _products(source: Path) -> list[Path]:
    """Return the folders of products: the source itself, else those in it, sorted."""
    found = [source, *(sorted(source.iterdir()) if source.is_dir() else ())]
    fitting = [path for path in found if (path / "train" / _GOOD).is_dir() and (path / _TRUTH).is_dir()]
    return fitting[:1] if fitting[:1] == [source] else fitting


def _enter(collection: MarkCollection, product: Path, path: Path, defects: Mapping[int, str]) -> None:
    """Add an image of a product, its labels and its masks."""
    place, called = path.relative_to(product), product.resolve().name
    name = f"{called}/{place.as_posix()}"
    number = collection.enter(name, name, "the image")
    if number is None:
        return
    for label, value in (("product", called), ("split", place.parts[0]), ("kind", place.parts[1])):
        collection.label(number, label, value)
    masks = sorted((product / _TRUTH / place.parts[1] / path.stem).glob("*.png"))
    if place.parts[1] != _GOOD and not masks:
        collection.leave_out("no-mask", name, "the image", "has no mask in ground_truth; add it", image=number)
    for at, mask in enumerate(masks, start=1):
        record = mask.relative_to(product).as_posix()
        try:
            image = collection.image(number)
            mark = _mark(mask, at, place.parts[1], defects, (image.width, image.height))
            collection.add(number, mark._replace(record=record), name)
        except MarkError as error:
            collection.leave_out(error.reason, name, record, str(error), image=number)


def _images(source: Path) -> Iterator[Path]:
    for split in _SPLITS:
        for kind in sorted(path for path in (source / split).glob("*") if path.is_dir()):
            yield from sorted(kind.glob("*.png"))


def _defects(source: Path) -> Mapping[int, str]:
    """Return the defects' names by the value of their pixels. Raises AnnotationFileError for broken settings."""
    path = source / _SETTINGS
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _MOST_SETTINGS:
            raise ValueError("is larger than a MiB")
        return {int(one["pixel_value"]): str(one["defect_name"]) for one in json.loads(path.read_bytes())}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        told = f"{_SETTINGS}: {' '.join(str(error).split())[:200]}; give its list of defect_name and pixel_value"
        raise AnnotationFileError(told) from error


def _mark(path: Path, position: int, kind: str, defects: Mapping[int, str], size: tuple[int, int]) -> Mark:
    """Return the object of a mask, which holds one defect. Raises MarkError."""
    try:
        if (found := tuple(read_header(path, "").size)) != size:
            raise MarkError("size-differs", f"size: {found} is not that of the image, {size}; give its own mask")
        if size[0] * size[1] > _MOST_PIXELS:
            raise MarkError("too-large", f"size: {size} is more than {_MOST_PIXELS} pixels, which are read whole")
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("L"))
    except (TilingError, *DECODER_ERRORS) as error:
        if isinstance(error, MarkError):
            raise
        raise MarkError("image-unreadable", f"the mask: {error}; give a whole PNG") from error
    rows, columns = (np.flatnonzero(pixels.max(axis=axis)) for axis in (1, 0))
    if not len(rows):
        raise MarkError("empty", "the mask: marks no pixel; mark the defect")
    values = np.unique(pixels[pixels > 0]).tolist()
    if defects and (len(values) > 1 or values[0] not in defects):
        told = f"the mask: its values {values[:5]} are not one defect of {_SETTINGS}; add it there"
        raise MarkError("no-category", told)
    box = float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)
    return Mark(position, "", defects[values[0]] if defects else kind, box)
