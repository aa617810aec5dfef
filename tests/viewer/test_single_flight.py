"""What is made once for all who ask is given up when the last of them leaves, and not before."""

import asyncio

import pytest

from gigavqa.viewer.single_flight import SingleFlightCache


@pytest.mark.parametrize("askers", [1, 2, 3])
async def test_work_is_given_up_with_its_last_asker(askers: int) -> None:
    """However many there were."""
    cache, given_up = SingleFlightCache[int](8, lambda _: 1), asyncio.Event()

    async def make() -> int:
        try:
            await asyncio.sleep(600)
        finally:
            given_up.set()
        return 1

    asking = [asyncio.create_task(cache.get("key", make)) for _ in range(askers)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for number, one in enumerate(asking, start=1):
        assert not given_up.is_set()
        one.cancel()
        await asyncio.gather(one, return_exceptions=True)
        await asyncio.sleep(0)
        assert given_up.is_set() is (number == askers)
