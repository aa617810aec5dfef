"""`gigavqa`: the commands, each imported when it is called, and how errors reach people."""

import sys
from typing import Annotated, Any

import typer
from typer.main import get_command

from gigavqa.cli.commands import ADMIN, COMMANDS
from gigavqa.cli.console import out, print_error
from gigavqa.cli.errors import EXPECTED, exit_status
from gigavqa.cli.help import CONTEXT
from gigavqa.cli.lazy import lazy_group
from gigavqa.cli.plugins import with_plugins
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.tiling.opening import use_remote_images
from gigavqa.tiling.remote.images import RemoteImages

_TEXT = "Visual question answering over gigapixel images: ask, follow, read reports."
_EPILOG = """
`gigavqa` alone says what to do next.
Exit: 0 done, 1 failed, 2 wrong input, 3 no gateway, 4 not now, 5 partly.
"""

app = typer.Typer(
    cls=with_plugins(lazy_group(COMMANDS, older=ADMIN)),
    name="gigavqa",
    help=_TEXT,
    epilog=_EPILOG,
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings=CONTEXT,
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - a seventh of the time of `gigavqa --help`

        out.print(f"gigavqa {version('gigavqa')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Visual question answering over gigapixel images: ask, follow, read reports."""
    _DebugMode.debug = debug
    use_remote_images(_remote_images)
    if context.invoked_subcommand is None:
        from gigavqa.cli.next_steps import describe, look_around  # noqa: PLC0415 - HTTP, which help does without

        for line in describe(look_around(), out.width):
            out.print(line, markup=False)


def _remote_images() -> RemoteImages:
    from gigavqa.ranges.sources import COMMAND_SECONDS, make_remote_images  # noqa: PLC0415 - HTTP, for images elsewhere alone
    from gigavqa.runtime.home import Home  # noqa: PLC0415

    return make_remote_images(Home.from_environment(), COMMAND_SECONDS)


class _DebugMode:
    """Whether tracebacks are wanted; set before the command runs."""

    debug = False


def command_line() -> Any:
    """Return the whole command line; one of the two options of completion is not shown."""
    root: Any = get_command(app)
    for option in root.params:
        if option.name == "show_completion":
            option.hidden = True
        elif option.name == "install_completion":
            option.help = "Let the shell complete names after TAB."
    return root


def main() -> None:
    """Run the command line. An error is one line on standard error, with its class's exit status."""
    sys.excepthook = _report_unexpected
    try:
        sys.exit(command_line()(prog_name="gigavqa", standalone_mode=False))
    except typer.Abort:
        print_error("aborted: nothing was done")
        sys.exit(ExitStatus.FAILED)
    except typer.TyperException as error:
        from gigavqa.cli.usage_errors import describe_usage_error  # noqa: PLC0415 - pydantic, which help does without

        print_error(describe_usage_error(error))
        sys.exit(ExitStatus.WRONG_INPUT)
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
