"""The folder under which images are named, and out of which no name can lead."""

import re
from contextlib import suppress
from pathlib import Path, PurePosixPath

from gigavqa.tiling.errors import ImageNotFoundError, PathEscapesError, quote_text
from gigavqa.tiling.image_folders import folder_kind
from gigavqa.tiling.opening import locate_remote
from gigavqa.tiling.remote.addresses import check_remote_name, is_remote_name

UPLOAD_PREFIX = "upload:"
"""What the names of pictures begin with that somebody sent; what follows is relative to the folder of uploads."""

MAX_NAME_LENGTH = 1024
"""Characters of a name of an image: longer ones are no names, and no path is made of them."""

DIGESTS_FOLDER = "digests"
"""Folder of the SHA-256 of each file of uploads' folder `files`, by the file's own name."""
_BY_CONTENT = re.compile(r"sha256/[0-9a-f]{2}/([0-9a-f]{64})")


class ImageRoot:
    """A folder of images; names are relative POSIX paths beneath it, or beneath `uploads` where they begin so."""

    def __init__(self, folder: Path, uploads: Path | None = None) -> None:
        self.folder = folder.resolve()
        self._uploads = ImageRoot(uploads) if uploads else None

    def stated_digest(self, name: str) -> str | None:
        """Return the SHA-256 of its content that is known of an upload since it arrived; None for all else."""
        if not (self._uploads and name.startswith(UPLOAD_PREFIX)):
            return None
        kind, _, rest = (within := name.removeprefix(UPLOAD_PREFIX)).partition("/")
        if kind == "files" and "/" not in rest:
            with suppress(OSError, ValueError):
                within = f"sha256/00/{(self._uploads.folder / DIGESTS_FOLDER / rest).read_text()}"
        stated = _BY_CONTENT.fullmatch(within)
        return stated[1] if stated else None

    def locate(self, name: str, pin: str = "") -> Path:
        """Find the file called `name`, links followed; of an address what stands for it here, of the version `pin`.

        Or the folder that is an image. Raises PathEscapesError for absolute names, `..`, and links that lead out;
        ImageNotFoundError where neither is, and for all in hidden folders: those of the root are somebody's unfinished
        work. Files elsewhere raise as `RemoteImages.locate` does.
        """
        if is_remote_name(name):
            return locate_remote(name, pin)
        if self._uploads and name.startswith(UPLOAD_PREFIX):
            return self._uploads.locate(name.removeprefix(UPLOAD_PREFIX))
        pure = _relative(name)
        try:
            path = (self.folder / pure).resolve()
            exists = (path.is_file() or folder_kind(path) is not None) and not pure.parts[0].startswith(".")
        except (OSError, RuntimeError, UnicodeError) as error:  # too long for the file system, in a circle, no text
            raise ImageNotFoundError(f"image '{quote_text(name)}' cannot exist under the image root") from error
        if not path.is_relative_to(self.folder):
            raise PathEscapesError(f"image '{quote_text(name)}' is a link that leads out of the image root")
        if not exists:
            raise ImageNotFoundError(f"image '{quote_text(name)}' does not exist under the image root")
        return path


def check_image_name(name: str) -> str:
    """Return what somebody wrote as the name of an image; only the service itself gives names to uploads.

    Nothing is looked at, so that what exists is refused as what does not. Raises PathEscapesError and
    ImageAddressError.
    """
    if name.startswith(UPLOAD_PREFIX):
        raise PathEscapesError(
            f"image '{quote_text(name)}' is no name of a picture; uploads are shown by their file_id"
        )
    if is_remote_name(name):
        return check_remote_name(name)
    _relative(name)
    return name


def _relative(name: str) -> PurePosixPath:
    if len(name) > MAX_NAME_LENGTH:
        raise PathEscapesError(
            f"image '{quote_text(name)}' has {len(name)} characters; names have at most {MAX_NAME_LENGTH}"
        )
    pure = PurePosixPath(name)
    if not name or "\0" in name or "\\" in name or pure.is_absolute() or ".." in pure.parts:
        raise PathEscapesError(f"image '{quote_text(name)}' is not a relative path beneath the image root")
    return pure
