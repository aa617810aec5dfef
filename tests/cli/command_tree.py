"""Every command and group of the command line, as it is built when it is called."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gigavqa.cli.app import command_line


@dataclass(frozen=True)
class NamedCommand:
    """A command or a group, and the words that call it."""

    words: tuple[str, ...]
    command: Any
    parents: tuple[Any, ...]

    def help(self, columns: int) -> str:
        """Its help on a terminal of a width."""
        context = None
        for word, command in zip(("gigavqa", *self.words), (*self.parents, self.command), strict=True):
            settings = command.context_settings
            context = command.context_class(command, info_name=word, parent=context, **settings)
        assert context is not None
        context.terminal_width = columns - 2
        return re.sub(r"\x1b\[\d+m", "", context.get_help())

    def __str__(self) -> str:
        return " ".join(self.words) or "gigavqa"


def walk(words: tuple[str, ...] = (), command: Any = None, parents: tuple[Any, ...] = ()) -> Iterator[NamedCommand]:
    """Yield the command line, and everything below it that help shows."""
    command = command or command_line()
    yield NamedCommand(words, command, parents)
    for name, listed in getattr(command, "commands", {}).items():
        if not listed.hidden:
            _, whole, _ = command.resolve_command(None, [name])
            yield from walk((*words, name), whole, (*parents, command))


TREE = tuple(walk())
