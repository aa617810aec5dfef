"""Peers of the viewer as small servers of one picture, as their own documentation puts them together.

    python -m performance.tile_servers openslide|rio-tiler IMAGE PORT

`GET /{scale}/{column}/{row}.jpg` answers with a tile of 512 pixels at 1/scale, JPEG of quality 85. Needs the peer's own
library alone, so that peers can be installed apart.
"""

# ruff: noqa: PLC0415 - a server imports its own library alone

import io
import math
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TILE = 512
QUALITY = 85
Tiles = Callable[[int, int, int], bytes]


def by_openslide(path: str) -> Tiles:
    """OpenSlide's DeepZoomGenerator, as its example server `deepzoom_server.py` uses it."""
    import openslide
    from openslide.deepzoom import DeepZoomGenerator

    tiles = DeepZoomGenerator(openslide.open_slide(path), tile_size=TILE, overlap=0, limit_bounds=False)

    def tile(scale: int, column: int, row: int) -> bytes:
        level = tiles.level_count - 1 - int(math.log2(scale))
        buffer = io.BytesIO()
        tiles.get_tile(level, (column, row)).save(buffer, "JPEG", quality=QUALITY)
        return buffer.getvalue()

    return tile


def by_rio_tiler(path: str) -> Tiles:
    """rio-tiler, on which titiler stands: the dataset is opened for each tile, as titiler does it."""
    import rasterio
    from rasterio.windows import Window

    def tile(scale: int, column: int, row: int) -> bytes:
        from rio_tiler.io import ImageReader

        side = TILE * scale
        with rasterio.Env(GDAL_DISABLE_READDIR_ON_OPEN="EMPTY_DIR"), ImageReader(path) as image:
            window = Window(column * side, row * side, side, side)  # of whole tiles: none at the edge is asked for
            left, top, right, bottom = window.col_off, window.row_off, window.col_off + side, window.row_off + side
            part = image.part((left, bottom, right, top), width=TILE, height=TILE, indexes=(1, 2, 3))
            return bytes(part.render(add_mask=False, img_format="JPEG", quality=QUALITY))

    return tile


def serve(tile: Tiles, port: int) -> None:
    """Answer until the process is ended."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/healthz":
                content = b"ok"
            else:
                scale, column, row = (int(part.removesuffix(".jpg")) for part in self.path.strip("/").split("/"))
                content = tile(scale, column, row)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    ThreadingHTTPServer.request_queue_size = (
        128  # as servers that are made for it have, or connections would be refused
    )
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve({"openslide": by_openslide, "rio-tiler": by_rio_tiler}[sys.argv[1]](sys.argv[2]), int(sys.argv[3]))
