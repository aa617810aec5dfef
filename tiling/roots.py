"""The folder under which images are named, and out of which no name can lead."""

from pathlib import Path, PurePosixPath

from tiling.errors import ImageNotFoundError, PathEscapesError

UPLOAD = "upload:"
"""What the names of pictures begin with that somebody sent; what follows is relative to the folder of uploads."""


class ImageRoot:
    """A folder of images; names are relative POSIX paths beneath it, or beneath `uploads` where they begin so."""

    def __init__(self, folder: Path, uploads: Path | None = None) -> None:
        self.folder = folder.resolve()
        self._uploads = ImageRoot(uploads) if uploads else None

    def locate(self, name: str) -> Path:
        """Find the file called `name`, links followed.

        Raises PathEscapesError for absolute names, `..`, and links that lead out; ImageNotFoundError where no file is.
        """
        if self._uploads and name.startswith(UPLOAD):
            return self._uploads.locate(name.removeprefix(UPLOAD))
        pure = PurePosixPath(name)
        if not name or "\0" in name or "\\" in name or pure.is_absolute() or ".." in pure.parts:
            raise PathEscapesError(f"image '{name}' is not a relative path beneath the image root")
        try:
            path = (self.folder / pure).resolve()
            exists = path.is_file()
        except (OSError, RuntimeError) as error:  # a name longer than the file system allows, links in a circle
            raise ImageNotFoundError(f"image '{name}' cannot exist under the image root") from error
        if not path.is_relative_to(self.folder):
            raise PathEscapesError(f"image '{name}' is a link that leads out of the image root")
        if not exists:
            raise ImageNotFoundError(f"image '{name}' does not exist under the image root")
        return path
