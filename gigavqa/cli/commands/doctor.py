"""`gigavqa doctor`: what this installation has, what it lacks, and what to do about it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer
from rich.markup import escape

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.checks import Diagnosis, faults, hardware, software, state
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import EXPECTED
from gigavqa.runtime.exit_statuses import ExitStatus

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}
_NAME = 9  # width of the longest name


def doctor(
    port: Annotated[int, typer.Option(help="Port that the gateway is to listen on.")] = 8470,
    json: JsonOption = False,
) -> None:
    """Check the installation: interpreter, pixels, engine, CPU, GPU, server, disk, folders; a line as each is found.

    The exit status is 1 where a check failed, else 0: a warning changes nothing.

    \b
    gigavqa doctor
    gigavqa doctor --json | jq '.[] | select(.status != "ok")'
    """
    with software.EngineImports() as engine:
        findings = [check_one(check, say=not json) for check in _checks(port, engine)]
    if json:
        print_json([asdict(finding) for finding in findings])
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(ExitStatus.FAILED)


def check_one(check: Callable[[], Diagnosis], *, say: bool) -> Diagnosis:
    """Make one check and, if wanted, print at once what it found: some take many seconds."""
    told = f"checking {_name_of(check)} ..."
    with err.status(told) if say and err.is_terminal else nullcontext():
        finding = _find(check)
    if say:
        status = f"[{_COLOURS[finding.status]}]{finding.status:4}[/]"
        out.print(f"{status}  {finding.name:{_NAME}}  {escape(finding.found)}", markup=True)
        if finding.advice:
            out.print(f"{'':{_NAME + 8}}[bold]{escape(finding.advice)}[/]", markup=True)
    return finding


def _find(check: Callable[[], Diagnosis]) -> Diagnosis:
    try:
        return check()
    except EXPECTED as error:
        return Diagnosis(_name_of(check), "fail", str(error), "mend it; what is checked here rests on it")
    except Exception as error:  # noqa: BLE001 - what one check stumbles over hides nothing of the others
        return Diagnosis(
            _name_of(check), "fail", f"could not be checked: {error!r}", "a fault of gigavqa: please report it"
        )


def _name_of(check: Callable[[], Diagnosis]) -> str:
    return getattr(check, "__name__", "port").replace("_", " ")


def _checks(port: int, engine: software.EngineImports) -> list[Callable[[], Diagnosis]]:
    """Return what is looked at; last what is imported meanwhile, by one process."""
    return [
        software.python,
        software.libvips,
        software.openslide,
        hardware.cpu,
        software.attention,
        hardware.gpu,
        faults.repairs,
        faults.shared_memory,
        hardware.models,
        state.endpoint,
        state.state_store,
        state.data_root,
        state.remote_images,
        state.results,
        hardware.disk,
        partial(state.port, port),
        engine.torch,
        engine.vllm,
    ]
