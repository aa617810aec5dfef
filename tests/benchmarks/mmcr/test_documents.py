"""PDF documents: their pages become images once, at a resolution that is recorded; what is none is refused by name."""

import json
import tomllib
from pathlib import Path

import pytest

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.tiling.errors import ImageTooLargeError, ImageUnreadableError
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.pdf_pages import render_pages
from tests.benchmarks.mmcr.files import RECORD, bring, draw_pages, write_pdf

RECORDS = [{**RECORD, "id": f"q{at}", "pages": "papers/tides.pdf"} for at in (1, 2)]


def write_source(folder: Path) -> Path:
    """Two questions about one PDF of two pages."""
    (folder / "in" / "papers").mkdir(parents=True)
    write_pdf(folder / "in" / "papers" / "tides.pdf", [(120, 160), (160, 120)])
    (folder / "q.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return folder / "q.jsonl"


def test_pages_of_a_pdf_become_images_once(tmp_path: Path) -> None:
    """Both questions share two pages of twice the size in points at 144 dots per inch, which the data set records."""
    made = bring(write_source(tmp_path), tmp_path / "in", tmp_path / "data" / "papers", dpi=144)
    assert (made.samples, made.images) == (2, 2)
    first, second = load_dataset(made.folder).samples
    assert first.images == second.images == ("images/papers/tides/001.png", "images/papers/tides/002.png")
    assert [tuple(read_header(made.folder / image).size) for image in first.images] == [(240, 320), (320, 240)]
    assert tomllib.loads((made.folder / "dataset.toml").read_text())["pages_dpi"] == 144


def test_what_is_no_pdf_is_refused(tmp_path: Path) -> None:
    """Nothing is made, and the record is named."""
    source = write_source(tmp_path)
    (tmp_path / "in" / "papers" / "tides.pdf").write_text("no PDF")
    with pytest.raises(DatasetInvalidError, match=r"q.jsonl:1: .*tides.pdf: Failed to load document"):
        bring(source, tmp_path / "in", tmp_path / "data" / "papers")
    assert list((tmp_path / "data").iterdir()) == []


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is never drawn beyond its limit, nor a document of more pages than a thousand."""
    path = write_pdf(tmp_path / "a.pdf", [(120, 160)] * 3)
    monkeypatch.setenv("GIGAVQA_MAX_PIXELS_PDF_PAGE", "1e4")
    with pytest.raises(ImageTooLargeError, match="GIGAVQA_MAX_PIXELS_PDF_PAGE"):
        render_pages(path, tmp_path / "out")
    monkeypatch.setattr("gigavqa.tiling.pdf_pages.MOST_PAGES", 2)
    with pytest.raises(ImageTooLargeError, match="3 pages are more than 2"):
        render_pages(path, tmp_path / "out")
    with pytest.raises(ImageUnreadableError):
        render_pages(tmp_path / "none.pdf", tmp_path / "out")


def test_a_page_that_is_a_link_out_of_the_folder_is_named(tmp_path: Path) -> None:
    """A document without that page would be another one."""
    draw_pages(tmp_path / "in" / "tides", 3)
    (tmp_path / "elsewhere.png").write_bytes((tmp_path / "in" / "tides" / "002.png").read_bytes())
    (tmp_path / "in" / "tides" / "002.png").unlink()
    (tmp_path / "in" / "tides" / "002.png").symlink_to(tmp_path / "elsewhere.png")
    (tmp_path / "q.jsonl").write_text(json.dumps({**RECORD, "pages": "tides", "evidence": None}))
    with pytest.raises(DatasetInvalidError, match=r"q.jsonl:1: .*'tides/002.png' is a link that leads out of .*cp -rL"):
        bring(tmp_path / "q.jsonl", tmp_path / "in", tmp_path / "data" / "papers")
