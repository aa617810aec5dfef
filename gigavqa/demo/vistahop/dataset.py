"""Makes VistaHop's demo data set: six drawn pictures, a corpus of pages, and sixteen questions that need both."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from gigavqa.demo.building import AT_ONCE, Painting, complete
from gigavqa.demo.canvas import Canvas
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.painting import DrawnScene, ScenePainter, write_jpeg
from gigavqa.demo.pyramids import write_pyramid
from gigavqa.demo.records import write_lines
from gigavqa.demo.vistahop.checking import check_signs, check_world
from gigavqa.demo.vistahop.corpus import write_pages
from gigavqa.demo.vistahop.plan import PICTURES, plan_world
from gigavqa.demo.vistahop.questions import AWAITING, records
from gigavqa.demo.vistahop.scenes import draw_scene
from gigavqa.tiling.geometry import Size

GENERATOR = "2"
"""Raised whenever the same seed no longer gives the same records and pixels."""
_THUMBNAIL = Size(480, 320)
_TITLES: Mapping[str, tuple[str, ...]] = {
    "harbour": ("Quay four", "Cranes at noon", "Containers in a row", "The old mole", "Three ships at anchor"),
    "street": ("A street of shops", "Houses with red roofs"),
    "fair": ("Stands before the opening",),
    "hall": ("Under the glass roof", "Trees in the hall"),
    "yard": ("A yard with cranes",),
    "market": ("Stands of a covered market",),
}
"""What an image search finds of each picture: pictures of it, whose titles say nothing of any chain."""
_SETTINGS = {
    "benchmark": "vistahop",
    "title": "Demo: signs of an invented world",
    "description": "Drawn by a program from a seed: a harbour, a street of shops, a fair and a hall of plants of more "
    "than a gigapixel each, a yard and a market of nine megapixels. The letters of a sign are two to six pixels high "
    "in what is shown of a large picture at first, so that they are read in a zoom alone. All names are invented, and "
    "what is asked about them stands in the corpus, one fact a page.",
    "licence": "CC0-1.0",
}


def build_dataset(folder: Path, *, seed: int = 7, scale: float = 1.0, progress: Callable[[str], None] = print) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for this seed and scale is kept.

    `scale` multiplies the sides of the large pictures; letters stay as high as they are in what is shown at first.
    Raises RecordInvalidError when a chain cannot be walked, a sign does not show, or a record breaks a check.
    """
    folder = folder.resolve()
    paintings = [
        Painting(picture.image, partial(paint_picture, name, folder, seed, scale)) for name, picture in PICTURES.items()
    ]
    manifest = DemoManifest.open(folder, GENERATOR, seed, scale)
    write_records = partial(_write_records, folder, seed, scale)
    return complete(manifest, paintings, write_records, _SETTINGS, progress, at_once=AT_ONCE, awaiting=[AWAITING])


def paint_picture(name: str, folder: Path, seed: int, scale: float = 1.0) -> None:
    """Paint a picture and its thumbnails into a data set's folder, and look whether its signs show."""
    scene, picture = draw_scene(plan_world(seed)[0], name, scale), PICTURES[name]
    (folder / "thumbs").mkdir(exist_ok=True)
    for number, (_, file) in enumerate(hits()[name]):
        _write_thumbnail(scene, folder / file, number)
    (write_jpeg if picture.is_flat else write_pyramid)(scene, folder / picture.image)
    check_signs(folder, {name: scene.letterings})


def hits() -> dict[str, tuple[tuple[str, str], ...]]:
    """Titles and thumbnails' files of each picture."""
    return {
        name: tuple((title, f"thumbs/{name}-{number}.jpg") for number, title in enumerate(titles, start=1))
        for name, titles in _TITLES.items()
    }


def _write_thumbnail(scene: DrawnScene, path: Path, number: int) -> None:
    """Write a part of a scene, each of another place and size."""
    scale = _THUMBNAIL.width / scene.size.width * (1 + number / 2)
    whole = Size(round(scene.size.width * scale), round(scene.size.height * scale))
    left, top = (number * max(0, side - part) // 5 for side, part in zip(whole, _THUMBNAIL, strict=True))
    part = ScenePainter(scene).part(left, top, _THUMBNAIL, scale)
    Canvas(np.asarray(part)).write_jpeg(path, 88)


def _write_records(folder: Path, seed: int, scale: float) -> None:
    world, maker = plan_world(seed)
    pages = write_pages(world, maker)
    ids = {page.fact.document: page.id for page in pages if page.fact}
    boxes = {
        lettering.text: [part / side for part, side in zip(lettering.extent, (*scene.size, *scene.size), strict=True)]
        for scene in (draw_scene(world, name, scale) for name in PICTURES)
        for lettering in scene.letterings
    }
    asked = records(world, hits(), boxes, ids)
    (folder / "corpus").mkdir(exist_ok=True)
    told = ({"id": page.id, "title": page.title, "text": page.text} for page in pages)
    write_lines(folder / "corpus" / "pages.jsonl", told)
    write_lines(folder / "samples" / "signs.jsonl", asked)
    check_world(world, pages, folder / "corpus", asked)


DRAWN = DrawnDataset("demo-vistahop", "vistahop", build_dataset, {"max_tokens": 24})
