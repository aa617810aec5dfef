"""One worker, three models, one engine at a time: what is played when, and what survives. Engines are simulated."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue, QueueDepth
from gigavqa.workers.engines.engine import EngineDeadError, Message
from gigavqa.workers.engines.simulation.engine import WEIGHT_BYTES, SimulatedEngine
from tests.waiting import async_wait_until
from tests.workers.examples import job_of, responses_of
from tests.workers.shared_worker import (
    ALPHA,
    BETA,
    GAMMA,
    MODELS,
    NotedEngine,
    played,
    shared_worker,
    submit_to,
    until_final,
)

NEVER = 1e-6


class BrokenEngine(NotedEngine):
    """Does not start."""

    async def start(self) -> None:
        """Die."""
        raise EngineDeadError("out of memory")


class LoadingEngine(NotedEngine):
    """Loads for ever."""

    async def start(self) -> None:
        """Wait."""
        await asyncio.Event().wait()


def beta_loads_for_ever(entry: CatalogueEntry, diary: list[tuple[str, str]]) -> SimulatedEngine:
    """Engines of which only one kind does not come up."""
    return (LoadingEngine if entry.id == BETA else NotedEngine)(entry, diary)


class FragileEngine(NotedEngine):
    """Dies of whatever it is asked, and the next one does not start."""

    async def start(self) -> None:
        """Start as the only one of its model."""
        if ("start", self.model) in self.diary:
            raise EngineDeadError("does not start again")
        await super().start()

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Die."""
        await self.stop()
        raise EngineDeadError("died of a question")


class SleeplessEngine(NotedEngine):
    """Dies when it is put to sleep."""

    async def sleep(self, host_bytes: int) -> int:
        """Die."""
        await self.stop()
        raise EngineDeadError("died while falling asleep")


class ComatoseEngine(NotedEngine):
    """Dies in its sleep."""

    async def wake(self) -> None:
        """Be dead."""
        raise EngineDeadError("died asleep")


