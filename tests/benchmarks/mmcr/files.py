"""Writes data sets of papers: records over drawn pages, a table of the official shape, and a PDF."""

import base64
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from gigavqa.benchmarks.mmcr.benchmark import MMCR
from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.image_lookup import DocumentRendering
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.pdf_pages import render_pages
from tests.benchmarks.mmcr.examples import COLOURS

PAGES = ("images/tides/001.png", "images/tides/002.png")
RECORD: dict[str, Any] = {
    "id": "tides-q1",
    "document": "tides",
    "subject": "vision",
    "type": "figure_table",
    "pages": list(PAGES),
    "question": "What colour has the best method?",
    "options": COLOURS,
    "answer": "B",
    "evidence": {"pages": [1, 2], "sources": ["figure 1", "table 2"]},
}


def page(shade: int, form: str = "PNG") -> bytes:
    """A page of one shade."""
    file = io.BytesIO()
    Image.new("RGB", (96, 128), (shade, shade, shade)).save(file, form)
    return file.getvalue()


def draw_pages(folder: Path, count: int = 2) -> None:
    """A folder of numbered pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        (folder / f"{number:03}.png").write_bytes(page(20 * number))


def write_dataset(folder: Path, records: Sequence[Mapping[str, Any]], **beside: str) -> Path:
    """A data set of records over the pages of one document; `beside` are further files' texts by name."""
    draw_pages(folder / "images" / "tides")
    (folder / "samples").mkdir(parents=True)
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "mmcr"\n')
    (folder / "samples" / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    for name, text in beside.items():
        (folder / name).write_text(text)
    return folder


def bring(
    source: Path, pictures: Path, target: Path, benchmark: Benchmark[Any, Any] | None = None, **more: Any
) -> ImportSummary:
    """Import a file of records, PDF documents rendered."""
    rendering = DocumentRendering(render_pages, more.pop("dpi", 72))
    return import_dataset(
        benchmark or MMCR(), source, pictures, target, check_image=read_header, rendering=rendering, **more
    )


def official_row(index: int, rotation: int = 0, **changes: Any) -> dict[str, Any]:
    """A row as the official loader reads it; rotations shift the options to the left."""
    texts = list(COLOURS.values())
    order = texts[rotation:] + texts[:rotation]
    return {
        "index": index + 1_000_000 * rotation,
        "question": f"Question {index}?",
        **dict(zip("ABCDE", order, strict=True)),
        "answer": "ABCDE"[order.index(COLOURS["B"])],
        "category": "Figure-Table Comprehension",
        **changes,
    }


def encoded(*shades: int) -> str:
    """Pictures as the table holds several: a bracketed list of texts in base64."""
    return str([base64.b64encode(page(shade, "JPEG")).decode() for shade in shades])


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A table with tabs."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_pdf(path: Path, sizes: Sequence[tuple[int, int]]) -> Path:
    """A PDF whose pages have these sizes in points."""
    pages = [Image.new("RGB", size, (255, 40 * number, 0)) for number, size in enumerate(sizes)]
    pages[0].save(path, "PDF", resolution=72, save_all=True, append_images=pages[1:])
    return path
