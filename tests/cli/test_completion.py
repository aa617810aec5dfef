"""TAB completes models, data sets and samples; and says nothing where it knows nothing."""

import subprocess

import pytest

from tests.cli.installation import Installation


def completed(installation: Installation, line: str) -> tuple[list[str], str]:
    """What bash is offered for the last word of a line, and what is said beside it."""
    words = line.split(" ")
    asked = {"_GIGAVQA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    run = subprocess.run(
        installation.command(),
        env=installation.environment | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.split(), run.stderr


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("gigavqa budget qwen3-", ["qwen3-vl-8b"]),
        ("gigavqa view x.png --model demo-", ["demo-qwen3-vl"]),
        ("gigavqa prompt x --dataset ti", ["tiny"]),
        ("gigavqa dataset check t", ["tiny"]),
        ("gigavqa dataset show tiny cctv-000", [f"cctv-000{number}" for number in range(4)]),
        ("gigavqa view --dataset tiny --sample cctv-0003", ["cctv-0003"]),
        ("gigavqa dataset show nothing c", []),
    ],
)
def test_names_are_offered(installation: Installation, line: str, offered: list[str]) -> None:
    """Those that begin with what stands there."""
    assert completed(installation, line) == (offered, "")


def test_a_broken_catalogue_offers_nothing_and_says_nothing(installation: Installation) -> None:
    """The command itself says what is wrong."""
    entry = installation.home / "catalogue" / "broken.toml"
    entry.parent.mkdir()
    entry.write_text("id = ")
    assert completed(installation, "gigavqa budget q") == ([], "")
