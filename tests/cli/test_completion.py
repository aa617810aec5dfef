"""What the shell offers after TAB, as the shell asks for it."""

import subprocess
from dataclasses import replace

import pytest

from tests.cli.installation import MODEL, Installation
from tests.warm import warm_process


def asking(installation: Installation, *words: str) -> dict[str, str]:
    """The environment in which a shell asks what completes the last of these words."""
    asked = {"_GIGAVQA_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    return installation.environment | asked


def offered(installation: Installation, *words: str) -> list[str]:
    """What completes the last of these words."""
    run = warm_process().run((), asking(installation, *words), timeout=60)
    assert run.stderr == ""
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("gigavqa", "submit", "-m", "demo"), [MODEL, "demo-sight"]),
        (("gigavqa", "up", "-m", "demo"), [MODEL, "demo-sight"]),
        (("gigavqa", "submit", "-d", "t"), ["tiny"]),
        (("gigavqa", "submit", "-p", "table"), [f"table{number}" for number in range(1, 6)]),
        (("gigavqa", "submit", "-d", "tiny", "-p", "table"), [f"table{number}" for number in range(1, 4)]),
        (("gigavqa", "submit", "--priority", "b"), ["batch"]),
        (("gigavqa", "models", "--paper", "v"), ["vistahop"]),
        (("gigavqa", "models", "--family", "qwen3"), ["qwen3", "qwen3-vl", "qwen3.5"]),
        (("gigavqa", "models", "--fits", "h"), ["here", "h100", "h200"]),
    ],
)
def test_names_of_the_installation_are_offered(
    installation: Installation, words: tuple[str, ...], names: list[str]
) -> None:
    """Models, data sets, plans, choices; nothing has to run."""
    assert offered(installation, *words) == names


def test_a_shell_that_starts_the_command_is_offered_the_same(installation: Installation) -> None:
    """A process that has imported nothing before."""
    words = ("gigavqa", "submit", "-d", "t")
    cold = subprocess.run(installation.command(), env=asking(installation, *words), capture_output=True, check=False)
    assert (cold.stdout, cold.stderr) == (b"tiny\n", b"")


def test_without_a_gateway_nothing_is_offered_and_nothing_said(installation: Installation) -> None:
    """Also where its address is none."""
    assert offered(installation, "gigavqa", "watch", "job_") == []
    assert offered(replace(installation, url="nonsense"), "gigavqa", "watch", "job_") == []


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("gigavqa budget qwen3-vl-3", ["qwen3-vl-30b-a3b", "qwen3-vl-32b"]),
        ("gigavqa view x.png --model demo-", [MODEL, "demo-sight"]),
        ("gigavqa prompt x --dataset ti", ["tiny"]),
        ("gigavqa dataset check t", ["tiny"]),
        ("gigavqa prompt x -d tiny --protocol S", [f"S{number}" for number in range(6)]),
        ("gigavqa ask pictures q.csv --protocol d", ["direct"]),
        ("gigavqa admin keys c", ["create"]),
        ("gigavqa key", []),
        ("gigavqa dataset show tiny cctv-000", [f"cctv-000{number}" for number in range(4)]),
        ("gigavqa view --dataset tiny --sample cctv-0003", ["cctv-0003"]),
        ("gigavqa dataset show nothing c", []),
    ],
)
def test_names_are_offered_to_local_commands(installation: Installation, words: str, names: list[str]) -> None:
    """Those that begin with what stands there."""
    assert offered(installation, *words.split(" ")) == names


def test_a_broken_catalogue_offers_nothing_and_says_nothing(installation: Installation) -> None:
    """The command itself says what is wrong."""
    entry = installation.home / "catalogue" / "broken.toml"
    entry.parent.mkdir()
    entry.write_text("id = ")
    assert offered(installation, "gigavqa", "budget", "q") == []
