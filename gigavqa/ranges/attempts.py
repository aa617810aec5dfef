"""How often a file elsewhere is asked for, for how long, and what is said of one that changed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gigavqa.ranges.outages import Outages
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
    """An attempt failed as the next one may not; `pause` is what the server asks for, in seconds.

    Where `is_outage`, the file's host took no connection.
    """

    def __init__(self, told: str, pause: float = 0.0, *, is_outage: bool = False) -> None:
        super().__init__(told)
        self.pause = min(pause, _MOST_PAUSE_SECONDS)
        self.is_outage = is_outage


async def attempt_again(url: str, attempt: Callable[[], Awaitable[Result]], seconds: float, outages: Outages) -> Result:
    """Make four attempts within so many seconds. Raises what an attempt does, and ImageUnavailableError.

    None is made at a host that is down.
    """
    outages.require_up(url)
    faults: list[TransientFaultError] = []
    told = ""
    try:
        async with asyncio.timeout(seconds):
            for pause in (*PAUSES, None):
                try:
                    return await attempt()
                except TransientFaultError as error:
                    faults.append(error)
                    if pause is not None:
                        await asyncio.sleep(max(pause, error.pause))
        told = f", in {len(PAUSES) + 1} attempts: {faults[-1]}"
    except TimeoutError:
        told = f": {faults[-1] if faults else 'it is silent, or slow'}, for {seconds:g} s"
    finally:
        is_outage = told and faults and all(fault.is_outage for fault in faults)
        outages.note(url, str(faults[-1]) if is_outage else "")
    raise ImageUnavailableError(f"{url}: its server does not give it{told}")
