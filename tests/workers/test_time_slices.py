"""Whose time slice it is, by what waits on a real server."""

from typing import Any

import pytest
from redis.asyncio import Redis

from gigavqa.store.queue import JobQueue
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.time_slices import TimeSliceScheduler
from tests.workers.shared_worker import ALPHA, BETA, GAMMA, MODELS, submit_to

SETTINGS = WorkerSettings(shift_bundles=4)


def shifts_of(redis: Redis, **changes: Any) -> TimeSliceScheduler:
    """Shifts of the three models."""
    return TimeSliceScheduler(MODELS, JobQueue(redis), SETTINGS.model_copy(update=changes))


async def test_the_model_with_most_waiting_bundles_is_chosen(redis: Redis) -> None:
    """However few they are."""
    await submit_to(redis, {ALPHA: 1, GAMMA: 2})
    assert await shifts_of(redis).next(None) == GAMMA


async def test_interactive_bundles_are_chosen_before_batch_bundles(redis: Redis) -> None:
    """One of them outweighs many."""
    await submit_to(redis, {ALPHA: 9})
    await submit_to(redis, {BETA: 1}, priority="interactive")
    assert await shifts_of(redis).next(None) == BETA


@pytest.mark.parametrize(("last", "chosen"), [(None, ALPHA), (BETA, BETA)])
async def test_with_nothing_waiting_the_loaded_model_stays(redis: Redis, last: str | None, chosen: str) -> None:
    """Before any is loaded it is the one that was named first."""
    assert await shifts_of(redis).next(last) == chosen


async def test_a_small_model_is_chosen_after_as_many_shifts_as_there_are_other_models(redis: Redis) -> None:
    """Two big queues that never run dry do not starve a third model."""
    await submit_to(redis, {ALPHA: 9, BETA: 8, GAMMA: 1})
    shifts, last, chosen = shifts_of(redis), None, []
    for _ in range(7):
        last = await shifts.next(last)
        chosen.append(last)
    assert chosen == [ALPHA, BETA, GAMMA, ALPHA, BETA, ALPHA, GAMMA]


async def test_a_model_that_is_set_aside_is_not_chosen(redis: Redis) -> None:
    """Until its time is over."""
    await submit_to(redis, {ALPHA: 9, BETA: 1})
    shifts = shifts_of(redis, set_aside_seconds=0)
    aside = shifts_of(redis)
    for each in (shifts, aside):
        each.set_aside(ALPHA)
    assert (await aside.next(None), aside.models) == (BETA, (BETA, GAMMA))
    assert (await shifts.next(None), shifts.models) == (ALPHA, MODELS)


async def test_a_model_with_work_keeps_its_shift_up_to_its_bound(redis: Redis) -> None:
    """Four bundles it is here; the claim that would exceed them is cut."""
    await submit_to(redis, {BETA: 1})
    shift = shifts_of(redis).begin(ALPHA)
    assert shift.bound(3) == 3
    shift.count(3)
    assert not await shift.is_over(idle=False)
    assert shift.bound(3) == 1
    shift.count(1)
    assert await shift.is_over(idle=False)


async def test_seconds_bound_a_shift_as_well(redis: Redis) -> None:
    """After them another model plays, if it waits."""
    shift = shifts_of(redis, shift_seconds=0).begin(ALPHA)
    assert not await shift.is_over(idle=False)
    await submit_to(redis, {GAMMA: 1})
    assert await shift.is_over(idle=False)


async def test_an_idle_model_leaves_at_once_when_another_waits(redis: Redis) -> None:
    """And stays when none does."""
    shift = shifts_of(redis).begin(ALPHA)
    assert not await shift.is_over(idle=True)
    await submit_to(redis, {GAMMA: 1})
    assert await shift.is_over(idle=True)


async def test_interactive_bundles_of_another_model_shorten_a_shift(redis: Redis) -> None:
    """After the shorter time batch bundles go on waiting, interactive ones do not."""
    shift = shifts_of(redis, interactive_shift_seconds=0).begin(ALPHA)
    await submit_to(redis, {BETA: 3})
    assert not await shift.is_over(idle=False)
    await submit_to(redis, {GAMMA: 1}, priority="interactive")
    assert await shift.is_over(idle=False)
