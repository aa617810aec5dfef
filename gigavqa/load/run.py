"""Sends chats to a service: a number of users who each wait for their answer, or arrivals at a rate."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gigavqa.load.histogram import Histogram
from gigavqa.load.prompts import Prompts
from gigavqa.load.service import MeasuredService, Messages
from gigavqa.load.tally import Tally
from gigavqa.tiling.decode_threads import usable_cores

MOST_OPEN = 1000
"""Requests that are open at once; arrivals beyond are not sent, and counted as such."""

_MOST_AHEAD = 16  # chats whose pictures are cut before they are asked for
_MOST_CUTTERS = 4
_PROBE_SECONDS = 0.05
_Take = Callable[[], "asyncio.Future[Messages | None]"]


@dataclass(frozen=True)
class Load:
    """So many users, each with one request at a time, or so many arrivals a second (Poisson), for so long.

    It ends after `requests`, or when `seconds` are over: then nothing more is sent, and what is open is waited for.
    """

    users: int | None = None
    rate: float | None = None
    requests: int | None = None
    seconds: float | None = None
    warmup: int = 0
    seed: int = 0


@dataclass
class Run:
    """A measurement while it goes on, and when it has ended.

    `sending_late` counts how late arrivals were sent, `pausing` for how long this process did not come to its work,
    and `waiting` the seconds for which users waited for pictures to be cut.
    """

    load: Load
    service: MeasuredService
    prompts: Prompts
    tally: Tally
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    sending_late: Histogram = field(default_factory=Histogram)
    pausing: Histogram = field(default_factory=Histogram)
    waiting: float = 0.0
    open: int = 0
    most_open: int = 0
    warmup_failed: int = 0
    left_out: int = 0
    is_exhausted: bool = False
    _asked: int = 1  # the first was sent before all others

    async def check(self) -> None:
        """Ask one chat before all others. Raises ServiceRefusedError, and what cutting pictures raises."""
        await self.service.check(await asyncio.to_thread(self.prompts.messages, 0))

    async def measure(self) -> None:
        """Warm up, and measure until the load ends or every chat was sent.

        Where `stop` is set, end at once, and leave out what is open. Raises what cutting pictures raises.
        """
        async with self._ahead() as take:
            working = asyncio.create_task(self._work(take))
            beside = [asyncio.create_task(self._watch_pauses()), asyncio.create_task(self.stop.wait())]
            await asyncio.wait({working, beside[1]}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                self.left_out = self.open
                working.cancel()
            for task in beside:
                task.cancel()
            await asyncio.wait({working, *beside})
        if not working.cancelled() and (error := working.exception()):
            raise _first_error(error)

    async def _work(self, take: _Take) -> None:
        warm = Tally()
        crowd = self.load.users or min(self.load.warmup, _MOST_AHEAD)
        if self.load.warmup:
            await self._send_by_users(take, warm, crowd, self.load.warmup, None)
        self.warmup_failed, self.most_open, self.waiting = warm.failed, 0, 0.0
        if self.load.rate:
            await self._send_at_rate(take, self.load.rate)
        else:
            await self._send_by_users(take, self.tally, crowd, self.load.requests, self.load.seconds)

    async def _send_by_users(
        self,
        take: _Take,
        tally: Tally,
        users: int,
        requests: int | None,
        seconds: float | None,
    ) -> None:
        """Let users ask, each the next chat when the one before is answered."""
        end = time.monotonic() + seconds if seconds else None
        left = requests

        async def user() -> None:
            nonlocal left
            while (end is None or time.monotonic() < end) and left != 0:
                left = None if left is None else left - 1
                asked = time.monotonic()
                messages = await take()
                self.waiting += time.monotonic() - asked
                if messages is None:
                    self.is_exhausted = True
                    return
                await self._ask(messages, tally)

        async with asyncio.TaskGroup() as crowd:
            for _ in range(min(users, requests or users)):
                crowd.create_task(user())

    async def _send_at_rate(self, take: _Take, rate: float) -> None:
        """Send at drawn moments, whether or not the service has answered what was sent before."""
        drawn = random.Random(self.load.seed)
        began = planned = time.monotonic()
        sent = 0
        async with asyncio.TaskGroup() as arrivals:
            while sent != self.load.requests:
                planned += drawn.expovariate(rate)
                if self.load.seconds and planned - began > self.load.seconds:
                    return
                await asyncio.sleep(planned - time.monotonic())
                messages = await take()
                if messages is None:
                    self.is_exhausted = True
                    return
                sent += 1
                self.sending_late.add(max(0.0, time.monotonic() - planned))
                if self.open >= MOST_OPEN:
                    self.tally.count_fault("not sent", f"{MOST_OPEN} requests were open already")
                    continue
                arrivals.create_task(self._ask(messages, self.tally))
                await asyncio.sleep(0)

    async def _ask(self, messages: Messages, tally: Tally) -> None:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            tally.add(await self.service.ask(messages))
        finally:
            self.open -= 1

    @asynccontextmanager
    async def _ahead(self) -> AsyncIterator[_Take]:
        """Give what returns the next chat, made in threads ahead of it where pictures are cut; None when all were."""
        loop = asyncio.get_running_loop()
        threads = ThreadPoolExecutor(min(_MOST_CUTTERS, usable_cores()), thread_name_prefix="cut")
        ready: list[asyncio.Future[Messages | None]] = []

        def make() -> "asyncio.Future[Messages | None]":
            number, self._asked = self._asked, self._asked + 1
            made: asyncio.Future[Messages | None]
            if self.prompts.most is not None and number >= self.prompts.most:
                made = loop.create_future()
                made.set_result(None)
            elif self.prompts.is_cut:
                made = loop.run_in_executor(threads, self.prompts.messages, number)
                made.add_done_callback(
                    lambda done: done.cancelled() or done.exception()
                )  # it may be asked for by nobody
            else:
                made = loop.create_future()
                made.set_result(self.prompts.messages(number))
            return made

        def take() -> "asyncio.Future[Messages | None]":
            ahead = min(_MOST_AHEAD, self.load.users or _MOST_AHEAD) if self.prompts.is_cut else 1
            while len(ready) < ahead + 1:
                ready.append(make())
            return ready.pop(0)

        try:
            yield take
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    async def _watch_pauses(self) -> None:
        """Count by how much this process misses its own moments."""
        while True:
            due = time.monotonic() + _PROBE_SECONDS
            await asyncio.sleep(_PROBE_SECONDS)
            self.pausing.add(max(0.0, time.monotonic() - due))


def _first_error(error: BaseException) -> BaseException:
    """Return the first of the errors that tasks raised together."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
