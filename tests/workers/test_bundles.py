"""Slots of a worker: as many as there are, and first for chats that somebody waits for."""

import asyncio

from gigavqa.workers.lanes import LaneSemaphore


class Crowd:
    """Chats that want a slot and hold it until they are told to let go; `order` is that in which they got one."""

    def __init__(self, slots: LaneSemaphore) -> None:
        self.order: list[str] = []
        self._slots = slots
        self._holding: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, lane: str) -> None:
        """Let one more wait for a slot."""
        self._holding[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._hold(name, lane))
        await asyncio.sleep(0)

    async def go(self, name: str) -> None:
        """Let one go that holds a slot, until the next has it."""
        self._holding[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)

    async def _hold(self, name: str, lane: str) -> None:
        async with self._slots.of(lane):
            self.order.append(name)
            await self._holding[name].wait()


async def test_an_interactive_chat_stands_before_all_that_is_claimed_ahead() -> None:
    """And behind those that hold a slot; within a lane it is first come, first served."""
    crowd = Crowd(LaneSemaphore(2))
    for name in ("b1", "b2", "b3", "b4"):
        await crowd.come(name, "batch")
    for name in ("i1", "i2"):
        await crowd.come(name, "interactive")
    assert crowd.order == ["b1", "b2"]
    for name in ("b1", "b2", "i1", "i2"):
        await crowd.go(name)
    assert crowd.order == ["b1", "b2", "i1", "i2", "b3", "b4"]
    await asyncio.gather(*(crowd.go(name) for name in ("b3", "b4")))


async def test_slots_of_those_that_are_cancelled_go_to_others() -> None:
    """Whether they waited, held one, or were given one in the same moment."""
    crowd = Crowd(LaneSemaphore(1))
    for name in ("holds", "waits", "given", "last"):
        await crowd.come(name, "batch")
    crowd.tasks["waits"].cancel()
    await asyncio.sleep(0)
    crowd.tasks["holds"].cancel()
    await asyncio.sleep(0)
    crowd.tasks["given"].cancel()
    await asyncio.gather(*(crowd.tasks[name] for name in ("holds", "waits", "given")), return_exceptions=True)
    await asyncio.sleep(0)
    assert crowd.order[-1] == "last"
    await crowd.go("last")
    await crowd.come("again", "interactive")
    assert crowd.order[-1] == "again"
    await crowd.go("again")
