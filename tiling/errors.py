"""What can be wrong with a picture. Every class's docstring states the fact; messages name the file."""


class TilingError(Exception):
    """A view could not be turned into correct pixels."""


class ImageNotFoundError(TilingError):
    """The image file does not exist under its root."""


class PathEscapesError(TilingError):
    """The image's name is absolute, or leads out of its root."""


class ImageUnreadableError(TilingError):
    """The file is not an image that can be decoded: empty, truncated, corrupt, or of another kind."""


class ImageUnsupportedError(TilingError):
    """The file is an image, of a format, layout or pixel type that is not served."""


class ImageTooLargeError(TilingError):
    """The image exceeds the pixel limit of its format."""


class RegionError(TilingError):
    """The region is malformed, empty, or reaches outside the image."""


class BudgetError(TilingError):
    """The model family's preprocessing refuses an image of this size or aspect ratio."""
