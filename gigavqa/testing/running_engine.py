"""One engine for all checks of a suite, on an event loop of its own, so that no plugin of pytest is needed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, ClassVar, TypeVar

from gigavqa.workers.engines.engine import Engine

T = TypeVar("T")
S = TypeVar("S", bound="RunningEngine")
_POLL_SECONDS = 0.002


class RunningEngine:
    """Starts an engine for the first check, and another after one has stopped it. pytest calls setup and teardown."""

    patience: ClassVar[float] = 60
    """Seconds after which a check no longer waits."""
    _runner: ClassVar[asyncio.Runner]
    _around: ClassVar[ExitStack]
    _started: ClassVar[Engine | None]

    def engine(self) -> AbstractContextManager[Engine]:
        """Make an engine, not started, and what it needs for as long as the block lasts."""
        raise NotImplementedError

    @classmethod
    def setup_class(cls) -> None:
        """Begin without an engine."""
        cls._runner, cls._around, cls._started = asyncio.Runner(), ExitStack(), None

    @classmethod
    def teardown_class(cls) -> None:
        """Stop the engine that runs."""
        if cls._started is not None:
            cls._runner.run(cls._started.stop())
        cls._around.close()
        cls._runner.close()

    def run(self, check: Callable[[Engine], Coroutine[Any, Any, None]]) -> None:
        """Run a check on the engine."""
        self._runner.run(self._check(check))

    async def soon(self, awaited: Awaitable[T], what: str) -> T:
        """Await what comes within the patience."""
        task = asyncio.ensure_future(awaited)
        done, _ = await asyncio.wait([task], timeout=self.patience)
        assert done, f"{what}: did not come within {self.patience:g} s"
        return task.result()

    async def stopped(self, engine: Engine) -> None:
        """Stop the engine; the next check gets another."""
        type(self)._started = None
        await self.soon(engine.stop(), "the end of the engine")

    async def until_busy(self, engine: Engine, tasks: Sequence["asyncio.Future[Any]"]) -> None:
        """Wait until the engine has what `tasks` ask of it."""

        async def is_busy() -> bool:
            assert not any(task.done() for task in tasks), "it was over before it could be met; override `ask_long`"
            stats = await engine.stats()
            return max(stats.running + stats.waiting, stats.unanswered) >= len(tasks)

        await self._until(is_busy, "requests that run, wait or are unanswered in `stats`")

    async def until_idle(self, engine: Engine) -> None:
        """Wait until the engine has nothing to do."""

        async def is_idle() -> bool:
            stats = await engine.stats()
            return not (stats.running or stats.waiting or stats.unanswered)

        await self._until(is_idle, "an engine in which nothing runs, waits or is unanswered")

    async def _until(self, condition: Callable[[], Awaitable[bool]], what: str) -> None:
        deadline = time.monotonic() + self.patience
        while not await condition():
            assert time.monotonic() < deadline, f"{what}: did not come within {self.patience:g} s"
            await asyncio.sleep(_POLL_SECONDS)

    async def _check(self, check: Callable[[Engine], Coroutine[Any, Any, None]]) -> None:
        cls = type(self)
        if cls._started is None:
            cls._around.close()  # of the engine before
            made = cls._around.enter_context(self.engine())
            await made.start()
            cls._started = made
        await check(cls._started)


def on_engine(check: Callable[[S, Engine], Coroutine[Any, Any, None]]) -> Callable[[S], None]:
    """Make a check of a coroutine; pytest is not to take its engine for a fixture."""

    def test(self: S) -> None:
        self.run(lambda engine: check(self, engine))

    test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
    return test
