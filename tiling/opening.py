"""Opens images by what stands for them: files of this machine, and versions of files elsewhere."""

from collections.abc import Callable
from pathlib import Path

from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.remote.addresses import check_remote_name, unlisted_error
from gigavqa.tiling.remote.file import RemoteFile
from gigavqa.tiling.remote.images import RemoteImages, RemoteStats, digest_at

_MADE: list[RemoteImages] = []
_MAKERS: list[Callable[[], RemoteImages]] = []


def use_remote_images(make: Callable[[], RemoteImages]) -> None:
    """Let this process read images elsewhere, by what `make` returns when the first is asked for."""
    _MADE.clear()
    _MAKERS[:] = [make]


def locate_remote(url: str, pin: str = "") -> Path:
    """Return what stands here for a file elsewhere, of the version `pin` where one is meant.

    Raises as `RemoteImages.locate` does, and for all of them ImageAddressError in a process that reads none.
    """
    if not _MAKERS:
        raise unlisted_error(check_remote_name(url))
    if not _MADE:
        _MADE.append(_MAKERS[0]())
    return _MADE[0].locate(url, pin)


def remote_stats() -> RemoteStats:
    """Return what this process fetched of images elsewhere so far."""
    return _MADE[0].stats() if _MADE else RemoteStats()


def open_file(path: Path) -> OpenFile:
    """Open an image, or what stands for one elsewhere. Raises as `OpenFile` and RemoteImages do."""
    return RemoteFile(path, _MADE[0]) if _is_remote(path) else OpenFile(path)


def pinned_digest(path: Path) -> str | None:
    """Return the digest of the version that a path stands for; None of files here, which may change."""
    return digest_at(path) if _is_remote(path) else None


def _is_remote(path: Path) -> bool:
    return bool(_MADE) and path.parent.parent == _MADE[0].folder
