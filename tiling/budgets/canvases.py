"""Canvases of tiles, of which families that tile pictures choose one for each picture."""

from collections.abc import Iterable

from gigavqa.tiling.geometry import Size


def fullest_canvas(size: Size, grids: Iterable[tuple[int, int]], tile: int) -> tuple[int, int]:
    """Return the columns and rows of tiles that keep the most of a picture's pixels, and of those that waste least.

    Of equal ones the first of `grids` counts. Source: `select_best_resolution` of transformers,
    image_processing_utils.py, and of vllm, transformers_utils/processors/deepseek_vl2.py.
    """
    best, most, least = (1, 1), 0, float("inf")
    for columns, rows in grids:
        width, height = columns * tile, rows * tile
        scale = min(width / size.width, height / size.height)
        kept = min(int(size.width * scale) * int(size.height * scale), size.area)
        wasted = width * height - kept
        if kept > most or (kept == most and wasted < least):
            best, most, least = (columns, rows), kept, wasted
    return best
