"""Command lines of the pages have commands and options that there are."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer import TyperException

from gigavqa.cli.app import command_line

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")])
_LINE = re.compile(r"^ {4}(?:[\w$(]+=\S* )*(?:\S*/)?gigavqa ((?:.*\\\n)*.*)$|`gigavqa ([^`\n]+)`", re.MULTILINE)


def lines() -> Iterator[tuple[str, str]]:
    """Each command line, without `gigavqa`, with its page."""
    for page in PAGES:
        for code, word in _LINE.findall(page.read_text(encoding="utf-8")):
            text = re.split(r"\s[#|>&;]|\$\(", f"{code or word} ".replace("\\\n", " "))[0].strip()
            yield str(page.relative_to(ROOT)), text


def unknown(text: str) -> list[str]:
    """Options of a command line that its command has not, or the command where there is none."""
    command: Any = command_line()
    words = text.split()
    while hasattr(command, "resolve_command") and words and re.match(r"[a-z]", words[0]):
        name = words[0]
        try:
            _, command, words = command.resolve_command(command.context_class(command), words)
        except TyperException:
            return [name]
        if command is None:
            return [name]
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help", "-h"}
    return [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]


@pytest.mark.parametrize("page", sorted({page for page, _ in lines()}))
def test_every_option_of_a_page_exists(page: str) -> None:
    """As its command's help has it."""
    assert {text: found for where, text in lines() if where == page and (found := unknown(text))} == {}
