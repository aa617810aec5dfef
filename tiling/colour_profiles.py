"""ICC profiles: colours as a file's profile means them, in sRGB, where somebody declares it."""

import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

MOST_BYTES = 16 * 2**20


def to_srgb(rgb: NDArray[np.uint8], profile: bytes) -> NDArray[np.uint8]:
    """Convert H x W x 3 RGB of a profile to sRGB, by the profile's own rendering intent (Pillow's LittleCMS).

    Raises ValueError for a profile of other colours, or none at all.
    """
    image = Image.fromarray(np.ascontiguousarray(rgb))
    converted = ImageCms.applyTransform(image, _transform(profile))
    return np.asarray(converted if converted is not None else image)


def require_profile(profile: bytes) -> None:
    """Raise ValueError for a profile that cannot be applied to RGB."""
    _transform(profile)


@lru_cache(maxsize=64)
def _transform(profile: bytes) -> ImageCms.ImageCmsTransform:
    if len(profile) > MOST_BYTES:
        raise ValueError(f"it has {len(profile)} bytes, more than {MOST_BYTES}")
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        intent = ImageCms.Intent(ImageCms.getDefaultIntent(source))
        return ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), "RGB", "RGB", renderingIntent=intent)
    except (ImageCms.PyCMSError, OSError, TypeError) as error:
        raise ValueError(f"it cannot be read as one of RGB: {error}") from error
