"""Files elsewhere for threads that wait: by HTTP or from an object store, as their addresses say."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from gigavqa.ranges.allow_list import AllowList
from gigavqa.ranges.attempts import TransientFaultError, attempt_again
from gigavqa.ranges.http_ranges import HttpRanges
from gigavqa.ranges.object_stores import ObjectStores
from gigavqa.ranges.outages import Outages
from gigavqa.ranges.routes import ListedRoute
from gigavqa.runtime.home import Home
from gigavqa.tiling.errors import ImageUnavailableError
from gigavqa.tiling.opening import use_remote_images
from gigavqa.tiling.remote.images import LOOK_SECONDS, RemoteImages
from gigavqa.tiling.remote.reader import RemoteHead, RemoteVersion

COMMAND_SECONDS = 24 * 3600.0
"""What is found of an image elsewhere holds for as long as a command, or an import, takes."""
_WHOLE_SECONDS = 600.0
Result = TypeVar("Result")


class RangeSources:
    """A RangeReader of what the operator lists: each call ends within `seconds`, and one for a whole file within ten
    minutes. A host that takes no connection is asked again after `outage_seconds`.
    """

    def __init__(
        self,
        prefixes: Sequence[str],
        private_hosts: Sequence[str] = (),
        seconds: float = 60.0,
        outage_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._allowed = AllowList(prefixes)
        self._seconds = seconds
        self._http = HttpRanges(ListedRoute(self._allowed.require, frozenset(private_hosts)))
        self._objects = HttpRanges(ObjectStores())
        self._outages = Outages(outage_seconds)
        self._loop = asyncio.new_event_loop()
        self._starting = threading.Lock()
        self._process = 0

    def require_allowed(self, url: str) -> None:
        """Raise ImageAddressError unless the operator lists this address."""
        self._allowed.require(url)

    def look(self, url: str, num_bytes: int) -> RemoteHead:
        """Find out which version there is now, and read its first bytes by the same request."""
        return self._run(self._attempt(url, partial(self._reader(url).look, url, num_bytes)))

    def read(self, version: RemoteVersion, start: int, stop: int) -> bytes:
        """Read these bytes of this version."""
        return self._run(self._attempt(version.url, partial(self._reader(version.url).read, version, start, stop)))

    def read_whole(self, version: RemoteVersion) -> Iterator[bytes]:
        """Read all bytes of this version by one request, in pieces."""
        pieces = self._reader(version.url).pieces(version)
        done = object()

        async def following() -> bytes | object:
            try:
                async with asyncio.timeout_at(ends):
                    return await anext(pieces, done)
            except (TimeoutError, TransientFaultError) as error:
                raise ImageUnavailableError(f"{version.url}: its server does not give it: {error}") from error

        ends = self._loop.time() + _WHOLE_SECONDS
        try:
            while isinstance(piece := self._run(following()), bytes):
                yield piece
        finally:
            self._run(pieces.aclose())  # type: ignore[attr-defined]

    async def _attempt(self, url: str, attempt: Callable[[], Awaitable[Result]]) -> Result:
        return await attempt_again(url, attempt, self._seconds, self._outages)

    def _reader(self, url: str) -> HttpRanges:
        return self._http if url.startswith(("https://", "http://")) else self._objects

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        with self._starting:
            if self._process != os.getpid():  # threads do not live on in a fork
                self._process = os.getpid()
                threading.Thread(target=self._loop.run_forever, daemon=True, name="remote files").start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def make_remote_images(home: Home, look_seconds: float = LOOK_SECONDS) -> RemoteImages:
    """Return the images elsewhere that an installation's settings list; what is found of them holds so long."""
    reader = RangeSources(home.remote_images, home.remote_private_hosts, home.remote_seconds, look_seconds)
    return RemoteImages(
        home.remote,
        reader,
        capacity=home.remote_bytes,
        most_whole=home.remote_file_bytes,
        look_seconds=look_seconds,
    )


def remote_environment(home: Home) -> dict[str, str]:
    """Return the variables by which another process reads the same images elsewhere."""
    return {
        "GIGAVQA_HOME": str(home.folder),
        "GIGAVQA_REMOTE_IMAGES": ",".join(home.remote_images),
        "GIGAVQA_REMOTE_PRIVATE_HOSTS": ",".join(home.remote_private_hosts),
        "GIGAVQA_REMOTE_BYTES": str(int(home.remote_bytes)),
        "GIGAVQA_REMOTE_FILE_BYTES": str(int(home.remote_file_bytes)),
        "GIGAVQA_REMOTE_SECONDS": str(home.remote_seconds),
    }


def read_remote_images(home: Home, look_seconds: float = LOOK_SECONDS) -> None:
    """Let this process read the images elsewhere that its settings list, from when it is asked for the first."""
    use_remote_images(partial(make_remote_images, home, look_seconds))
