"""`gigavqa ask`: from a folder of pictures and a file of questions to answers, a page and verdicts."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from cli.answers import Answers, show_answers, write_answers
from cli.arguments import Url, parse_pair
from cli.client import Client
from cli.completion import DEFAULT_URL, complete_models
from cli.console import err, out
from cli.dataset_display import counted, lines_of
from cli.datasets import load_checked
from cli.errors import ArgumentError, GatewayUnreachableError
from cli.following import require_success
from cli.launch import launched_service
from cli.lookup import catalogue, model_entry
from cli.progress import summary
from cli.reporting import print_table_of
from evaluation.benchmark import find_benchmark
from evaluation.datasets import Dataset
from evaluation.errors import DatasetInvalidError
from evaluation.importing import import_dataset
from evaluation.records import RECORD_SUFFIXES
from jobs.home import Home
from jobs.models import Cell, Job, JobSpec, JobStatus
from tiling.headers import read_header

_TEMPLATE = "prompt.toml"
_INTERRUPTED = 130

Pictures = Annotated[
    Path,
    typer.Argument(
        metavar="PICTURES", exists=True, help="The folder of pictures; left out where it is that of QUESTIONS."
    ),
]
Source = Annotated[
    Path | None,
    typer.Argument(
        metavar="QUESTIONS",
        exists=True,
        dir_okay=False,
        show_default=False,
        help="The file of questions: CSV, TSV, JSON, JSONL or Parquet, with or without the pictures in it.",
    ),
]
Models = Annotated[
    list[str],
    typer.Option("--model", "-m", metavar="MODEL", help="Whom to ask (repeatable).", autocompletion=complete_models),
]
Conditions = Annotated[
    list[str],
    typer.Option(
        "--condition",
        "-c",
        metavar="CONDITION",
        help="What is shown: V0 nothing, V1 a thumbnail, V2 the full image, V3 the regions of the evidence, V4 both "
        "(repeatable).",
    ),
]
Protocols = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        metavar="PROTOCOL",
        show_default=False,
        help="direct, step-by-step, or own (repeatable; own where there is a prompt.toml, else direct).",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="COLUMN=FIELD", help="What a column is: foto=image, label=answer (repeatable)."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask only so many questions, the first ones.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Where page and verdicts go; below GIGAVQA_HOME if omitted."),
]
Prompt = Annotated[
    Path | None,
    typer.Option(
        exists=True, dir_okay=False, help="A prompt.toml of your own; the one beside QUESTIONS is found without."
    ),
]
LeaveOut = Annotated[
    bool, typer.Option("--leave-out-bad", help="Ask the good questions beside bad ones, which are named.")
]
Again = Annotated[bool, typer.Option("--again", help="Ask anew what was asked alike within the last day.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of a gateway that has to be started; 0: any free one.")]


def ask(
    pictures: Pictures,
    model: Models,
    questions: Source = None,
    condition: Conditions = ["V2"],  # noqa: B006 - typer reads it, and nobody writes it
    protocol: Protocols = None,
    map: Columns = None,
    limit: Limit = None,
    output: Output = None,
    prompt: Prompt = None,
    leave_out_bad: LeaveOut = False,
    again: Again = False,
    port: Port = 0,
    url: Url = DEFAULT_URL,
) -> None:
    """Ask your own questions about your own pictures, and write a page and every verdict.

    Questions and pictures become a data set of the data root, named after the file and its content, so that every other
    command knows them. A gateway that serves the models is used; without one, a service runs as long as this command.
    The same command again goes on where it was left, or shows what was answered.

    \b
    gigavqa ask pictures/ questions.csv -m qwen3-vl-8b
    gigavqa ask pictures/ questions.csv -m qwen3-vl-8b -c V0 -c V2 --protocol direct --protocol step-by-step
    gigavqa ask pictures/ questions.csv -m qwen3-vl-8b --map foto=image --map label=answer --limit 20 -o answers
    gigavqa ask MMBench_DEV_EN.tsv -m qwen3-vl-8b
    """
    home = Home.from_environment()
    folder, source = _places(pictures, questions)
    template = prompt or (source.with_name(_TEMPLATE) if source.with_name(_TEMPLATE).is_file() else None)
    entries = [model_entry(name) for name in model]
    columns = dict(parse_pair(text, "--map", "foto=image") for text in map or ())
    dataset = _dataset(home, folder, source, columns, template, leave_out_bad=leave_out_bad)
    spec = JobSpec(
        dataset=dataset.name,
        models=tuple(entry.id for entry in entries),
        cells=_cells(dataset, protocol or ["own" if template else "direct"], condition),
        samples=tuple(sample.id for sample in dataset.samples[:limit]) if limit else (),
        priority="interactive",
    )
    with _service(home, spec, model, url, port) as (gateway, is_own):
        job = _submitted(gateway, spec, again=again)
        with _leaving(job, is_own=is_own):
            answers = Answers(dataset, catalogue())
            job = show_answers(gateway, job, answers)
            _finish(gateway, job, answers, output or home.folder / "reports" / job.id)
    require_success(job)


def _places(pictures: Path, questions: Path | None) -> tuple[Path, Path]:
    """The folder of pictures and the file of questions."""
    folder, source = (pictures.parent, pictures) if questions is None else (pictures, questions)
    if not folder.is_dir():
        raise ArgumentError(f"{folder} is no folder of pictures")
    if source.is_dir():
        found = sorted(path.name for path in source.iterdir() if path.suffix in RECORD_SUFFIXES)
        there = f"; there is {', '.join(found)}" if found else ""
        raise ArgumentError(f"no file of questions is named: gigavqa ask {pictures} QUESTIONS{there}")
    if source.suffix not in RECORD_SUFFIXES:
        raise ArgumentError(f"{source} is no file of questions; there are {', '.join(sorted(RECORD_SUFFIXES))}")
    return folder, source


def _dataset(
    home: Home, folder: Path, source: Path, columns: Mapping[str, str], template: Path | None, *, leave_out_bad: bool
) -> Dataset:
    """The data set of exactly these questions and pictures, made where it is not there."""
    target = home.data / _name_of(folder, source, columns, template, leave_out_bad=leave_out_bad)
    if not target.exists():
        try:
            made = import_dataset(
                find_benchmark("questions"), source, folder, target,
                check_image=read_header, columns=columns, leave_out_bad=leave_out_bad,
                settings={_TEMPLATE: template} if template else {},
            )  # fmt: skip
        except DatasetInvalidError as error:
            lines = "".join(f"\n  {line}" for line in lines_of(error.problems))
            remedy = "" if leave_out_bad else "\n--leave-out-bad asks the others"
            raise ArgumentError(f"nothing asked: {counted(len(error.problems), 'problem')}{lines}{remedy}") from error
        for line in lines_of(made.left_out):
            err.print(f"left out: {line}")
    dataset = load_checked(target)
    err.print(f"data set  {dataset.name}: {counted(len(dataset.samples), 'question')}")
    return dataset


def _name_of(
    folder: Path, source: Path, columns: Mapping[str, str], template: Path | None, *, leave_out_bad: bool
) -> str:
    """A name that says what was asked: other content of the file, the pictures or the prompt has another."""
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    found = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file() and path != source)
    pictures = [(str(path), status.st_size, status.st_mtime_ns) for path, status in found]
    digest.update(repr((sorted(columns.items()), leave_out_bad, str(folder.resolve()), pictures)).encode())
    digest.update(template.read_bytes() if template else b"")
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", source.stem).strip("-.")[:80] or "questions"
    return f"{stem}-{digest.hexdigest()[:8]}"


def _cells(dataset: Dataset, protocols: Sequence[str], conditions: Sequence[str]) -> tuple[Cell, ...]:
    benchmark = dataset.benchmark
    for kind, asked, known in (
        ("protocol", protocols, tuple(benchmark.protocols)),
        ("condition", conditions, tuple(benchmark.conditions)),
    ):
        if unknown := [name for name in asked if name not in known]:
            own = f"; a {_TEMPLATE} beside the questions brings `own`" if unknown == ["own"] else ""
            raise ArgumentError(f"there is no {kind} {', '.join(unknown)}; there is {', '.join(known)}{own}")
    pairs = ({"protocol": protocol, "condition": condition} for protocol in protocols for condition in conditions)
    return tuple(dict.fromkeys(map(Cell.model_validate, pairs)))


@contextmanager
def _service(home: Home, spec: JobSpec, models: Sequence[str], url: str, port: int) -> Iterator[tuple[Client, bool]]:
    """A gateway that serves the models and has the data set; and whether it was started for this."""
    with Client(url) as gateway:
        if not (why := _obstacle(gateway, spec)):
            yield gateway, False
            return
    err.print(f"service   starting {', '.join(spec.models)}: {why} (logs: {home.logs})")
    with launched_service(models, home, port) as service, Client(service.wait_until_ready()) as gateway:
        yield gateway, True


def _obstacle(gateway: Client, spec: JobSpec) -> str:
    """Why a gateway cannot be asked; nothing where it can."""
    try:
        served = {model for worker in gateway.workers() for model in worker.models}
        if missing := [model for model in spec.models if model not in served]:
            return f"no worker of {gateway.url} serves {', '.join(missing)}"
        return "" if gateway.has_dataset(spec.dataset) else f"{gateway.url} has another data root"
    except GatewayUnreachableError:
        return f"no gateway answers at {gateway.url}"


def _submitted(gateway: Client, spec: JobSpec, *, again: bool) -> Job:
    """The job of this specification: the earlier one, unless it is to be asked again or could not be."""
    key = hashlib.sha256(spec.model_dump_json().encode()).hexdigest()
    job = gateway.submit(spec, f"ask-{uuid4().hex if again else key}")
    if job.status is JobStatus.CANCELLED:
        return gateway.act(job.id, "retry")
    if job.status is JobStatus.FAILED:
        return gateway.submit(spec, f"ask-{uuid4().hex}")
    if job.request_counts.completed:
        err.print(f"job       {job.id}, asked before; --again asks anew")
    else:
        err.print(f"job       {job.id}: {counted(job.request_counts.total, 'request')}")
    return job


@contextmanager
def _leaving(job: Job, *, is_own: bool) -> Iterator[None]:
    """Say what Ctrl-C leaves behind and how to come back to it, and end with status 130 when it comes."""
    try:
        yield
    except KeyboardInterrupt:
        goes_on = f"job {job.id} keeps its answers" if is_own else f"job {job.id} goes on"
        err.print(f"{goes_on}; the same command within a day comes back to it")
        raise typer.Exit(_INTERRUPTED) from None


def _finish(gateway: Client, job: Job, answers: Answers, folder: Path) -> None:
    """Write page and verdicts, print the accuracies, and say where everything is."""
    written = write_answers(gateway, job, answers, folder)
    for line in summary(job):
        err.print(line)
    print_table_of(written.report, "accuracy")
    out.print(f"page      {written.page}")
    out.print(f"verdicts  {', '.join(map(str, written.verdicts))}")
    err.print(f"next      gigavqa report {job.id}; gigavqa dataset show {job.spec.dataset}")
