"""`gigavqa`: the commands, and how errors reach people. Heavy rooms are imported by the command that needs them."""

import sys
from typing import Annotated

import typer
from typer.main import get_command

from cli import (
    budget,
    dataset,
    demo,
    doctor,
    ingest,
    logs,
    manage,
    models,
    prompt,
    pyramids,
    report,
    results,
    score,
    submit,
    up,
    view,
    watch,
    workers,
)
from cli.console import out, print_error
from cli.errors import EXPECTED, exit_status

_EPILOG = """
Start with `gigavqa demo`: it runs everything on a small model. Or step by step: `gigavqa up --model MODEL` in one
terminal, `gigavqa submit --dataset demo --model MODEL --watch` and `gigavqa report` in another.

Exit status: 0 done, 1 failed, 2 wrong arguments or input files, 3 no gateway, 4 not possible now, 5 job without full
success.
"""

app = typer.Typer(
    name="gigavqa",
    help="Visual question answering over gigapixel images: submit evaluation jobs, follow them, read reports.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_RUN, _JOBS, _LOOK, _DATA = "Run the service", "Jobs", "Look without a service", "Data and installation"
for panel, commands in {
    _RUN: (demo.demo, up.up, workers.workers, logs.logs),
    _JOBS: (
        submit.submit,
        watch.watch,
        results.results,
        report.report,
        manage.jobs,
        manage.cancel,
        manage.retry,
        manage.delete,
    ),
    _LOOK: (score.score, view.view, prompt.prompt, budget.budget),
    _DATA: (ingest.ingest, doctor.doctor),
}.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(models.app, name="models", rich_help_panel=_LOOK)
app.add_typer(dataset.app, name="dataset", rich_help_panel=_DATA)
app.add_typer(pyramids.app, name="pyramids", rich_help_panel=_DATA)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        out.print(f"gigavqa {version('gigavqa')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Visual question answering over gigapixel images: submit evaluation jobs, follow them, read reports."""
    _Errors.debug = debug


class _Errors:
    """Whether tracebacks are wanted; set before the command runs."""

    debug = False


def main() -> None:
    """Run the command line. An error is one line on standard error, with its class's exit status."""
    sys.excepthook = _report_unexpected
    try:
        get_command(app)(prog_name="gigavqa")
    except EXPECTED as error:
        if _Errors.debug:
            raise
        print_error(str(error))
        sys.exit(exit_status(error))


def _report_unexpected(kind: type[BaseException], error: BaseException, trace: object) -> None:
    if _Errors.debug:
        sys.__excepthook__(kind, error, error.__traceback__)
    else:
        print_error(f"{kind.__name__}: {error} (a fault of gigavqa; `gigavqa --debug ...` shows where)")
