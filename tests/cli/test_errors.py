"""Errors are one clear line, and a status that scripts can tell apart."""

import pytest

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
        (("view", "-m", MODEL), "IMAGE"),
        (("view", "x.png", "-m", MODEL, "--sample", "a", "--dataset", "tiny"), "IMAGE"),
    ],
)
def test_wrong_arguments_end_with_status_2(installation: Installation, arguments: tuple[str, ...], named: str) -> None:
    """The line names the argument that is wrong."""
    run = installation.run(*arguments)
    assert run.returncode == 2
    assert named in run.stderr


def test_a_model_that_does_not_exist_is_an_error_naming_it(installation: Installation) -> None:
    """A name that is no catalogue id, folder or reachable checkpoint ends in one line."""
    run = installation.run("budget", "no-such-model", "100x100")
    assert run.returncode == 2
    assert "no-such-model" in run.stderr
    assert "Traceback" not in run.stderr
