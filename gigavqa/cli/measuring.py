"""From the arguments of `gigavqa load` to a measurement, and what people are shown of it."""

import asyncio
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
from rich.status import Status

from gigavqa.cli.console import err, out
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import dataset_folder, image_path
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.client.connection import request_headers
from gigavqa.load.notes import notes
from gigavqa.load.objectives import parse_objectives
from gigavqa.load.prompts import (
    Picture,
    Prompts,
    Question,
    QuestionPrompts,
    RegionOptions,
    ShowRegion,
    TextPrompts,
    name_region,
    questions_about,
)
from gigavqa.load.run import Load, Run
from gigavqa.load.service import MeasuredService, chat_address
from gigavqa.load.tally import Tally
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.digest import store_digests
from gigavqa.tiling.displays.display_rules import show_below
from gigavqa.tiling.headers import read_header

_WARMUP = 10
_CONNECT_SECONDS = 30.0
_IDLE_SECONDS = 2.0  # servers close what is idle for longer, uvicorn after five
_LINE_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_TIMES = {
    "ttft": "time to first token",
    "tpot": "time per output token",
    "itl": "time between chunks",
    "e2el": "time to the last token",
}


@dataclass(frozen=True)
class LoadArguments:
    """What was said on the command line."""

    url: str
    model: str
    users: int | None
    rate: float | None
    requests: int | None
    seconds: float | None
    warmup: int | None
    seed: int
    words: int
    dataset: str | None
    images: tuple[Path, ...]
    regions: int
    region_size: int
    repeated: int | None
    references: bool
    show: str
    slo: str
    timeout: float
    key: str
    fields: Mapping[str, Any]

    @property
    def load(self) -> Load:
        """How much is sent."""
        users = None if self.rate else self.users or 1
        warmup = (users or _WARMUP) if self.warmup is None else self.warmup
        return Load(users, self.rate, self.requests, self.seconds, warmup, self.seed)


async def measure(arguments: LoadArguments) -> tuple[Run, dict[str, Any]]:
    """Measure a service, showing how far it is; return the run and its figures."""
    prompts = _prompts(arguments)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_IDLE_SECONDS)
    patience = httpx.Timeout(None, connect=_CONNECT_SECONDS)
    headers = request_headers(arguments.key)
    async with httpx.AsyncClient(limits=limits, timeout=patience, headers=headers) as client:
        address = chat_address(arguments.url)
        service = MeasuredService(client, address, arguments.model, arguments.fields, arguments.timeout)
        run = Run(arguments.load, service, prompts, Tally(parse_objectives(arguments.slo) if arguments.slo else {}))
        await run.check()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, run.stop.set)
        with _display() as show:
            showing = asyncio.create_task(_show_progress(run, show))
            await run.measure()
            showing.cancel()
    return run, _figures(arguments, address, run)


def _figures(arguments: LoadArguments, address: str, run: Run) -> dict[str, Any]:
    load = arguments.load
    late, paused = run.sending_late.percentile(99), run.pausing.percentile(99)
    return {
        "base_url": address,
        "model_id": arguments.model,
        "max_concurrency": load.users,
        "request_rate": load.rate,
        "num_warmups": load.warmup,
        "seed": load.seed,
        "objectives_ms": {name: 1000 * seconds for name, seconds in run.tally.objectives.items()},
        **run.tally.figures(),
        "most_open": run.most_open,
        "p99_sent_late_ms": None if late is None else 1000 * late,
        "p99_client_pause_ms": None if paused is None else 1000 * paused,
        "interrupted": run.stop.is_set(),
        "notes": notes(run),
    }


def _prompts(arguments: LoadArguments) -> Prompts:
    home = Home.from_environment()
    store_digests(home.digests)
    if arguments.dataset:
        questions = _dataset_questions(dataset_folder(arguments.dataset), arguments.show)
    elif arguments.images:
        paths = [image_path(str(image)) for image in arguments.images]
        questions = questions_about([_picture(str(path), path, arguments.show) for path in paths])
    else:
        return TextPrompts(arguments.words, arguments.seed)
    if arguments.references:
        questions = [_named_in_root(question, home.data) for question in questions]
    show = name_region if arguments.references else _region_cutter(home.pyramids)
    options = RegionOptions(arguments.regions, arguments.region_size, arguments.repeated)
    return QuestionPrompts(questions, options, arguments.seed, show)


