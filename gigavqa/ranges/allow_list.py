"""The addresses that images are read from: those that the operator lists, and none by itself."""

from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from gigavqa.tiling.remote.addresses import unlisted_error

_PORTS = {"http": 80, "https": 443}


class AllowList:
    """Hosts, buckets and folders in them, as `https://tiles.example.org/` or `s3://bucket/folder/`."""

    def __init__(self, prefixes: Sequence[str]) -> None:
        self._prefixes = [(_place(parts), _folder(parts.path)) for parts in map(urlsplit, prefixes)]

    def require(self, url: str) -> None:
        """Raise ImageAddressError unless the address lies below a listed one."""
        parts = urlsplit(url)
        place = _place(parts)
        if any(place == listed and parts.path.startswith(folder) for listed, folder in self._prefixes):
            return
        raise unlisted_error(url)


def _place(parts: SplitResult) -> tuple[str, str, int | None]:
    if parts.scheme not in _PORTS:  # a bucket's name is as it is written
        return parts.scheme, parts.netloc, None
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme)


def _folder(path: str) -> str:
    return f"{path.rstrip('/')}/"
