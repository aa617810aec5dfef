"""Commands of installed packages: the entry point group `gigavqa.commands` names a `CommandEntry` of each.

They are looked up where all commands are listed, and where a name is none of the product's.
"""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

from gigavqa.cli.help import HelpCommand
from gigavqa.cli.lazy import CommandEntry, import_command
from gigavqa.runtime.extras import plugin_advice

ENTRY_POINTS = "gigavqa.commands"


def with_plugins(group: type[TyperGroup]) -> type[TyperGroup]:
    """Return the class of groups that have the commands of packages behind their own."""

    class PluginGroup(group):  # type: ignore[misc,valid-type]
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self._own = frozenset(self.commands)

        def list_commands(self, ctx: Any) -> list[str]:
            self._add_plugins()
            return list(super().list_commands(ctx))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, *rest = args
            if name not in self._own:
                brought = self._add_plugins()
                if name in brought:
                    return name, import_command(name, brought[name].module), rest
                _require_likely(ctx, name, self.commands)
            return super().resolve_command(ctx, args)

        def _add_plugins(self) -> Mapping[str, CommandEntry]:
            brought = {name: entry for name, entry in _plugin_commands().items() if name not in self._own}
            for name, entry in brought.items():
                self.add_command(HelpCommand(name, help=entry.help, rich_help_panel=entry.panel))
            return brought

    return PluginGroup


def _plugin_commands() -> Mapping[str, CommandEntry]:
    from gigavqa.runtime.plugins import load_plugins  # noqa: PLC0415 - a command of the product needs none of it

    return load_plugins(ENTRY_POINTS)


def _require_likely(ctx: Any, name: str, known: Mapping[str, Any]) -> None:
    """Name plugins where a command is none and like none; what is like one is suggested."""
    from gigavqa.runtime.suggestions import did_you_mean  # noqa: PLC0415 - a command of the product needs none of it

    if not name.startswith("-") and not did_you_mean(name, known):
        ctx.fail(f"No such command '{name}'; {plugin_advice()}.")
