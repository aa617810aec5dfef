"""The supervisor keeps real processes running, and ends all of them."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from gigavqa.launcher.errors import ProcessFailedError
from gigavqa.launcher.supervisor import Program, ProgramSupervisor
from tests.waiting import async_wait_until

SLEEPER = "import time; print('started', flush=True); time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPER
PARENT = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]).pid); " + SLEEPER
FAILING = "import sys; sys.exit('no such checkpoint: /weights')"


@asynccontextmanager
async def supervised(code: str, logs: Path, grace_seconds: float = 10.0) -> AsyncIterator[ProgramSupervisor]:
    """A Python program under supervision, ended at the end of the test."""
    program = Program("sleeper", [sys.executable, "-c", code], grace_seconds=grace_seconds)
    keeper = ProgramSupervisor(program, logs, announce=lambda line: None)
    running = asyncio.create_task(keeper.run())
    try:
        yield keeper
    finally:
        await keeper.stop()
        await running


async def started(keeper: ProgramSupervisor, starts: int = 1) -> int:
    """Wait until the program has been started so often and has said so; returns its process id."""

    async def has_started() -> bool:
        return keeper.log.exists() and keeper.log.read_text().count("started") >= starts

    await async_wait_until(has_started, what="the program's start")
    assert keeper.pid is not None
    return keeper.pid


def is_gone(pid: int) -> bool:
    """Whether no process of this id runs; one that only waits to be reaped is gone."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


async def test_a_log_that_has_grown_large_is_put_aside_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One such is kept, and a log within the bound goes on."""
    monkeypatch.setattr("gigavqa.launcher.supervisor._LARGEST_LOG", 10)
    (tmp_path / "sleeper.log").write_text("of before, and too long")
    async with supervised(SLEEPER, tmp_path) as keeper:
        os.kill(await started(keeper), signal.SIGKILL)
        await started(keeper, starts=2)
    assert (tmp_path / "sleeper.log.1").read_text() == "of before, and too long"
    assert keeper.log.read_text().count("started") == 2


async def test_a_killed_program_is_started_again(tmp_path: Path) -> None:
    """SIGKILL by process id brings a new process of another id."""
    async with supervised(SLEEPER, tmp_path) as keeper:
        first = await started(keeper)
        os.kill(first, signal.SIGKILL)
        second = await started(keeper, starts=2)
        assert second != first


async def test_stopping_ends_the_program_and_starts_no_other(tmp_path: Path) -> None:
    """After `stop` the process is gone and was started once."""
    async with supervised(SLEEPER, tmp_path) as keeper:
        pid = await started(keeper)
    assert is_gone(pid)
    assert keeper.starts == 1


async def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """After its grace only SIGKILL is left."""
    async with supervised(STUBBORN, tmp_path, grace_seconds=0.2) as keeper:
        pid = await started(keeper)
    assert is_gone(pid)


async def test_what_a_killed_program_left_behind_is_ended(tmp_path: Path) -> None:
    """A child that outlives its killed parent does not stay."""
    async with supervised(PARENT, tmp_path) as keeper:
        parent = await started(keeper, starts=2)
        child = psutil.Process(parent).children()[0].pid
        os.kill(parent, signal.SIGKILL)

        async def orphan_is_gone() -> bool:
            return is_gone(child)

        await async_wait_until(orphan_is_gone, what="the end of the orphan")


async def test_a_failure_at_the_start_is_told_with_the_end_of_the_log(tmp_path: Path) -> None:
    """The error quotes what the program said last."""
    async with supervised(FAILING, tmp_path) as keeper:

        async def has_failed() -> bool:
            return keeper.starts > 0 and keeper.pid is None

        await async_wait_until(has_failed, what="the program's end")
        with pytest.raises(ProcessFailedError, match="no such checkpoint: /weights"):
            keeper.require_first_start()
