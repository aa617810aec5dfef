"""Streams that end with their source, or when the gateway stops."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

Item = TypeVar("Item")


async def until_stopped(source: AsyncIterator[Item], stopping: asyncio.Event) -> AsyncIterator[Item]:
    """Pass on what `source` yields; ends at once when `stopping` is set, also while the source is waiting."""
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        while not stopping.is_set():
            following = asyncio.ensure_future(_next(source))
            try:
                await asyncio.wait({following, stopped}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():
                    following.cancel()
                    await asyncio.wait({following})
            if following.cancelled():
                return
            for item in following.result():
                yield item
                break
            else:
                return
    finally:
        stopped.cancel()


async def _next(source: AsyncIterator[Item]) -> tuple[Item, ...]:
    # A tuple, because StopAsyncIteration cannot leave a task.
    async for item in source:
        return (item,)
    return ()


async def pause(seconds: float, stopping: asyncio.Event) -> None:
    """Wait for `seconds`, or until `stopping` is set."""
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return


async def wait_for_either(first: asyncio.Event, second: asyncio.Event, seconds: float) -> None:
    """Wait until one of the events is set, or for `seconds`."""
    waiting = {asyncio.ensure_future(event.wait()) for event in (first, second)}
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
