"""Consoles of commands: answers to standard output, everything said on the way to standard error."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from gigavqa.reports.writers.escaping import escape_controls, escape_controls_json

_WIDE = 200


class _SafeConsole(Console):
    """Writes out what a terminal would obey in texts of data sets, models and servers; its own styles are none."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render, with texts made visible."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else escape_controls(text), style, control)


def _console(*, stderr: bool = False, width: int | None = None) -> Console:
    # Names, errors and answers are printed as they are: `:100:` is no emoji, and `[A]` no style.
    return _SafeConsole(stderr=stderr, width=width, soft_wrap=True, highlight=False, emoji=False, markup=False)


# A pipe has no width, unless COLUMNS says one: cells of tables must not be cut there.
_HAS_WIDTH = sys.stdout.isatty() or "COLUMNS" in os.environ
out = _console(width=None if _HAS_WIDTH else _WIDE)
err = _console(stderr=True)


def print_json(value: Any) -> None:
    """Print one JSON document to standard output, for scripts."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)  # Infinity is no JSON
    sys.stdout.write(escape_controls_json(text) + "\n")
    sys.stdout.flush()


def print_json_list(values: Iterable[Any]) -> None:
    """Print one JSON list to standard output, as `print_json` does, one value after the other."""
    begun = False
    for value in values:
        text = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")
        sys.stdout.write(f"{',' if begun else '['}\n  {escape_controls_json(text)}")
        begun = True
    sys.stdout.write("\n]\n" if begun else "[]\n")
    sys.stdout.flush()


def print_error(message: str) -> None:
    """Print one line of what went wrong to standard error."""
    err.print("error:", style="bold red", end=" ")
    err.print(message)
