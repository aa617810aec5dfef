"""The pictures that the suites use: seeded, coarse enough for every codec, and nowhere the same."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def textured(width: int, height: int, seed: int = 0) -> NDArray[np.uint8]:
    """Draw coarse structure of 6 pixels with fine noise on top, H x W x 3 RGB."""
    draw = np.random.default_rng(seed)
    coarse = draw.integers(0, 256, (height // 6 + 1, width // 6 + 1, 3), np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    grains = draw.integers(-8, 9, smooth.shape, np.int8)
    grained: NDArray[np.int16] = np.add(smooth, grains, dtype=np.int16)
    return grained.clip(0, 255).astype(np.uint8)
