"""Whatever an engine raises as its life changes, its supervisor goes on with another one, or is lost: nobody waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from gigavqa.contract.requests import Sampling
from gigavqa.workers.engines.engine import EngineDeadError, EngineStats, Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.engines.supervisor import EngineSupervisor
from gigavqa.workers.errors import EngineLostError
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.settings import WorkerSettings
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY


class NVMLError(Exception):
    """What the driver says of a GPU that is lost, as a library has it that is not installed without one."""


ERRORS: list[BaseException] = [
    NVMLError("GPU is lost"),
    KeyError("model"),
    AssertionError(),
    Exception("Call to wake_up method failed: CUDA out of memory"),
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    TimeoutError(),
    MemoryError(),
    ConnectionResetError("reset"),
    StopAsyncIteration(),
    EngineDeadError("died"),
    asyncio.CancelledError(),
]
Fault = tuple[str, BaseException] | None
"""A change, and what is raised there."""
CHANGES = ["start", "sleep", "wake", "stop"]
SETTINGS = WorkerSettings(backoff_seconds=0, max_starts=3, max_deaths=5)
CHAT = (Message("user", ("How many?",)),)
GREEDY = Sampling(temperature=0.0, max_tokens=4)


class FaultyEngine(SimulatedEngine):
    """Raises what it is told to at one change of its life, each time; does all else."""

    fault: tuple[str, BaseException] | None = None

    async def start(self) -> None:
        """Start, or fail."""
        self._fail("start")
        await super().start()

    async def sleep(self, host_bytes: int) -> int:
        """Sleep, or fail."""
        self._fail("sleep")
        return await super().sleep(host_bytes)

    async def wake(self) -> None:
        """Wake, or fail."""
        self._fail("wake")
        await super().start()

    async def stop(self) -> None:
        """Stop; then fail."""
        await super().stop()
        self._fail("stop")

    def _fail(self, change: str) -> None:
        if self.fault and self.fault[0] == change:
            raise self.fault[1]


class HungEngine(FaultyEngine):
    """Takes questions and makes no step, until it is stopped."""

    async def stats(self) -> EngineStats:
        """Say that it has requests, and always the same step."""
        told = await super().stats()
        return replace(told, unanswered=told.running + told.waiting, steps=7)


class Kept:
    """A keeper, and all engines that it made: each has the fault of its number, or the last one; so with kinds."""

    def __init__(
        self, faults: tuple[Fault, ...], settings: WorkerSettings, kinds: tuple[type[FaultyEngine], ...]
    ) -> None:
        self.registry = CollectorRegistry()
        self.engines: list[FaultyEngine] = []
        self.broken = False
        self._faults = faults
        self._kinds = kinds
        self.keeper = EngineSupervisor(self._make, settings, Instrumentation(self.registry))

    def failures(self, during: str) -> float:
        """How many were counted."""
        series = "gigavqa_worker_engine_failures_total"
        return self.registry.get_sample_value(series, {"during": during}) or 0.0

    async def ask(self) -> None:
        """Have something answered, soon."""
        await asyncio.wait_for(self.keeper.generate(CHAT, GREEDY, "r"), 10)

    def _make(self) -> FaultyEngine:
        if self.broken:
            raise KeyError("weights")
        number = len(self.engines)
        kind = self._kinds[min(number, len(self._kinds) - 1)]
        engine = kind(ENTRY, speed=1e-9 if kind is HungEngine else 0)
        engine.fault = self._faults[min(number, len(self._faults) - 1)]
        self.engines.append(engine)
        return engine


@asynccontextmanager
async def kept(
    *faults: Fault, kinds: tuple[type[FaultyEngine], ...] = (FaultyEngine,), **settings: float
) -> AsyncIterator[Kept]:
    """A keeper for as long as the block lasts; `settings` go before those of this file."""
    made = Kept(faults, SETTINGS.model_copy(update=settings), kinds)
    yield made
    await made.keeper.stop()


@pytest.fixture(params=ERRORS, ids=lambda error: type(error).__name__)
def error(request: pytest.FixtureRequest) -> BaseException:
    """What an engine raises."""
    return request.param


async def test_an_engine_that_does_not_start_is_dead(error: BaseException) -> None:
    """Whoever loads it hears of that kind of error alone."""
    async with kept(("start", error)) as made:
        with pytest.raises(EngineDeadError):
            await made.keeper.start()
    assert made.failures("start") == 1


async def test_engines_that_do_not_start_again_are_lost(error: BaseException) -> None:
    """After the attempts that are allowed; who waits for an answer is told."""
    async with kept(None, ("start", error)) as made:
        await made.keeper.start()
        await made.engines[0].stop()
        with pytest.raises(EngineLostError, match="in 3 attempts"):
            await made.ask()
    assert (made.keeper.lost.is_set(), made.failures("start"), len(made.engines)) == (True, 3, 4)


@pytest.mark.parametrize("change", ["sleep", "wake", "stop"])
async def test_another_engine_takes_the_place_of_one_that_fails_in_a_change(change: str, error: BaseException) -> None:
    """It is ended, and what follows is answered."""
    async with kept((change, error), None) as made:
        await made.keeper.start()
        await made.keeper.rest(0 if change == "stop" else 2**60)
        await made.keeper.start()
        await made.ask()
        assert made.failures(change) == 1
        assert (len(made.engines), made.keeper.lost.is_set()) == (2, False)


@pytest.mark.parametrize("change", CHANGES)
async def test_nothing_but_a_death_leaves_a_keeper_however_often_engines_fail(
    change: str, error: BaseException
) -> None:
    """Each engine fails in the same way at each change: what waits ends, answered or with the loss."""
    async with kept(None, (change, error)) as made:
        await made.keeper.start()
        await made.engines[0].stop()
        for _ in range(3):
            try:
                await made.ask()
                await made.keeper.rest(2**60)
                await made.keeper.start()
            except (EngineDeadError, EngineLostError):
                break


async def test_a_keeper_that_cannot_even_make_an_engine_is_lost() -> None:
    """A fault of ours in the attempt to start another one: the loss is told, with its reason."""
    async with kept(None) as made:
        await made.keeper.start()
        made.broken = True
        await made.engines[0].stop()
        with pytest.raises(EngineLostError, match="KeyError: 'weights'"):
            await made.ask()
        assert made.keeper.lost.is_set()


async def test_no_attempt_at_all_is_a_loss_at_once() -> None:
    """Whose operator wants the worker to end with its engine."""
    async with kept(None, max_starts=0) as made:
        await made.keeper.start()
        await made.engines[0].stop()
        with pytest.raises(EngineLostError, match="in 0 attempts"):
            await made.ask()


@pytest.mark.parametrize("change", ["sleep", "wake"])
async def test_an_engine_that_hangs_in_a_change_is_ended(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it longer than for a step."""
    async with kept(None, hang_seconds=0.05) as made:
        await made.keeper.start()
        monkeypatch.setattr(made.engines[0], change, _for_ever)
        await asyncio.wait_for(made.keeper.rest(2**60), 10)
        await asyncio.wait_for(made.keeper.start(), 10)
        await made.ask()
        assert (len(made.engines), made.failures(change)) == (2, 1)


async def test_an_engine_that_hangs_in_a_step_is_replaced_and_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    """Its requests are answered by the next one; the death is counted and told."""
    async with kept(None, kinds=(HungEngine, FaultyEngine), hang_seconds=0.05) as made:
        await made.keeper.start()
        asked = asyncio.create_task(made.ask())

        async def answered() -> bool:
            await made.keeper.check()
            return asked.done()

        await async_wait_until(answered, what="an answer")
        await asked
        assert (made.failures("step"), await made.engines[0].healthy(), len(made.engines)) == (1, False, 2)
    assert "made no step for 0.05 s" in caplog.text


async def _for_ever(*_: object) -> int:
    await asyncio.Event().wait()
    return 0
