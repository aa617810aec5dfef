"""Whatever step a backup or a restore dies at, there is never a half that looks whole."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gigavqa.backup.archives import Archive
from gigavqa.backup.backups import back_up
from gigavqa.backup.restoring import restore
from gigavqa.contract.responses import Response
from gigavqa.runtime.embedded_store import StateStoreProcess, running_store, start_store
from gigavqa.runtime.home import Home
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.results import ResultStore
from tests.store.examples import run_job
from tests.store.parts import sink_all

FEW, MANY = 2, 3
"""Responses of the only job of one installation, and of that of the other."""


def deaths(tmp_path: Path, *arguments: object) -> Iterator[int]:
    """Die at every step of what `dying` is told to do, and give the number of deaths after each."""
    environ = {**os.environ, "TMPDIR": str(tmp_path)}  # nobody tidies up after the dead
    command = [sys.executable, "-m", "tests.backup.dying", *map(str, arguments)]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        for number, line in enumerate(process.stdout or ()):
            assert line == "died\n"
            yield number + 1
            process.stdin.write("go on\n")
            process.stdin.flush()
    assert process.returncode == 0


def play(url: str, home: Home, requests: int) -> None:
    """A finished job whose responses are in a part."""

    async def run() -> None:
        redis = connect(url)
        await run_job(redis, requests)
        await sink_all(redis, Path(home.results_uri))
        await redis.aclose()

    asyncio.run(run())


def readable(url: str, home: Home) -> list[int]:
    """How many responses each job has that can be read."""

    async def count() -> list[int]:
        redis = connect(url)
        jobs = await JobRegistry(redis).list()
        read = [await ResultStore(redis, home.results_uri).read(job.id) for job in jobs]
        await redis.aclose()
        return [sum(isinstance(response, Response) for _, response in each) for each in read]

    return asyncio.run(count())


def made(folder: Path, requests: int) -> Path:
    """A backup of an installation with one job."""
    home = Home(folder=folder / "home")
    with running_store(home.server) as url:
        play(url, home, requests)
        back_up(url, home, folder / "backup")
    return folder / "backup"


def test_a_backup_that_dies_at_any_step_is_not_there_and_the_next_one_is_whole(tmp_path: Path) -> None:
    """Its name appears with all that it holds; deletions wait no longer than its hold lasts."""
    home, backup = Home(folder=tmp_path / "home"), tmp_path / "backup"
    with running_store(home.server) as url:
        play(url, home, FEW)
        number = 0
        for number in deaths(tmp_path, "backup", url, home.folder, backup):
            if backup.exists():  # it died after the name was given
                Archive(backup).verify()
                backup.rename(tmp_path / f"whole-{number}")
        assert number > 8
    Archive(backup).verify()
    assert len(list(tmp_path.glob("whole-*"))) == 1


@pytest.mark.parametrize("on_own_server", [False, True], ids=["embedded", "own server"])
def test_a_restore_that_dies_at_any_step_leaves_what_was_or_all_of_the_backup(
    tmp_path: Path, on_own_server: bool
) -> None:
    """Over an installation that holds another job; said again, it comes to its end."""
    few, many = made(tmp_path / "few", FEW), made(tmp_path / "many", MANY)
    with own_server(tmp_path) if on_own_server else contextlib.nullcontext(None) as own:
        home = Home(folder=tmp_path / "home", redis_url=own.url if own else None)
        restore(Archive(few), home)
        seen = []
        for _ in deaths(tmp_path, "restore", many, home.folder, *([own.url] if own else [])):
            with contextlib.nullcontext(own.url) if own else running_store(home.server) as url:
                seen.append(readable(url, home))
                assert seen[-1] in ([FEW], [MANY])
        with contextlib.nullcontext(own.url) if own else running_store(home.server) as url:
            assert readable(url, home) == [MANY]
    assert seen.count([FEW]) > 3


@contextlib.contextmanager
def own_server(tmp_path: Path) -> Iterator[StateStoreProcess]:
    """A server as an operator runs one."""
    server = start_store(tmp_path / "own")
    try:
        yield server
    finally:
        server.stop()
