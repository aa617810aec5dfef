"""Makes MMCR's demo data set: seven drawn documents of three pages, and fifteen questions whose truth was drawn."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from gigavqa.demo.building import Painting, complete
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.mmcr.pages import PAGES, write_page
from gigavqa.demo.mmcr.plan import Paper, plan_papers
from gigavqa.demo.mmcr.questions import records
from gigavqa.demo.records import write_lines

GENERATOR = "mmcr-1"
"""Raised whenever the same seed no longer gives the same records and pixels."""
_SETTINGS = {
    "benchmark": "mmcr",
    "title": "Demo: questions about drawn papers",
    "description": "Drawn by a program from a seed: seven short documents of three pages each, about five invented "
    "methods. Every number in a figure, table, formula or sentence was chosen by the program, and every answer follows "
    "from them.",
    "licence": "CC0-1.0",
}


def build_demo_dataset(folder: Path, *, seed: int = 7, progress: Callable[[str], None] = print) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for this seed is kept.

    Raises RecordInvalidError when a record breaks a check of the benchmark.
    """
    folder = folder.resolve()
    papers = plan_papers(seed)
    pages = {paper.name: page_names(paper) for paper in papers}
    paintings = [
        Painting(name, partial(write_page, paper, number, folder / name))
        for paper in papers
        for number, name in enumerate(pages[paper.name])
    ]

    def write_records() -> None:
        write_lines(folder / "samples" / "papers.jsonl", records(seed, papers, pages))

    return complete(DemoManifest.open(folder, GENERATOR, seed), paintings, write_records, _SETTINGS, progress)


def page_names(paper: Paper) -> list[str]:
    """Return the images of a document's pages, relative to the data set's folder."""
    return [f"images/{paper.name}/{number:03}.png" for number in range(1, len(PAGES) + 1)]


DRAWN = DrawnDataset("demo-mmcr", "mmcr-cot", build_demo_dataset)
