"""Help that fits the terminal: paragraphs that wrap, commands by what they are for, and one way to show a value."""

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_GAP = 2
_MOST_CHOICES = 6  # that stand beside an option's name; more are told behind its text
_UNCUT = 500  # characters of a line about a command: all of it
_NUMBERS: dict[Any, str] = {int: "N", float: "NUMBER", Path: "FILE"}


class HelpCommand(TyperCommand):
    """A command whose help shows options by their panels, and every value that it takes in one way."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        _spell_values(self.params)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options, each panel under its own head."""
        _write_parameters(self.get_params(ctx), ctx, formatter)


class HelpGroup(TyperGroup):
    """A group whose help shows commands first, by their panels where they have any."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _spell_values(self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the group's own options; without any argument, help is the answer."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write commands, then options."""
        self.format_commands(ctx, formatter)
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line a command, beside the name of its panel where that changes."""
        shown = [command for command in map(self.commands.__getitem__, self.list_commands(ctx)) if not command.hidden]
        panels = [getattr(command, "rich_help_panel", None) or "" for command in shown]
        if not any(panels):
            with formatter.section(typer.style("Commands", bold=True)):
                formatter.write_dl([(command.name, command.get_short_help_str(_UNCUT)) for command in shown])
            return
        left, middle = (max(map(len, names)) + _GAP for names in (panels, [str(command.name) for command in shown]))
        formatter.write_paragraph()
        for command, panel, before in zip(shown, panels, ["", *panels], strict=False):
            head = typer.style(f"{'' if panel == before else panel:<{left}}", bold=True)
            told = wrap(command.get_short_help_str(_UNCUT), formatter.width - left - middle)
            formatter.write(f"{head}{command.name:<{middle}}" + f"\n{'':{left + middle}}".join(told) + "\n")


def _write_parameters(parameters: Iterable[Any], ctx: Any, formatter: Any) -> None:
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in parameters:
        if record := parameter.get_help_record(ctx):
            is_argument = isinstance(parameter, TyperArgument)
            name = parameter.display_name_raw if is_argument else record[0]
            panel = parameter.rich_help_panel or ("Arguments" if is_argument else "Options")
            panels.setdefault(panel, []).append((name, record[1]))
    for panel, records in sorted(panels.items(), key=lambda item: item[0] != "Arguments"):
        with formatter.section(typer.style(panel, bold=True)):
            formatter.write_dl(records, col_max=24)


def _spell_values(parameters: Iterable[Any]) -> None:
    """Name what each parameter takes in capitals or by its choices, and tell its bounds in words."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and not parameter.is_flag and parameter.metavar is None:
            choices = choice_names(parameter.type_descriptor.choices or ())
            parameter.metavar = "|".join(choices) if 0 < len(choices) <= _MOST_CHOICES else _value_name(parameter)
            if len(choices) > _MOST_CHOICES:
                parameter.help = f"{parameter.help} ({', '.join(choices)})"
        if bounds := describe_bounds(parameter.min, parameter.max):
            parameter.help = f"{parameter.help or ''} ({bounds})".strip()
            parameter.min = parameter.max = None  # help would tell them again; values are held to them elsewhere


def _value_name(option: TyperOption) -> str:
    return _NUMBERS.get(option.type_descriptor.annotation, str(option.name).strip("_").upper().replace("_", "-"))


def choice_names(choices: Iterable[Any]) -> list[str]:
    """Return choices as they are typed."""
    return [str(choice.value if isinstance(choice, Enum) else choice) for choice in choices]


def describe_bounds(least: float | None, most: float | None) -> str:
    """Return the bounds of a number in words; nothing where it has none."""
    if least is None or most is None:
        return f"{least:.15g} or more" if least is not None else f"at most {most:.15g}" if most is not None else ""
    return f"{least:.15g} to {most:.15g}"
