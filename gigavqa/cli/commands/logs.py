"""`gigavqa logs`: what the processes of `gigavqa up` say."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.cli.completion import match_names
from gigavqa.cli.console import err, out
from gigavqa.cli.errors import ArgumentError
from gigavqa.launcher.supervisor import read_tail
from gigavqa.runtime.home import Home
from gigavqa.runtime.suggestions import did_you_mean

_LOOK_SECONDS = 0.25


def complete_logs(incomplete: str) -> list[str]:
    """Complete logs of this installation."""
    return match_names(incomplete, lambda: log_files(Home.from_environment().folder))


def logs(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[WORKER|gateway]",
            help="A worker, `gateway` or `server`; all of them if omitted.",
            autocompletion=complete_logs,
        ),
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="So many of the last lines of each.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written from now on.")] = False,
) -> None:
    """Print the ends of the logs of this installation's processes (GIGAVQA_HOME), each line with its process.

    While some of them run, logs of earlier ones are left out, and named; when none runs, all are printed.

    \b
    gigavqa logs
    gigavqa logs gateway -n 100
    gigavqa logs worker-demo-qwen3-vl -f
    """
    chosen = _choose_logs(known := log_files(Home.from_environment().folder), name)
    if name is None and (running := _written_now(known)):
        left = sorted(chosen.keys() - running)
        chosen = {process: path for process, path in chosen.items() if process in running}
        if left:
            err.print(f"left out, of what does not run now: {', '.join(left)}; `gigavqa logs {left[0]}` prints it")
    width = max(map(len, chosen))
    try:
        for process, line in _lines(chosen, lines, follow=follow):
            out.print(f"{process:<{width}}  {line}" if len(chosen) > 1 else line)
    except KeyboardInterrupt:
        return


def log_files(home: Path) -> dict[str, Path]:
    """Return the logs of an installation by the names of the processes that write them."""
    found = {path.stem: path for path in sorted((home / "logs").glob("*.log"))}
    server = home / "server" / "server.log"
    return found | ({"server": server} if server.is_file() else {})


def _written_now(known: Mapping[str, Path]) -> set[str]:
    """Return the names of the logs that some process has open; none where that cannot be found out."""
    opened = set()
    for link in Path("/proc").glob("[0-9]*/fd/[0-9]*"):
        with suppress(OSError):  # it has ended, or is somebody else's
            opened.add(str(link.readlink()))
    return {name for name, path in known.items() if str(path.resolve()) in opened}


def _choose_logs(known: Mapping[str, Path], name: str | None) -> dict[str, Path]:
    if not known:
        raise ArgumentError("there are no logs: `gigavqa up` has not run with this GIGAVQA_HOME")
    if name is None:
        return dict(known)
    for spelt in (name, f"worker-{name}"):
        if spelt in known:
            return {spelt: known[spelt]}
    raise ArgumentError(f"there is no log of '{name}'{did_you_mean(name, known) or ';'} there are {', '.join(known)}")


def _lines(files: Mapping[str, Path], last: int, *, follow: bool) -> Iterator[tuple[str, str]]:
    read = {name: path.stat().st_size for name, path in files.items()}
    for name, path in files.items():
        yield from ((name, line) for line in read_tail(path, last))
    while follow:
        time.sleep(_LOOK_SECONDS)
        for name, path in files.items():
            news, read[name] = _new_lines(path, read[name])
            yield from ((name, line) for line in news)


def _new_lines(path: Path, after: int) -> tuple[list[str], int]:
    """Whole lines behind a place in a file, and the place behind them; a file that was replaced is read anew."""
    try:
        with path.open("rb") as file:
            file.seek(after if file.seek(0, 2) >= after else 0)
            start = file.tell()
            text = file.read()
    except FileNotFoundError:
        return [], 0
    whole = text[: text.rfind(b"\n") + 1]
    return whole.decode(errors="replace").split("\n")[:-1], start + len(whole)
