"""What the shell offers after TAB, as the shell asks for it."""

import subprocess
from dataclasses import replace

import pytest

from gigavqa.cli.commands.acuity import SIGHT_MODEL
from tests.cli.conftest import Service
from tests.cli.installation import MODEL, Installation


def offered(installation: Installation, *words: str) -> list[str]:
    """What completes the last of these words."""
    asked = {"_GIGAVQA_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    run = subprocess.run(
        installation.command(),
        env=installation.environment | asked,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stderr == ""
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("gigavqa", "submit", "-m", "demo"), [MODEL, SIGHT_MODEL]),
        (("gigavqa", "up", "-m", "demo"), [MODEL, SIGHT_MODEL]),
        (("gigavqa", "submit", "-d", "t"), ["tiny"]),
        (("gigavqa", "submit", "-p", "table"), [f"table{number}" for number in range(1, 6)]),
        (("gigavqa", "submit", "--priority", "b"), ["batch"]),
    ],
)
def test_names_of_the_installation_are_offered(
    installation: Installation, words: tuple[str, ...], names: list[str]
) -> None:
    """Models, data sets, plans, choices; nothing has to run."""
    assert offered(installation, *words) == names


def test_jobs_are_offered_newest_first(service: Service) -> None:
    """Those that the gateway has, and `latest`."""
    arguments = ("submit", "-d", "tiny", "-m", MODEL, "--sample", "cctv-0001")
    first, second = (service.installation.ok(*arguments).strip() for _ in range(2))
    assert offered(service.installation, "gigavqa", "watch", "job_") == [second, first]
    assert offered(service.installation, "gigavqa", "report", "la") == ["latest"]
    assert offered(service.installation, "gigavqa", "logs", "g") == ["gateway"]


def test_without_a_gateway_nothing_is_offered_and_nothing_said(installation: Installation) -> None:
    """Also where its address is none."""
    assert offered(installation, "gigavqa", "watch", "job_") == []
    assert offered(replace(installation, url="nonsense"), "gigavqa", "watch", "job_") == []


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("gigavqa budget qwen3-", ["qwen3-32b", "qwen3-vl-32b", "qwen3-vl-8b"]),
        ("gigavqa view x.png --model demo-", [MODEL, SIGHT_MODEL]),
        ("gigavqa prompt x --dataset ti", ["tiny"]),
        ("gigavqa dataset check t", ["tiny"]),
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
