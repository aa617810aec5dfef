"""The client of programs that wait is what scripts/sync_client.py makes of the asynchronous one."""

import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gigavqa import AsyncClient, Client

ROOT = Path(__file__).parents[2]
SCRIPT, SOURCE, TARGET = "scripts/sync_client.py", "gigavqa/client/asynchronous.py", "gigavqa/client/client.py"


def run_script(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, folder / SCRIPT, *options], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that the script reads and writes, in a folder of their own."""
    for name in (SCRIPT, SOURCE, TARGET, "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_file_is_what_is_made() -> None:
    checked = run_script(ROOT, "--check")
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("changed", [SOURCE, TARGET])
def test_a_change_of_one_file_alone_is_told_until_the_other_is_made(copy: Path, changed: str) -> None:
    file = copy / changed
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("def has_dataset", "def holds_dataset"), encoding="utf-8")
    checked = run_script(copy, "--check")
    assert checked.returncode == 1
    assert checked.stderr == f"{TARGET} is not what {SOURCE} makes: run .venv/bin/python {SCRIPT}\n"
    assert run_script(copy).returncode == 0
    assert run_script(copy, "--check").returncode == 0
    assert ("def holds_dataset" in (copy / TARGET).read_text(encoding="utf-8")) == (changed == SOURCE)


def methods_of(client: type) -> list[str]:
    return sorted(name for name, value in vars(client).items() if inspect.isfunction(value) and name[0] != "_")


METHODS = methods_of(AsyncClient)


def test_both_clients_have_the_same_methods() -> None:
    assert methods_of(Client) == METHODS


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_the_same_in_both_but_for_the_time_that_an_event_loop_bounds(name: str) -> None:
    waiting, awaited = (inspect.signature(getattr(client, name)).parameters for client in (Client, AsyncClient))
    assert {key: value for key, value in waiting.items() if key != "timeout"} == dict(awaited)
    assert ("timeout" in waiting) == (name in {"wait", "watch"})


@pytest.mark.parametrize("name", METHODS)
def test_nothing_of_the_client_that_waits_is_awaited(name: str) -> None:
    function = getattr(Client, name)
    assert not inspect.iscoroutinefunction(function)
    assert not inspect.isasyncgenfunction(function)
    assert not (function.__doc__ or "").startswith("As `Client")
