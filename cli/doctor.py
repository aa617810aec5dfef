"""`gigavqa doctor`: what this installation has, what it lacks, and what to do about it."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli.arguments import Json
from cli.console import out, print_json

if TYPE_CHECKING:
    from cli.checks.finding import Finding

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(
    port: Annotated[int, typer.Option(help="Port that the gateway is to listen on.")] = 8470,
    json: Json = False,
) -> None:
    """Check the installation: interpreter, pixels, engine, GPU, server, disk, folders. Ends with status 1 on a failure.

    \b
    gigavqa doctor
    gigavqa doctor --json | jq '.[] | select(.status != "ok")'
    """
    findings = [check() for check in _checks(port)]
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        _print_table(findings)
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(1)


def _checks(port: int) -> "list[Callable[[], Finding]]":
    from cli.checks import engine, machine, pixels, state

    return [
        machine.python,
        pixels.libvips,
        pixels.openslide,
        engine.torch,
        engine.vllm,
        machine.gpu,
        state.server,
        state.data_root,
        machine.disk,
        lambda: machine.port(port),
    ]


def _print_table(findings: "list[Finding]") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False)
    for finding in findings:
        found = Text(finding.found).append(f"\n{finding.advice}" if finding.advice else "", style="bold")
        table.add_row(Text(finding.status, style=_COLOURS[finding.status]), finding.name, found)
    out.print(table)
