"""Completion in the shells themselves: their own scripts, run by them, offer the names of the installation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.installation import MODEL, Installation

ASK = {
    "bash": 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gigavqa_completion gigavqa;'
    ' printf "%s\\n" "${COMPREPLY[@]}"',
    "zsh": "compdef() { : }; _arguments() { print -r -- ${${@[-1]#*\\(\\(}%\\)\\)} };"
    ' source "$1"; shift; words=("$@"); CURRENT=$#; _gigavqa_completion',
    "fish": 'source $argv[1]; complete --do-complete (string join -- " " $argv[2..])',
}
"""What each shell does after TAB; zsh's is run without its line editor, whose `_arguments` lists what it is given."""

SCRIPT = {"bash": "source_bash", "zsh": "source_zsh", "fish": "source_fish"}


def offered(shell: str, installation: Installation, folder: Path, *words: str) -> list[str]:
    """What a shell offers for the last of these words, with the script that `--install-completion` writes for it."""
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    command = folder / "gigavqa"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gigavqa "$@"\n')
    command.chmod(0o755)
    environment = installation.environment | {"PATH": f"{folder}:{os.environ['PATH']}"}
    script = subprocess.run(
        [str(command)],
        env=environment | {"_GIGAVQA_COMPLETE": SCRIPT[shell]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (folder / "script").write_text(script)
    asked = ["-c", ASK[shell], *(["_"] if shell != "fish" else []), str(folder / "script"), *words]
    run = subprocess.run([program, *asked], env=environment, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.stdout.replace('"', "").split()


@pytest.mark.slow
@pytest.mark.parametrize("shell", ASK)
@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("gigavqa submit -d t", ["tiny"]),
        ("gigavqa up -m demo", [MODEL, "demo-sight"]),
        ("gigavqa dataset show tiny cctv-0003", ["cctv-0003"]),
        ("gigavqa loa", ["load"]),
    ],
)
def test_a_shell_offers_names(
    installation: Installation, tmp_path: Path, shell: str, words: str, names: list[str]
) -> None:
    """Of data sets, models, samples and commands."""
    found = offered(shell, installation, tmp_path, *words.split())
    assert [name for name in names if any(each.split(":")[0] == name for each in found)] == names, found
