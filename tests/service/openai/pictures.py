"""Pictures as clients send them."""

import base64
import io
from typing import Any

import numpy as np
import tifffile
from PIL import Image


def png(seed: int, size: tuple[int, int] = (320, 256)) -> bytes:
    """A picture of noise, the same for the same seed."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


def twin(tile: int) -> bytes:
    """A TIFF of 12.6 MB in uncompressed tiles, one of which has this grey: twins differ in nothing else."""
    pixels = np.full((2048, 2048, 3), 200, np.uint8)
    pixels[1024:1280, 1024:1280] = tile
    file = io.BytesIO()
    tifffile.imwrite(file, pixels, tile=(256, 256), photometric="rgb", metadata=None)
    return file.getvalue()


def deep(size: tuple[int, int] = (64, 48)) -> bytes:
    """A TIFF of one band of 16 bits, of which 12 are used, as scanners and satellites write it."""
    file = io.BytesIO()
    pixels = np.arange(size[0] * size[1], dtype=np.uint16).reshape(size[1], size[0]) % 4096
    tifffile.imwrite(file, pixels, photometric="minisblack", metadata=None)
    return file.getvalue()


def data_url(picture: bytes) -> str:
    """The picture in an address."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def asking(*urls: str, text: str = "Which one?\nA. One\nB. Two") -> list[dict[str, Any]]:
    """A chat of one message that shows pictures and asks."""
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [{"role": "user", "content": [*shown, {"type": "text", "text": text}]}]
