"""The interface by which files elsewhere are read, whatever protocol they are behind."""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class RemoteVersion:
    """One version of a file elsewhere: its address, bytes, and what its server calls this version.

    `tag` begins with `version:`, `etag:` or `modified:`. Without `has_ranges`, it is given whole or not at all.
    """

    url: str
    size: int
    tag: str
    has_ranges: bool = True

    @property
    def digest(self) -> str:
        """The name of the version, as of large files here: another one for whatever may be another content."""
        told = f"{self.url}\0{self.tag}\0{self.size}"
        return f"v{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()}"

    def fields(self) -> dict[str, str | int | bool]:
        """Return what it is made of, to be written down."""
        return asdict(self)


class RemoteHead(NamedTuple):
    """A version of a file, and its first bytes."""

    version: RemoteVersion
    data: bytes


class RangeReader(Protocol):
    """Reads files elsewhere. Thread-safe; every call ends within a time that its class states.

    Raises ImageAddressError for addresses that are not allowed, ImageNotFoundError, ImageUnavailableError, and
    ImageReplacedError where a file is not of the version that is asked for.
    """

    def require_allowed(self, url: str) -> None:
        """Raise ImageAddressError unless the operator lists this address."""

    def look(self, url: str, num_bytes: int) -> RemoteHead:
        """Find out which version there is now, and read its first bytes by the same request."""

    def read(self, version: RemoteVersion, start: int, stop: int) -> bytes:
        """Read these bytes of this version."""

    def read_whole(self, version: RemoteVersion) -> Iterator[bytes]:
        """Read all bytes of this version by one request, in pieces."""
