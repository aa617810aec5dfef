"""The folder under which images are named, and out of which no name can lead."""

from pathlib import Path, PurePosixPath

from tiling.errors import ImageNotFoundError, PathEscapesError


class ImageRoot:
    """A folder of images; names are relative POSIX paths beneath it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def locate(self, name: str) -> Path:
        """Find the file called `name`, links followed.

        Raises PathEscapesError for absolute names, `..`, and links that lead out; ImageNotFoundError where no file is.
        """
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
