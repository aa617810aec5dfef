"""Commands that are imported when they are called: help and completion say what is listed of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group


@dataclass(frozen=True)
class CommandEntry:
    """The module that has a function of the command's name, or an `app` of commands; and what help says of it."""

    module: str
    panel: str
    help: str


def lazy_group(listed: Mapping[str, CommandEntry]) -> type[TyperGroup]:
    """Return a class of groups that have the listed commands, each imported when it is called or completed."""

    class LazyGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for name, command in listed.items():
                self.add_command(TyperCommand(name, help=command.help, rich_help_panel=command.panel))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, command, rest = super().resolve_command(ctx, args)
            return name, _import_command(name, listed[name].module) if name and command else None, rest

    return LazyGroup


def _import_command(name: str, module: str) -> Any:
    found = import_module(module)
    alone = typer.Typer()
    if hasattr(found, "app"):
        alone.add_typer(found.app, name=name)
    else:
        alone.command(name)(getattr(found, name))
    return get_group(alone).commands[name]
