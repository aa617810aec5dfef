"""Opens images by what stands for them: files of this machine, and versions of files elsewhere."""

from collections.abc import Callable
from pathlib import Path

from gigavqa.tiling.errors import ImageAddressError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.remote.file import RemoteFile
from gigavqa.tiling.remote.images import RemoteImages, digest_at

_MADE: list[RemoteImages] = []
_MAKERS: list[Callable[[], RemoteImages]] = []


def use_remote_images(make: Callable[[], RemoteImages]) -> None:
    """Let this process read images elsewhere, by what `make` returns when the first is asked for."""
    _MADE.clear()
    _MAKERS[:] = [make]


def remote_images() -> RemoteImages:
    """Return the images elsewhere that this process reads. Raises ImageAddressError where it reads none."""
    if not _MAKERS:
        raise ImageAddressError("images elsewhere are not read here")
    if not _MADE:
        _MADE.append(_MAKERS[0]())
    return _MADE[0]


def open_file(path: Path) -> OpenFile:
    """Open an image, or what stands for one elsewhere. Raises as `OpenFile` and RemoteImages do."""
    return RemoteFile(path, _MADE[0]) if _is_remote(path) else OpenFile(path)


def pinned_digest(path: Path) -> str | None:
    """Return the digest of the version that a path stands for; None of files here, which may change."""
    return digest_at(path) if _is_remote(path) else None


def _is_remote(path: Path) -> bool:
    return bool(_MADE) and path.parent.parent == _MADE[0].folder
