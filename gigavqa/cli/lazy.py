"""Commands that are imported when they are called: help and completion say what is listed of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.main import get_group

from gigavqa.cli.help import HelpCommand, HelpGroup


@dataclass(frozen=True)
class CommandEntry:
    """The module that has a function of the command's name, or an `app` of commands; and what help says of it."""

    module: str
    panel: str
    help: str


def lazy_group(listed: Mapping[str, CommandEntry], older: Mapping[str, CommandEntry] | None = None) -> type[HelpGroup]:
    """Return a class of groups that have the listed commands, each imported when it is called or completed.

    `older` spellings are taken, too, and shown nowhere.
    """
    hidden = older or {}

    class LazyGroup(HelpGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for name, command in {**listed, **hidden}.items():
                told = {"help": command.help, "rich_help_panel": command.panel, "hidden": name in hidden}
                self.add_command(HelpCommand(name, **told))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, command, rest = super().resolve_command(ctx, args)
            found = (listed.get(name) or hidden.get(name)) if name else None
            return name, import_command(name, found.module) if name and found and command else None, rest

    return LazyGroup


def import_command(name: str, module: str) -> Any:
    """Return a command, or the group of a module's commands."""
    found = import_module(module)
    alone = typer.Typer(rich_markup_mode=None)
    if hasattr(found, "app"):
        for command in found.app.registered_commands:
            command.cls = HelpCommand
        own = found.app.info.cls
        alone.add_typer(found.app, name=name, cls=own if isinstance(own, type) else HelpGroup)
    else:
        alone.command(name, cls=HelpCommand)(getattr(found, name))
    return get_group(alone).commands[name]