def _picture(name: str, path: Path, show: str) -> Picture:
    return Picture(name, str(path), read_header(path, show).size, show)


def _region_cutter(pyramids: Path) -> ShowRegion:
    from gigavqa.load.cutting import region_cutter  # noqa: PLC0415 - the extra `pixels`

    return region_cutter(pyramids)


def _dataset_questions(folder: Path, show: str) -> list[Question]:
    from gigavqa.evaluation.datasets import read_dataset  # noqa: PLC0415 - texts alone need no benchmark

    pictures: dict[str, Picture] = {}
    questions = []
    for sample in read_dataset(folder).samples:
        options = [f"{letter}. {text}" for letter, text in (sample.options or {}).items()]
        name = sample.images[0] if sample.images else ""
        if name and name not in pictures:
            pictures[name] = _picture(name, folder / name, show or show_below(folder.parent, f"{folder.name}/{name}"))
        questions.append(Question("\n".join([sample.question, *options]), pictures.get(name)))
    if not questions:
        raise ArgumentError(f"{folder} has no sample; `gigavqa dataset check {folder.name}` says more")
    return questions


def _named_in_root(question: Question, root: Path) -> Question:
    """Return a question about a picture as the gateway's data root names it. Raises ArgumentError."""
    if not (picture := question.picture):
        return question
    with suppress(ValueError):
        name = Path(picture.path).absolute().relative_to(root.absolute()).as_posix()
        return Question(question.text, replace(picture, name=name))
    raise ArgumentError(
        f"--references: {picture.path} does not lie in the data root {root}, so that it has no name there"
    )


@contextmanager
def _display() -> Iterator[Status | None]:
    if not err.is_terminal:
        yield None
        return
    with err.status("warming up") as status:
        yield status


async def _show_progress(run: Run, status: Status | None) -> None:
    """Tell how far it is: one changing line at a terminal, elsewhere a line from time to time."""
    told = time.monotonic()
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        tally = run.tally
        line = f"{count_noun(tally.completed, 'answer')}, {run.open} open, {tally.failed} failed"
        if status:
            status.update(line if tally.began else f"warming up: {run.open} open")
        elif time.monotonic() - told >= _LINE_SECONDS:
            told = time.monotonic()
            err.print(line)


def print_figures(figures: Mapping[str, Any]) -> None:
    """Print the figures for people."""
    for label, text in _lines(figures):
        out.print(f"{label:10}{text}", markup=False)
    heads = ("mean", "median", "p90", "p99")
    columns = (TableColumn("ms"), *(TableColumn(head, right=True) for head in heads))
    rows = [[told, *(_number(figures[f"{head}_{name}_ms"]) for head in heads)] for name, told in _TIMES.items()]
    print_table(columns, rows)
    for note in figures["notes"]:
        out.print(f"- {note}.", markup=False)


def _lines(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    load = (
        f"{figures['request_rate']:g} requests/s" if figures["request_rate"] else
        count_noun(figures["max_concurrency"], "user")
    )  # fmt: skip
    yield "service", f"{figures['base_url']}, {figures['model_id']}: {load} for {figures['duration']:.1f} s"
    failed = "; ".join(
        f"{number} {kind} ({figures['failed_told'][kind]})" if figures["failed_told"][kind] else f"{number} {kind}"
        for kind, number in figures["failed_by_kind"].items()
    )
    yield "requests", f"{figures['completed']} answered, {figures['failed']} failed{f': {failed}' if failed else ''}"
    yield "", f"{_number(figures['request_throughput'], 2)} requests/s, at most {figures['most_open']} open at once"
    tokens_in = figures["total_input_tokens"]
    told = "tokens in not told" if tokens_in is None else f"{tokens_in:,} tokens in"
    yield "tokens", f"{told}, {figures['total_output_tokens']:,} out"
    total = figures["total_token_throughput"]
    both = "" if total is None else f", {_number(total)} tokens/s in and out"
    yield "", f"{_number(figures['output_throughput'])} tokens/s out{both}"
    if figures["objectives_ms"]:
        wanted = ", ".join(f"{name} {ms:g} ms" for name, ms in figures["objectives_ms"].items())
        yield "goodput", f"{_number(figures['request_goodput'], 2)} requests/s within {wanted}"


def _number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
