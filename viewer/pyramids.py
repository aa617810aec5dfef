"""Makes the pyramids of flat pictures that somebody looks at closely, one at a time, behind the pictures themselves."""

import asyncio
import logging
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cachetools import TTLCache

from gigavqa.tiling.decode_threads import lower_priority
from gigavqa.tiling.errors import ImageChangedError, TilingError
from gigavqa.tiling.ingest import make_pyramid, pyramid_path
from gigavqa.viewer.errors import ViewerBusyError
from gigavqa.viewer.images import ViewerImage

log = logging.getLogger(__name__)
_POLL_SECONDS = 0.5
_FAILURE_TTL_SECONDS = 600.0
_MOST_PENDING = 16
_BYTES_PER_PIXEL = 4  # of all levels, if nothing could be compressed, which is twice what pictures take
_LEAST_FREE_BYTES = 2 * 2**30  # which others of the installation need more


class _BuildStoppedError(Exception):
    """The viewer ends; what was begun is given up."""


class PyramidBuilder:
    """Pyramids in `folder`, which workers and `gigavqa ingest` fill, too; for one event loop."""

    def __init__(self, folder: Path, patience_seconds: float) -> None:
        self._folder = folder
        self._patience = patience_seconds
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="pyramid", initializer=lower_priority)
        self._stopping = threading.Event()
        self._underway: dict[str, asyncio.Future[None]] = {}
        self._shares: dict[str, float] = {}
        self._damaged: TTLCache[str, TilingError] = TTLCache(1024, _FAILURE_TTL_SECONDS)
        self.made = 0

    async def wait_for(self, picture: ViewerImage) -> Path:
        """Return the pyramid of a picture; begin to make it if nobody does.

        Raises BusyError when it is not there after a while, or cannot be written, and TilingError subclasses when the
        picture is damaged, which is remembered for ten minutes.
        """
        if error := self._damaged.get(picture.content):
            raise error
        if not (making := self._underway.get(picture.content)):
            self._require_room(picture)
            making = self._begin(picture)
        try:
            async with asyncio.timeout(self._patience):
                await asyncio.shield(making)
        except TimeoutError as error:
            share = self._shares.get(picture.content, 0.0)
            raise ViewerBusyError(
                f"the pyramid of '{picture.name}' is being made, {share:.0%} so far; come again"
            ) from error
        except OSError as error:
            raise ViewerBusyError(f"no pyramid of '{picture.name}' can be written: {error.strerror}") from error
        return pyramid_path(picture.digest, self._folder, picture.tone)

    def close(self) -> None:
        """Give up what is being made; what is left of it is deleted."""
        self._stopping.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _require_room(self, picture: ViewerImage) -> None:
        """Whoever may look at pictures must not be able to fill the disk, nor a list without end."""
        if len(self._underway) >= _MOST_PENDING:
            raise ViewerBusyError(
                f"{len(self._underway)} pyramids are made before that of '{picture.name}'; come again"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self._folder).free < _BYTES_PER_PIXEL * picture.size.area + _LEAST_FREE_BYTES:
            raise ViewerBusyError(
                f"the disk has no room for the pyramid of '{picture.name}'; its operator can make some"
            )

    def _begin(self, picture: ViewerImage) -> "asyncio.Future[None]":
        making = asyncio.wrap_future(self._pool.submit(self._make, picture))
        self._underway[picture.content] = making
        making.add_done_callback(lambda done: self._end(picture, done))
        return making

    def _end(self, picture: ViewerImage, making: "asyncio.Future[None]") -> None:
        del self._underway[picture.content]
        self._shares.pop(picture.content, None)
        error = None if making.cancelled() else making.exception()
        if isinstance(error, TilingError) and not isinstance(error, ImageChangedError):
            self._damaged[picture.content] = error
        if error and not self._stopping.is_set():
            log.warning("no pyramid of %s: %s", picture.name, error)

    def _make(self, picture: ViewerImage) -> None:
        def progress(done: int, total: int) -> None:
            self._shares[picture.content] = done / total
            if self._stopping.is_set():
                raise _BuildStoppedError

        pyramid = pyramid_path(picture.digest, self._folder, picture.tone)
        while not pyramid.exists():  # another process may be making it, and may give it up
            self.made += make_pyramid(
                picture.path, self._folder, progress, digest=picture.digest, tone=picture.tone, wait=False
            )
            if not pyramid.exists() and self._stopping.wait(_POLL_SECONDS):
                raise _BuildStoppedError
