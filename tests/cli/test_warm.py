"""Commands of a process that imported before them do what those do that a user starts."""

import subprocess

import pytest

from tests.cli.installation import Installation

COMMANDS = (["dataset", "list"], ["dataset", "check", "none"], ["jobs"], ["models", "list", "--json"], ["nonsense"])


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_warm_command_is_a_cold_one(installation: Installation, arguments: list[str]) -> None:
    """To the byte, in both streams and in the exit status."""
    command = installation.command(*arguments)
    cold = subprocess.run(command, env=installation.environment, capture_output=True, text=True, check=False)
    warm = installation.run(*arguments)
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)


def test_a_command_that_takes_too_long_is_ended(installation: Installation) -> None:
    """As `subprocess.run` ends it."""
    with pytest.raises(subprocess.TimeoutExpired):
        installation.run("up", "--engine", "simulated", "--model", "demo-qwen3-vl", "--port", "0", timeout=1)
