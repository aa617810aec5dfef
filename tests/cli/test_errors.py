"""Errors are one clear line, and a status that scripts can tell apart."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.cli.errors import exit_status
from gigavqa.client.errors import ProblemError
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.launcher.errors import (
    DevicesTooFewError,
    DevicesTooSmallError,
    DevicesUnusableError,
    ExtraMissingError,
)
from gigavqa.runtime.errors import SettingsInvalidError, StateStoreRefusedError
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.workers.errors import EngineArgumentError, EngineLostError
from tests.cli.installation import MODEL, Installation


def test_an_absent_gateway_is_named_with_what_to_do(installation: Installation) -> None:
    """Status 3; the line names the address and `gigavqa up`."""
    run = installation.run("watch")
    assert run.returncode == 3
    assert run.stderr.count("\n") == 1
    assert installation.url in run.stderr and "gigavqa up" in run.stderr


def test_debug_shows_where_an_error_comes_from(installation: Installation) -> None:
    """With --debug the same error comes with its traceback."""
    assert "Traceback" not in installation.run("watch").stderr
    assert "Traceback" in installation.run("--debug", "watch").stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0-V2"), "S0-V2"),
        (("submit", "-d", "tiny", "-m", MODEL, "--set", "temperature"), "temperature"),
        (("submit", "-d", "tiny", "-m", MODEL, "--set", "temperature=hot"), "'temperature=hot': temperature must be a"),
        (("submit", "-d", "tiny", "-m", MODEL, "--priority", "high"), "'high' is none of batch, interactive"),
        (("submit", "-d", "tiny", "-m", MODEL, "--metadata", "owner"), "--metadata"),
        (("results", "--status", "bad"), "'bad' is none of ok, failed"),
        (("results", "--condition", "V9"), "none of V0, V0F, V1, V2, V3, V4"),
        (("view", "-m", MODEL), "IMAGE"),
        (("view", "x.png", "-m", MODEL, "--sample", "a", "--dataset", "tiny"), "IMAGE"),
    ],
)
def test_wrong_arguments_end_with_status_2(installation: Installation, arguments: tuple[str, ...], named: str) -> None:
    """The line names the argument that is wrong."""
    run = installation.run(*arguments)
    assert run.returncode == 2
    assert named in run.stderr
    assert "a fault of gigavqa" not in run.stderr


def test_names_are_printed_as_they_are(installation: Installation) -> None:
    """`:100:` is no emoji, and square brackets are no style."""
    run = installation.run("logs", ":100:[red]x[/red]")
    assert run.returncode == 2
    (installation.home / "logs").mkdir()
    (installation.home / "logs" / "gateway.log").write_text(":100: [bold]a[/bold]\n")
    assert installation.ok("logs", "gateway") == ":100: [bold]a[/bold]\n"
    assert "':100:[red]x[/red]'" in installation.run("logs", ":100:[red]x[/red]").stderr


def test_every_console_is_made_in_one_place() -> None:
    """One that was made elsewhere would read markup and emoji in names again."""
    root = Path(__file__).parents[2]
    files = [file for room in ("gigavqa", "service", "workers") for file in (root / room).rglob("*.py")]
    assert [file.name for file in files if re.search(r"\bConsole\(|\(Console\)", file.read_text())] == ["console.py"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ProblemError("no such job", 404), 2),
        (ProblemError("not as asked", 422), 2),
        (ProblemError("not now", 409), 4),
        (ProblemError("full", 429), 4),
        (ProblemError("the gateway failed", 500), 4),
        (DatasetInvalidError([]), 2),
        (ImageUnreadableError("x.png"), 2),
        (FileNotFoundError("x.json"), 2),
        (SettingsInvalidError("x.toml cannot be read"), 2),
        (StateStoreRefusedError("maxmemory-policy is allkeys-lru"), 2),
        (EngineArgumentError("vLLM has no engine argument 'x'"), 2),
        (EngineLostError("attempt 5 of 5 failed"), 1),
        (DevicesTooFewError("the worker needs 16 GPUs"), 2),
        (CheckpointInvalidError("model.safetensors: cut"), 2),
        (DevicesUnusableError("GPU 1 is lost"), 1),
        (DevicesTooSmallError("GPU 0: 24 GiB"), 2),
        (ExtraMissingError("no vLLM"), 2),
        (OSError("no space left on device"), 1),
    ],
)
def test_a_status_says_who_is_to_mend_it(error: Exception, status: int) -> None:
    """2 is for what was given, 4 for what the gateway holds, 1 for the machine, its GPUs, and everything else."""
    assert exit_status(error) == status


def test_the_table_of_statuses_is_the_one_that_processes_end_with() -> None:
    """A row each, in the same words."""
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(str(int(status)), status.meaning) for status in ExitStatus]


def test_the_version_is_told(installation: Installation) -> None:
    """As the package has it."""
    assert installation.ok("--version") == f"gigavqa {version('gigavqa')}\n"


def test_a_model_that_does_not_exist_is_an_error_naming_it(installation: Installation) -> None:
    """A name that is no catalogue id, folder or reachable checkpoint ends in one line."""
    run = installation.run("budget", "no-such-model", "100x100")
    assert run.returncode == 2
    assert "no-such-model" in run.stderr
    assert "Traceback" not in run.stderr
