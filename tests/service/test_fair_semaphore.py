"""Heavy work is done for owners in turn: whoever asks for much waits behind himself; nothing is made for who left."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.service.results.report_builder import Reports
from tests.service.gateways import RunningGateway
from tests.waiting import async_wait_until, wait_until


async def test_another_owner_never_waits_for_one_who_asks_for_much() -> None:
    """Of two places one owner has one, however often he asks."""
    turns, done = FairSemaphore(2, 1), asyncio.Event()
    begun: list[str] = []

    async def ask(owner: str) -> None:
        async with turns.of(owner):
            begun.append(owner)
            if owner != "b":
                await done.wait()

    greedy = [asyncio.create_task(ask("a")) for _ in range(10)]
    await async_wait_until(_is(begun, ["a"]), what="the first of many")
    await asyncio.wait_for(ask("b"), 5)
    assert begun == ["a", "b"]
    done.set()
    await asyncio.gather(*greedy)
    assert begun.count("a") == 10


async def test_owners_that_wait_get_the_next_place_in_turn() -> None:
    """Each after all others, in the order in which they began to wait."""
    turns, begun = FairSemaphore(1, 1), []
    first = turns.of("z")
    await first.__aenter__()

    async def ask(owner: str) -> None:
        async with turns.of(owner):
            begun.append(owner)

    tasks = [asyncio.create_task(ask(owner)) for owner in "aaaabbc"]
    await asyncio.sleep(0)
    await first.__aexit__(None, None, None)
    await asyncio.gather(*tasks)
    assert "".join(begun) == "abcabaa"


async def test_who_gives_up_waiting_leaves_no_place_behind() -> None:
    """Before his turn, and just as it comes."""
    turns = FairSemaphore(1, 1)
    async with turns.of("a"):
        waiting = [asyncio.create_task(_hold(turns)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await asyncio.wait_for(_hold(turns), 5)


async def _hold(turns: FairSemaphore) -> None:
    async with turns.of("b"):
        await asyncio.sleep(0)


def _is(found: list[str], wanted: list[str]) -> Any:
    async def is_so() -> bool:
        return found == wanted

    return is_so


def test_a_report_that_nobody_waits_for_is_not_made(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of seven clients six left while the first one's was made."""
    made: list[str] = []
    go_on = threading.Event()

    def rendered(self: Reports, asked: Any, form: str, loop: Any) -> str:
        made.append(form)
        go_on.wait(30)
        return "{}"

    monkeypatch.setattr(Reports, "_render", rendered)
    url = f"{gateway.url}/v1/jobs/{gateway.submit().json()['id']}/report"
    first = threading.Thread(target=lambda: httpx.get(url, timeout=60))
    first.start()
    wait_until(lambda: made == ["json"], what="the first report")
    with ThreadPoolExecutor(6) as pool:
        left = [pool.submit(httpx.get, url, timeout=0.5) for _ in range(6)]
        assert [type(one.exception()) for one in left] == [httpx.ReadTimeout] * 6
    go_on.set()
    first.join()
    assert httpx.get(url, params={"format": "md"}, timeout=60).status_code == 200
    assert made == ["json", "md"]
