"""Makes MMCR's demo data set: seven drawn documents of three pages, and fifteen questions whose truth was drawn."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tomli_w

from gigavqa.demo.building import complete
from gigavqa.demo.canvas import replacing
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.mmcr.pages import PAGES, draw_pages
from gigavqa.demo.mmcr.plan import Paper, plan_papers
from gigavqa.demo.mmcr.questions import records

GENERATOR = "mmcr-1"
"""Raised whenever the same seed no longer gives the same records and pixels."""
_DESCRIPTION = (
    "Drawn by a program from a seed: seven short documents of three pages each, about five invented methods. Every "
    "number in a figure, table, formula or sentence was chosen by the program, and every answer follows from them."
)


def build_demo_dataset(folder: Path, *, seed: int = 7, progress: Callable[[str], None] = print) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for this seed is kept.

    Raises RecordInvalidError when a record breaks a check of the benchmark.
    """
    folder = folder.resolve()
    manifest, papers = DemoManifest.open(folder, GENERATOR, seed), plan_papers(seed)
    missing = [paper for paper in papers if not all(map(manifest.holds, page_names(paper)))]

    def draw() -> None:
        for paper in missing:
            (folder / "images" / paper.name).mkdir(parents=True, exist_ok=True)
            for name, sheet in zip(page_names(paper), draw_pages(paper), strict=True):
                sheet.write(folder / name)
                manifest.add(name)
            progress(f"{paper.name}: {PAGES} pages drawn")

    write_records = partial(_write_records, folder, seed, papers)
    return complete(folder, manifest, progress, draw_missing=draw if missing else None, write_records=write_records)


def page_names(paper: Paper) -> list[str]:
    """Return the images of a document's pages, relative to the data set's folder."""
    return [f"images/{paper.name}/{number:03}.png" for number in range(1, PAGES + 1)]


def _write_records(folder: Path, seed: int, papers: tuple[Paper, ...]) -> None:
    lines = records(seed, papers, {paper.name: page_names(paper) for paper in papers})
    with replacing(folder / "samples" / "papers.jsonl") as temporary:
        temporary.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    settings = {
        "name": folder.name,
        "benchmark": "mmcr",
        "title": "Demo: questions about drawn papers",
        "description": _DESCRIPTION,
        "licence": "CC0-1.0",
    }
    with replacing(folder / "dataset.toml") as temporary:
        temporary.write_text(tomli_w.dumps(settings), encoding="utf-8")


DRAWN = DrawnDataset("demo-mmcr", "mmcr-cot", build_demo_dataset)
