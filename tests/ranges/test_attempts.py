"""What is said of a host that is down is what its last attempt met."""

import pytest

from gigavqa.ranges.attempts import TransientFaultError, attempt_again
from gigavqa.ranges.outages import FAILURES, Outages
from gigavqa.tiling.errors import ImageUnavailableError

URL = "https://away.example/x.tif"


async def test_a_host_that_is_down_is_told_by_its_last_fault() -> None:
    """Of four attempts, each with a fault of its own."""
    outages, faults = Outages(60), iter(range(4 * FAILURES))

    async def attempt() -> None:
        raise TransientFaultError(f"fault {next(faults)}", is_outage=True)

    for _ in range(FAILURES):
        with pytest.raises(ImageUnavailableError, match="in 4 attempts"):
            await attempt_again(URL, attempt, 60, outages)
    with pytest.raises(ImageUnavailableError, match=rf"fault {4 * FAILURES - 1}; it took no connection"):
        await attempt_again(URL, attempt, 60, outages)
