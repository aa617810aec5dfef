"""Renders the pages of a PDF document to image files, once, when a data set is imported."""

from collections.abc import Iterator
from pathlib import Path

import pypdfium2

from gigavqa.tiling.errors import ImageTooLargeError, ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.limits import check_pixels

DEFAULT_DPI = 144
"""Two pixels for each of a PDF's points: an A4 page is 1190 x 1684 pixels."""
MOST_PAGES = 1000
_POINTS_PER_INCH = 72


def render_pages(document: Path, folder: Path, dpi: int = DEFAULT_DPI) -> list[Path]:
    """Write every page of a PDF as a PNG file, named by its number, into `folder`; returns them in order.

    Raises ImageUnreadableError for what is no PDF, or one that needs a password, and ImageTooLargeError for more than a
    thousand pages and for pages beyond `gigavqa.tiling.limits`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with translate_decoder_errors(document):
        try:
            opened = pypdfium2.PdfDocument(document)
        except pypdfium2.PdfiumError as error:
            raise ImageUnreadableError(f"{document}: {error}") from error
        with opened:
            return [*_render_each(opened, document, folder, dpi)]


def _render_each(opened: pypdfium2.PdfDocument, document: Path, folder: Path, dpi: int) -> Iterator[Path]:
    if len(opened) > MOST_PAGES:
        raise ImageTooLargeError(f"{document}: {len(opened)} pages are more than {MOST_PAGES}")
    for number, page in enumerate(opened, start=1):
        scale = dpi / _POINTS_PER_INCH
        check_pixels(document, "pdf_page", Size(*(round(side * scale) for side in page.get_size())))
        path = folder / f"{number:03}.png"
        page.render(scale=scale).to_pil().convert("RGB").save(path, dpi=(dpi, dpi))
        yield path
