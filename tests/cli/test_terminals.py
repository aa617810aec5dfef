"""Nothing that a terminal obeys comes out of the command line or a report, whoever wrote it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gigavqa.cli.console import err, out, print_error, print_json
from gigavqa.cli.reporting import print_report
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.reports.report import Report
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.service.http import examples

OBEYED = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F)]
OBEYED += [*range(0x2066, 0x206A)]
HOSTILE = "".join(f"a{chr(number)}" for number in OBEYED) + "\x1b[2J\x1b]0;X\x07\x9b31m"


def _table(text: str) -> Table:
    table = Table(title=text, caption=text)
    table.add_column(text)
    table.add_row(text)
    return table


PRINTED: dict[str, Callable[[], object]] = {
    "a line": lambda: out.print(HOSTILE),
    "a line of errors": lambda: err.print(HOSTILE, markup=False),
    "an error": lambda: print_error(HOSTILE),
    "a text": lambda: out.print(Text(HOSTILE, style="bold"), Panel(HOSTILE, title=HOSTILE)),
    "a table": lambda: out.print(_table(HOSTILE), soft_wrap=False),
    "a list": lambda: print_table([TableColumn("name"), TableColumn("told", least=8)], [[HOSTILE, HOSTILE]]),
    "JSON": lambda: print_json({HOSTILE: HOSTILE}),
    "a report": lambda: print_report(hostile_report()),
}


def hostile_report() -> Report:
    """A report whose every text of somebody's holds them all."""

    def spoilt(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: spoilt(each, "keys" if key == "keys" else name) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [spoilt(each, key) for each in value]
        is_free = key in {"title", "caption", "text", "keys", "dataset", "engine", "device", "model"}
        return value + HOSTILE if is_free and isinstance(value, str) else value

    return Report.model_validate(spoilt(json.loads(json.dumps(examples.REPORT, default=str))))


def obeyed_in(text: str) -> list[str]:
    """What a terminal would obey."""
    return [ascii(each) for each in text if ord(each) in OBEYED]


@pytest.mark.parametrize("kind", PRINTED)
def test_what_is_printed_steers_no_terminal(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """It is written out, so that it is seen."""
    with out.capture() as told, err.capture() as told_on_the_way:
        PRINTED[kind]()
    printed = told.get() + told_on_the_way.get() + capsys.readouterr().out
    assert obeyed_in(printed) == []
    assert "\\" in printed


@pytest.mark.parametrize("write", [render_markdown, render_csv, render_json, render_latex])
def test_a_report_as_a_file_steers_no_terminal(write: Callable[[Report], str]) -> None:
    """Which people look at with `cat`."""
    assert obeyed_in(write(hostile_report())) == []


def test_what_is_printed_as_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Escapes are JSON's own."""
    print_json({"text": HOSTILE})
    assert json.loads(capsys.readouterr().out) == {"text": HOSTILE}