async def test_models_play_one_after_the_other_the_longest_queue_first(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """Every request is recorded once, each model is loaded once, and never two at a time."""
    job_id = await submit_to(redis, {ALPHA: 2, BETA: 6, GAMMA: 4}, requests_each=3)
    async with shared_worker(redis, data, tmp_path) as rig:
        await until_final(redis, job_id)
    assert await played(redis, job_id) == [(BETA, 18), (GAMMA, 12), (ALPHA, 6)]
    assert (await job_of(redis, job_id)).request_counts.completed == 36
    assert (rig.loads, rig.most_awake, rig.count("switches")) == ([BETA, GAMMA, ALPHA], 1, 2)
    assert rig.count("bundles") == 12


async def test_shifts_are_bounded_while_others_wait(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Two bundles a shift: a short queue is not starved by two long ones, and the last model goes on unbounded."""
    job_id = await submit_to(redis, {ALPHA: 20, BETA: 6, GAMMA: 1})
    async with shared_worker(redis, data, tmp_path, shift_bundles=2) as rig:
        await until_final(redis, job_id)
    assert await played(redis, job_id) == [
        (ALPHA, 2), (BETA, 2), (GAMMA, 1), (ALPHA, 2), (BETA, 2), (ALPHA, 2), (BETA, 2), (ALPHA, 14),
    ]  # fmt: skip
    assert (rig.count("switches"), rig.most_awake) == (7, 1)


async def test_the_counters_of_engines_that_replace_each_other_add_up(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Three models look at one picture each: three rasters are processed, though each engine counts one."""
    job_id = await submit_to(redis, dict.fromkeys(MODELS, 2))
    async with shared_worker(redis, data, tmp_path, sleep_bytes=0) as rig:
        await until_final(redis, job_id)
        await async_wait_until(lambda: _is(rig.count("processed_rasters"), 3), what="three processed rasters")


async def test_an_idle_worker_switches_for_work_alone(redis: Redis, data: Path, tmp_path: Path) -> None:
    """It loads the first model, another when work for it comes, and stays with it when that is done."""
    async with shared_worker(redis, data, tmp_path) as rig:
        await rig.until_status("ready", ALPHA)
        for _ in range(2):
            await until_final(redis, await submit_to(redis, {GAMMA: 3}))
            await rig.until_status("ready", GAMMA)
        await until_final(redis, await submit_to(redis, {BETA: 1}))
    assert rig.loads == [ALPHA, GAMMA, BETA]
    assert rig.count("switches") == 2


@pytest.mark.parametrize(
    ("sleepers", "made"), [(3, {ALPHA: 1, BETA: 1}), (1, {ALPHA: 1, BETA: 3}), (0, {ALPHA: 4, BETA: 3})]
)
async def test_engines_sleep_where_their_weights_find_room(
    redis: Redis, data: Path, tmp_path: Path, sleepers: int, made: dict[str, int]
) -> None:
    """An engine that sleeps is woken; one that cannot is ended, and another one made. No two are awake at once."""
    job_id = await submit_to(redis, {ALPHA: 6, BETA: 5})
    async with shared_worker(redis, data, tmp_path, shift_bundles=2, sleep_bytes=sleepers * WEIGHT_BYTES) as rig:
        await until_final(redis, job_id)
        num_ended = sum(what == "stop" for what, _ in rig.diary)
    assert rig.loads == [ALPHA, BETA] * 3
    assert {model: rig.engines[model] for model in made} == made
    assert num_ended == sum(made.values()) - len(made)
    assert rig.most_awake == 1


async def test_the_status_names_the_loaded_model_and_all_that_are_served(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """While a model loads the worker says that it is switching, and that none is loaded."""
    async with shared_worker(redis, data, tmp_path, beta_loads_for_ever) as rig:
        assert (await rig.until_status("ready", ALPHA)).models == MODELS
        await submit_to(redis, {BETA: 1})
        assert (await rig.until_status("switching", None)).models == MODELS


async def test_a_worker_that_is_told_to_end_while_it_switches_holds_nothing(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """It does not wait for the engine that loads; the bundles wait for another worker, unclaimed."""
    job_id = await submit_to(redis, {ALPHA: 4, BETA: 3})
    async with shared_worker(redis, data, tmp_path, beta_loads_for_ever) as rig:
        await rig.until_status("switching", None)
    assert await rig.status() is None
    assert await JobQueue(redis).depth(BETA) == QueueDepth(waiting=3, leased=0)
    assert await played(redis, job_id) == [(ALPHA, 4)]


@pytest.mark.parametrize("kind", [SleeplessEngine, ComatoseEngine])
async def test_engines_that_die_in_a_switch_cost_nothing(
    redis: Redis, data: Path, tmp_path: Path, kind: type[NotedEngine]
) -> None:
    """Whether they die falling asleep or asleep, another one is made: all answers come, each at the first attempt."""
    job_id = await submit_to(redis, {ALPHA: 6, BETA: 5})
    async with shared_worker(redis, data, tmp_path, kind, shift_bundles=2) as rig:
        await until_final(redis, job_id)
    responses = await responses_of(redis, job_id)
    assert [(response.ok, response.attempt) for response in responses] == [(True, 1)] * 11
    assert len({response.request_id for response in responses}) == 11
    assert rig.engines[ALPHA] >= 3


class PlainlyFailingEngine(NotedEngine):
    """Fails to wake as vLLM hands it back from its process: with an error of no kind."""

    async def wake(self) -> None:
        """Fail."""
        raise Exception("Call to wake_up method failed: CUDA out of memory")


class CrampedEngine(NotedEngine):
    """Starts where no more than one other sleeps, as if each left something on the device; notes its end asleep."""

    async def start(self) -> None:
        """Start if there is room."""
        last = {model: what for what, model in self.diary}
        if list(last.values()).count("sleep") > 1:
            raise EngineDeadError("Free memory on device is less than desired")
        await super().start()

    async def stop(self) -> None:
        """End."""
        if self.diary and self.diary[-1] != ("start", self.model) and ("sleep", self.model) in self.diary:
            self.diary.append(("end", self.model))
        await super().stop()


async def test_an_engine_that_fails_to_wake_ends_neither_worker_nor_shift(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """Whatever kind of error it is: another one is started, and all answers come."""
    job_id = await submit_to(redis, {ALPHA: 6, BETA: 5})
    async with shared_worker(redis, data, tmp_path, PlainlyFailingEngine, shift_bundles=2) as rig:
        await until_final(redis, job_id)
        assert rig.count("engine_failures") == 4
    assert [(each.ok, each.attempt) for each in await responses_of(redis, job_id)] == [(True, 1)] * 11


async def test_the_longest_sleeper_makes_room_and_the_others_sleep_on(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Of engines that together leave too little on the device for the next one."""
    job_id = await submit_to(redis, {ALPHA: 6, BETA: 5, GAMMA: 4})
    async with shared_worker(redis, data, tmp_path, CrampedEngine, shift_bundles=6) as rig:
        await until_final(redis, job_id)
        assert rig.diary == [
            ("start", ALPHA), ("sleep", ALPHA), ("start", BETA), ("sleep", BETA), ("end", ALPHA), ("start", GAMMA),
        ]  # fmt: skip


async def test_a_model_whose_engine_does_not_start_leaves_the_others_alone(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """It is tried, set aside, and named no more; the others are answered, and its bundles wait."""

    def make(entry: CatalogueEntry, diary: list[tuple[str, str]]) -> SimulatedEngine:
        return (BrokenEngine if entry.id == BETA else NotedEngine)(entry, diary)

    broken = await submit_to(redis, {BETA: 9})
    job_id = await submit_to(redis, {ALPHA: 2, GAMMA: 1})
    async with shared_worker(redis, data, tmp_path, make) as rig:
        await until_final(redis, job_id)
        assert (await rig.until_status("ready", GAMMA)).models == (ALPHA, GAMMA)
    assert (await job_of(redis, broken)).status == JobStatus.IN_PROGRESS
    assert await JobQueue(redis).depth(BETA) == QueueDepth(waiting=9, leased=0)
    assert rig.count("set_aside") == 1


async def test_a_model_whose_engine_is_lost_in_its_shift_leaves_the_others_alone(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """It does not start again: what it held is handed back with its attempts unspent, and the next model plays."""

    def make(entry: CatalogueEntry, diary: list[tuple[str, str]]) -> SimulatedEngine:
        return (FragileEngine if entry.id == ALPHA else NotedEngine)(entry, diary)

    job_id = await submit_to(redis, {ALPHA: 3, BETA: 2})
    async with shared_worker(redis, data, tmp_path, make) as rig:
        assert (await rig.until_status("ready", BETA)).models == (BETA, GAMMA)
        await async_wait_until(lambda: responses_of(redis, job_id), what="a response")
    queue = JobQueue(redis)

    async def handed_back() -> bool:
        return await queue.depth(ALPHA) == QueueDepth(waiting=3, leased=0)

    await async_wait_until(handed_back, what="what it held")
    leases = await queue.claim([ALPHA], "next", 10, 0)
    assert [lease.attempt for lease in leases] == [1, 1, 1]


async def test_a_worker_none_of_whose_engines_starts_ends(redis: Redis, data: Path, tmp_path: Path) -> None:
    """With the error of the last one."""
    with pytest.raises(EngineDeadError, match="out of memory"):
        async with shared_worker(redis, data, tmp_path, BrokenEngine) as rig:
            await async_wait_until(lambda: _has_tried_all(rig.engines), what="an attempt at each model")


async def test_cancelling_what_plays_lets_the_next_model_in(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Chats that would never end are given up with their job, and the switch does not wait for them."""

    def make(entry: CatalogueEntry, diary: list[tuple[str, str]]) -> SimulatedEngine:
        return NotedEngine(entry, diary, speed=NEVER if entry.id == ALPHA else 0)

    endless, queue = await submit_to(redis, {ALPHA: 3}), JobQueue(redis)
    async with shared_worker(redis, data, tmp_path, make) as rig:

        async def playing() -> bool:
            return (await queue.depth(ALPHA)).leased == 3

        await async_wait_until(playing, what="three leases")
        job_id = await submit_to(redis, {BETA: 1})
        await JobRegistry(redis).cancel(endless)
        await until_final(redis, endless, job_id)
    assert (await job_of(redis, endless)).status == JobStatus.CANCELLED
    assert rig.loads == [ALPHA, BETA]


async def test_an_engine_that_dies_in_its_shift_is_replaced_in_it(redis: Redis, data: Path, tmp_path: Path) -> None:
    """A death is no reason to switch, and costs no answer."""
    job_id = await submit_to(redis, {ALPHA: 4}, requests_each=4)
    engines: list[SimulatedEngine] = []

    def make(entry: CatalogueEntry, diary: list[tuple[str, str]]) -> SimulatedEngine:
        engines.append(NotedEngine(entry, diary, speed=0.1))
        return engines[-1]

    async with shared_worker(redis, data, tmp_path, make) as rig:
        alpha = engines[MODELS.index(ALPHA)]

        async def generating() -> bool:
            return (await alpha.stats()).running > 0

        await async_wait_until(generating, what="the engine generating")
        await alpha.stop()
        await until_final(redis, job_id)
    assert all(response.ok for response in await responses_of(redis, job_id))
    assert (rig.count("engine_restarts"), rig.count("switches")) == (1, 0)


async def _is(number: int, expected: int) -> bool:
    return number == expected


async def _has_tried_all(engines: dict[str, int]) -> bool:
    return all(engines[model] >= 2 for model in MODELS)
