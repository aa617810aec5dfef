"""Polling instead of sleeping."""

import asyncio
import time
from collections.abc import Awaitable, Callable

_SHORTEST, _LONGEST, _SHARE = 0.02, 0.1, 0.05
"""Seconds between two looks, and their share of the time that has passed: what is waited for needs the core."""


def wait_until(condition: Callable[[], object], *, timeout: float = 60.0, what: str = "the condition") -> None:
    """Poll `condition` until it is true; fails the test after `timeout` seconds; busy machines need many."""
    begun = time.monotonic()
    while not condition():
        passed = time.monotonic() - begun
        if passed > timeout:
            raise AssertionError(f"{what} did not come true within {timeout:g} s")
        time.sleep(min(_LONGEST, max(_SHORTEST, _SHARE * passed)))


async def async_wait_until(
    condition: Callable[[], Awaitable[object]],
    *,
    timeout: float = 60.0,  # noqa: ASYNC109 - it ends the test with words
    what: str = "the condition",
) -> None:
    """Poll the coroutine function `condition` until it returns something true; fails the test after `timeout` s."""
    deadline = time.monotonic() + timeout
    while not await condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {timeout:g} s")
        await asyncio.sleep(0.02)
