"""Build drawn data sets: what is complete is kept, the rest is painted, and the records are written and checked."""

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import tomli_w

from gigavqa.demo.canvas import replacing
from gigavqa.demo.errors import RecordInvalidError
from gigavqa.demo.manifest import DemoManifest
from gigavqa.evaluation.datasets import load_dataset

AT_ONCE = 2
"""Images of gigapixels that are painted at once; the plaza alone takes 1.4 GB while it is painted."""
_FEW = 10
"""So many images are told one by one; of more, their number and their size together."""


class Painting(NamedTuple):
    """One image to paint: its name in the data set's folder, and what writes its file, in any process."""

    image: str
    paint: Callable[[], object]


def complete(
    manifest: DemoManifest,
    paintings: Sequence[Painting],
    write_records: Callable[[], None],
    settings: Mapping[str, str],
    progress: Callable[[str], None],
    *,
    at_once: int = 1,
    awaiting: Collection[str] = (),
) -> Path:
    """Paint what is missing, write and check the records, and return the folder; nothing where all is there.

    `write_records` is called in a folder that has `samples`; `settings` are those of `dataset.toml`. The most expensive
    paintings come first, so that `at_once` processes end together. `awaiting` are samples whose truth nobody knows yet.
    Raises RecordInvalidError when a record breaks a check.
    """
    folder = manifest.folder
    missing = [painting for painting in paintings if not manifest.holds(painting.image)]
    if not missing and manifest.holds_records():
        progress(f"{folder.name}: complete")
        return folder
    for file in ("samples/", *(painting.image for painting in missing)):
        (folder / file.rpartition("/")[0]).mkdir(parents=True, exist_ok=True)
    for image in _painted(missing, at_once):
        manifest.add(image)
        if len(missing) <= _FEW:
            progress(f"{image}: painted, {_megabytes(folder / image):.1f} MB")
    if len(missing) > _FEW:
        size = sum(_megabytes(folder / painting.image) for painting in missing)
        progress(f"{folder.name}: {len(missing)} pictures painted, {size:.1f} MB")
    write_records()
    with replacing(folder / "dataset.toml") as temporary:
        temporary.write_text(tomli_w.dumps({"name": folder.name, **settings}), encoding="utf-8")
    num_samples = check_dataset(folder, awaiting)
    manifest.add_records()
    progress(f"{folder.name}: {num_samples} samples written and checked")
    return folder


def _painted(paintings: Sequence[Painting], at_once: int) -> Iterator[str]:
    """Paint images, several at once in processes of their own, and yield each one's name when it is complete."""
    painters = min(at_once, os.cpu_count() or 1, len(paintings))
    if at_once == 1 or not paintings:
        for image, paint in paintings:
            paint()
            yield image
        return
    # Spawned, since libvips' threads do not survive a fork.
    with ProcessPoolExecutor(painters, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(paint): image for image, paint in paintings}
        for done in as_completed(running):
            done.result()
            yield running[done]


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6


def check_dataset(folder: Path, awaiting: Collection[str] = ()) -> int:
    """Load a written data set as anybody's would be, and return the number of samples, which meet its checklists.

    Those that are `awaiting` a truth are asked to meet none.

    Raises RecordInvalidError naming each sample that breaks a check.
    """
    dataset = load_dataset(folder)
    samples = dataset.samples
    found = dataset.benchmark.check(samples, lambda sample: sample)
    problems = [f"{one.sample}: {one.text}" for one in found if not one.of_many and one.sample not in awaiting]
    problems += [f"{s.id}: {image} is missing" for s in samples for image in s.images if not (folder / image).is_file()]
    if problems:
        raise RecordInvalidError("; ".join(problems))
    return len(samples)
