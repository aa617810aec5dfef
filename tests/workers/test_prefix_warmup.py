"""Beginnings are prefilled once, before every chat that begins with them; counted on a list of what was asked."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.workers.engines.engine import EngineError, Message, PromptRaster
from gigavqa.workers.engines.prefix_warmup import PrefixWarmer, WarmPrefix, shared_prefixes, worth_warming

PIXELS = np.zeros((2, 2, 3), np.uint8)
FULL, LEFT, RIGHT = (PromptRaster(key, PIXELS) for key in ("full", "left", "right"))


def chat(*parts: str | PromptRaster, system: str | None = None) -> list[Message]:
    """A chat of one turn."""
    return [*([Message("system", (system,))] if system else []), Message("user", parts)]


class Prefills:
    """Notes the beginnings that are asked for; none is done before it is allowed."""

    def __init__(self, *, renewed: bool = False) -> None:
        self.asked: list[tuple[list[str], int]] = []
        self.allowed = asyncio.Event()
        self.error: Exception | None = None
        self.primers = PrefixWarmer(self._ask, renewed=renewed)

    async def prime(self, asked: Sequence[Message], priority: int) -> WarmPrefix:
        """Ask for what a chat begins with; the chat is answered at once."""
        async with self.primers.primed(asked, priority) as primed:
            return primed

    async def _ask(self, beginning: Sequence[Message], priority: int) -> int:
        self.asked.append(([raster.key for raster in beginning[-1].rasters], priority))
        await self.allowed.wait()
        if self.error:
            raise self.error
        return 100 * len(beginning[-1].rasters)


def test_a_chat_begins_with_its_first_view_and_with_all_that_lead() -> None:
    """What comes before them belongs to it; what follows a text does not."""
    begun = list(shared_prefixes(chat(FULL, LEFT, RIGHT, "How many?", LEFT, system="Be brief.")))
    shown = [[raster.key for raster in messages[-1].rasters] for messages in begun]
    assert shown == [["full"], ["full", "left", "right"]]
    assert all(messages[0] == Message("system", ("Be brief.",)) for messages in begun)
    assert [len(messages[-1].rasters) for messages in shared_prefixes(chat(FULL, "How many?"))] == [1]


def test_a_chat_without_leading_views_shares_no_beginning() -> None:
    """Whether it shows none, or shows one later."""
    assert not list(shared_prefixes(chat("How many?")))
    assert not list(shared_prefixes(chat("Look at", FULL)))


async def test_chats_that_come_together_wait_for_one_primer() -> None:
    """It is asked for once, at the priority of the first, and none goes on before it is done."""
    prefills = Prefills()
    asked = [prefills.prime(chat(FULL, f"Question {priority}?"), priority) for priority in (7, 8, 9)]
    waiting = [asyncio.create_task(question) for question in asked]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    prefills.allowed.set()
    assert await asyncio.gather(*waiting) == [(100, 15), (100, 17), (100, 19)]
    assert prefills.asked == [(["full"], 15)]
    assert prefills.primers.count == 1


async def test_longer_beginnings_follow_shorter_ones() -> None:
    """So that what stands behind the full image finds it; with another beginning nothing is shared."""
    prefills = Prefills()
    prefills.allowed.set()
    assert await prefills.prime(chat(FULL, LEFT, "?"), 0) == (200, 0)
    await prefills.prime(chat(RIGHT, LEFT, "?"), 0)
    await prefills.prime(chat(LEFT, "?"), 0)
    await prefills.prime(chat(LEFT, "?", system="Be brief."), 0)
    assert [keys for keys, _ in prefills.asked] == [
        ["full"],
        ["full", "left"],
        ["right"],
        ["right", "left"],
        ["left"],
        ["left"],
    ]


@pytest.mark.parametrize("renewed", [False, True])
async def test_each_chat_asks_anew_for_a_state_that_others_may_have_put_out(*, renewed: bool) -> None:
    """Which costs little where it is there; blocks of full attention are held by all that find them."""
    prefills = Prefills(renewed=renewed)
    prefills.allowed.set()
    for text in "ab":
        await prefills.prime(chat(FULL, text), 0)
    assert len(prefills.asked) == (2 if renewed else 1)


async def test_what_prompts_in_play_begin_with_is_asked_for_every_fourth_prompt() -> None:
    """At its own priority, also when those prompts begin with something else; and no more when all are answered."""
    prefills = Prefills(renewed=True)
    prefills.allowed.set()
    async with prefills.primers.primed(chat(FULL, "?"), 7):
        for _ in range(8):
            await prefills.prime(chat("?"), 8)
            await asyncio.sleep(0)
    for _ in range(8):
        await prefills.prime(chat("?"), 8)
    assert prefills.asked == 3 * [(["full"], 15)]


async def test_a_chat_of_several_views_goes_right_behind_its_primer() -> None:
    """Before all others of its picture, and after all of the picture before."""
    prefills = Prefills()
    prefills.allowed.set()
    asked = [(await prefills.prime(made, 4)).priority for made in (chat("?"), chat(FULL), chat(FULL, LEFT))]
    assert asked == [9, 9, 8]
    assert (await prefills.prime(chat(FULL, RIGHT, LEFT), 5)).priority > max(asked)


@pytest.mark.parametrize(
    ("model", "views"), [("qwen3-vl-8b", [2, 3, 7]), ("qwen3.5-27b", [1, 2, 3, 7])], ids=["full", "linear"]
)
def test_what_a_step_shares_anyhow_is_not_asked_for(model: str, views: list[int]) -> None:
    """One view of 16384 tokens is half a step; what is more than the context is refused, and never asked for.

    States of linear attention are not found again within a step, nor after it.
    """
    entry = load_catalogue()[model]
    large = np.broadcast_to(np.uint8(0), (4096, 4096, 3))
    begun = {number: chat(*(PromptRaster(f"{n}", large) for n in range(number))) for number in (1, 2, 3, 7, 8)}
    is_worth = worth_warming(entry, 32768)
    assert [number for number, beginning in begun.items() if is_worth(beginning)] == views


async def test_a_chat_that_is_cancelled_leaves_the_primer_to_the_others() -> None:
    """They get it, and it is not asked for again."""
    prefills = Prefills()
    first, second = (asyncio.create_task(prefills.prime(chat(FULL, text), 0)) for text in "ab")
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    prefills.allowed.set()
    assert await second == (100, 1)
    assert len(prefills.asked) == 1


async def test_what_failed_or_was_lost_is_asked_for_again() -> None:
    """The error is that of the chats that waited; forgotten beginnings are those of the chat, or all."""
    prefills = Prefills()
    prefills.allowed.set()
    prefills.error = EngineError("too long")
    with pytest.raises(EngineError, match="too long"):
        await prefills.prime(chat(FULL, "?"), 0)
    prefills.error = None
    async with prefills.primers.primed(chat(FULL, "?"), 0):
        for forget in (lambda: None, lambda: prefills.primers.forget(chat(FULL, "!")), prefills.primers.forget_all):
            forget()
            await prefills.prime(chat("?"), 0)
            await asyncio.sleep(0)
    assert len(prefills.asked) == 4
