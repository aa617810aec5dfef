"""How often a file elsewhere is asked for, for how long, and what is said of one that changed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gigavqa.tiling.errors import ImageReplacedError, ImageUnavailableError

PAUSES = (0.2, 0.8, 2.4)
"""Seconds before each further attempt."""
CONNECT_SECONDS, SILENT_SECONDS = 5.0, 10.0
"""A server may take so long to accept a connection, and so long to send anything."""
_MOST_PAUSE_SECONDS = 10.0

Result = TypeVar("Result")


def replaced_error(url: str) -> ImageReplacedError:
    """Return what is said of a file of which another version was read before."""
    return ImageReplacedError(f"{url}: the image changed while it was in use; submit the job anew")


class TransientFaultError(Exception):
    """An attempt failed as the next one may not; `pause` is what the server asks for, in seconds."""

    def __init__(self, told: str, pause: float = 0.0) -> None:
        super().__init__(told)
        self.pause = min(pause, _MOST_PAUSE_SECONDS)


async def attempt_again(url: str, attempt: Callable[[], Awaitable[Result]], seconds: float) -> Result:
    """Make four attempts within so many seconds. Raises what an attempt does, and ImageUnavailableError."""
    told = ""
    try:
        async with asyncio.timeout(seconds):
            for pause in (*PAUSES, None):
                try:
                    return await attempt()
                except TransientFaultError as error:
                    told = str(error)
                    if pause is not None:
                        await asyncio.sleep(max(pause, error.pause))
    except TimeoutError as error:
        told = f"{told or 'it is silent, or slow'}, for {seconds:g} s"
        raise ImageUnavailableError(f"{url}: its server does not give it: {told}") from error
    raise ImageUnavailableError(f"{url}: its server does not give it, in {len(PAUSES) + 1} attempts: {told}")
