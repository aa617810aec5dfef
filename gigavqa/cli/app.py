"""`gigavqa`: the commands, each imported when it is called, and how errors reach people."""

import sys
from typing import Annotated

import typer
from typer.main import get_command

from gigavqa.cli.console import out, print_error
from gigavqa.cli.errors import EXPECTED, exit_status
from gigavqa.cli.lazy import CommandEntry, lazy_group

_EPILOG = """
Start with `gigavqa demo`: it runs everything on a small model. `gigavqa ask` asks your own questions. Or step by step:
`gigavqa up --model MODEL` in one terminal, `gigavqa submit --dataset demo --model MODEL --watch` and `gigavqa report`
in another.

Exit status: 0 done, 1 failed, 2 wrong arguments or input files, 3 no gateway, 4 not possible now, 5 job without full
success.
"""

_RUN, _JOBS, _LOOK, _DATA = "Run the service", "Jobs", "Look without a service", "Data and installation"
COMMANDS = {
    "demo": CommandEntry(
        "gigavqa.cli.commands.demo",
        _RUN,
        "Run whole evaluations on this machine: draw data sets, serve a small model, ask, report, end.",
    ),
    "acuity": CommandEntry(
        "gigavqa.cli.commands.acuity",
        _RUN,
        "Ask a model an eye chart, and say what it can see: pixels that a sign needs, and what is wrong with its "
        "pictures.",
    ),
    "ask": CommandEntry(
        "gigavqa.cli.commands.ask",
        _RUN,
        "Ask your own questions about your own pictures, and write a page and every verdict.",
    ),
    "up": CommandEntry(
        "gigavqa.cli.commands.up",
        _RUN,
        "Start the embedded server, the gateway, the viewer and the workers; restart what dies; end all on Ctrl-C.",
    ),
    "viewer": CommandEntry(
        "gigavqa.cli.commands.viewer",
        _RUN,
        "Serve the pictures of the data root by IIIF's Image API, and the page that shows evidence in them.",
    ),
    "workers": CommandEntry(
        "gigavqa.cli.commands.workers",
        _RUN,
        "List the workers: models, state, the phase of an engine that starts, requests that run and that wait.",
    ),
    "logs": CommandEntry(
        "gigavqa.cli.commands.logs",
        _RUN,
        "Print the ends of the logs of this installation's processes (GIGAVQA_HOME), each line with its process.",
    ),
    "submit": CommandEntry("gigavqa.cli.commands.submit", _JOBS, "Submit a job, and print its id."),
    "watch": CommandEntry(
        "gigavqa.cli.commands.watch",
        _JOBS,
        "Follow a job until it ends: requests done, failures, requests per second, time left; then what it took.",
    ),
    "results": CommandEntry(
        "gigavqa.cli.commands.results",
        _JOBS,
        "Write the raw responses of a job, one JSON object a line, in the order in which they were recorded.",
    ),
    "report": CommandEntry(
        "gigavqa.cli.commands.report",
        _JOBS,
        "Print one report over jobs, also while they run: Tables 1 to 3 and the figures, with 95 % intervals.",
    ),
    "judge": CommandEntry(
        "gigavqa.cli.commands.judge",
        _JOBS,
        "Have models judge what finished jobs were answered, as a job of its own, and print its id.",
    ),
    "verdicts": CommandEntry(
        "gigavqa.cli.commands.verdicts",
        _JOBS,
        "Write the verdicts on jobs, one row a response: what was asked, the truth, what was read, and its score.",
    ),
    "jobs": CommandEntry("gigavqa.cli.commands.jobs", _JOBS, "List the jobs of the gateway, newest first."),
    "cancel": CommandEntry(
        "gigavqa.cli.commands.jobs",
        _JOBS,
        "Cancel a job: what waits is dropped, what runs is aborted, what is recorded stays.",
    ),
    "retry": CommandEntry(
        "gigavqa.cli.commands.jobs",
        _JOBS,
        "Ask again what is not answered: the failed requests of a job, and those that a cancelled one did not come to.",
    ),
    "delete": CommandEntry(
        "gigavqa.cli.commands.jobs",
        _JOBS,
        "Delete a job that has ended, with all its responses. Nothing brings them back.",
    ),
    "score": CommandEntry(
        "gigavqa.cli.commands.score",
        _LOOK,
        "Score responses against samples, from files alone: parses answers, fills Tables 1 to 3 and the figures.",
    ),
    "view": CommandEntry(
        "gigavqa.cli.commands.view",
        _LOOK,
        "Write what a model will see of an image: every raster of the view, after the model's own preprocessing.",
    ),
    "prompt": CommandEntry(
        "gigavqa.cli.commands.prompt",
        _LOOK,
        "Print what a model is shown and told: views with their regions, and the texts of all turns.",
    ),
    "budget": CommandEntry(
        "gigavqa.cli.commands.budget",
        _LOOK,
        "Print which rasters a model makes of a picture of a size, and their visual tokens, as JSON.",
    ),
    "models": CommandEntry(
        "gigavqa.cli.commands.models",
        _LOOK,
        "List the models of the catalogue: yours (GIGAVQA_HOME/catalogue/*.toml) and those that come with the product.",
    ),
    "ingest": CommandEntry(
        "gigavqa.cli.commands.ingest",
        _DATA,
        "Make lossless tiled pyramids of flat images (JPEG, PNG ...), so that every view reads only what it shows.",
    ),
    "doctor": CommandEntry(
        "gigavqa.cli.commands.doctor",
        _DATA,
        "Check the installation: interpreter, pixels, engine, CPU, GPU, server, disk, folders; a line as each is "
        "found.",
    ),
    "dataset": CommandEntry(
        "gigavqa.cli.commands.dataset",
        _DATA,
        "Make the demo data set, import, check a data set, list the data root, show samples.",
    ),
    "corpus": CommandEntry(
        "gigavqa.cli.commands.corpus",
        _DATA,
        "Make the index of a corpus, and search it as models do: pages that are found, and the text of the result.",
    ),
    "backup": CommandEntry(
        "gigavqa.cli.commands.backup",
        _DATA,
        "Back up what the installation keeps, also while jobs run: server state, responses, uploads, catalogue.",
    ),
    "restore": CommandEntry(
        "gigavqa.cli.commands.restore",
        _DATA,
        "Restore a backup into an installation that does not run; jobs that were in progress go on when it starts.",
    ),
    "fsck": CommandEntry(
        "gigavqa.cli.commands.fsck",
        _DATA,
        "Find what is damaged in what the installation keeps, name it, and go on; also while jobs run.",
    ),
    "prune": CommandEntry(
        "gigavqa.cli.commands.prune",
        _DATA,
        "Delete what is left over: parts and files that nothing names, rasters and pyramids of no use; asks first.",
    ),
    "keys": CommandEntry("gigavqa.cli.commands.keys", _DATA, "Make API keys, list them, and revoke them."),
    "pyramids": CommandEntry(
        "gigavqa.cli.commands.pyramids",
        _DATA,
        "List the pyramids that were made of flat images, and delete those of no use.",
    ),
}

app = typer.Typer(
    cls=lazy_group(COMMANDS),
    name="gigavqa",
    help="Visual question answering over gigapixel images: submit evaluation jobs, follow them, read reports.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - a seventh of the time of `gigavqa --help`

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
    _DebugMode.debug = debug


class _DebugMode:
    """Whether tracebacks are wanted; set before the command runs."""

    debug = False


def main() -> None:
    """Run the command line. An error is one line on standard error, with its class's exit status."""
    sys.excepthook = _report_unexpected
    try:
        get_command(app)(prog_name="gigavqa")
    except EXPECTED as error:
        if _DebugMode.debug:
            raise
        print_error(str(error))
        sys.exit(exit_status(error))


def _report_unexpected(kind: type[BaseException], error: BaseException, trace: object) -> None:
    if _DebugMode.debug:
        sys.__excepthook__(kind, error, error.__traceback__)
    else:
        print_error(f"{kind.__name__}: {error} (a fault of gigavqa; `gigavqa --debug ...` shows where)")
