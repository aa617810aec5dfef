"""Images and annotation files that tests write, and what readers make of them."""

import json
from pathlib import Path
from typing import Any

from PIL import Image

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.images import FolderImages
from gigavqa.construction.readers.reader import ReaderOptions
from gigavqa.construction.readers.registry import find_reader


def write_image(folder: Path, name: str = "a.png", size: tuple[int, int] = (200, 100), **how: Any) -> Path:
    """Write a grey image."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", size, 128).save(path, **how)
    return path


def write_json(path: Path, value: Any) -> Path:
    """Write a value as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def coco(*annotations: dict[str, Any], **image: Any) -> dict[str, Any]:
    """Return a COCO file of one image and one category."""
    entry = {"id": 1, "file_name": "a.png", "width": 200, "height": 100} | image
    whole = [{"id": at, "image_id": 1, "category_id": 1} | one for at, one in enumerate(annotations, start=1)]
    return {"images": [entry], "annotations": whole, "categories": [{"id": 1, "name": "ship"}]}


def read(
    source: Path, images: Path | FolderImages, form: str | None = None, **options: Any
) -> tuple[list[AnnotatedImage], Omissions]:
    """Read a source over a folder of images."""
    omissions = Omissions()
    index = images if isinstance(images, FolderImages) else FolderImages(images)
    found = list(find_reader(source, form).read(source, index, omissions, ReaderOptions(**options)))
    return found, omissions
