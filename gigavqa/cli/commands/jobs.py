"""`gigavqa jobs | cancel | retry | delete`: what else can be done with jobs."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, Literal, cast

import typer
from rich.table import Column, Table

from gigavqa.cli.arguments import JobArgument, JsonOption, UrlOption, parse_pair
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.completion import complete_datasets, complete_models
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.timestamps import parse_timestamp
from gigavqa.client.calls import JobFilter
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.contract.models import Job, JobStatus

_WIDE = 100  # columns of a terminal that shows every column of the table of jobs


Status = Annotated[JobStatus | None, typer.Option(help="Only jobs in this status.", show_default=False)]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", "-d", metavar="NAME", help="Only jobs over it.", autocompletion=complete_datasets),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="ID", help="Only jobs that ask it, among others.", autocompletion=complete_models
    ),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Only jobs that were submitted with this pair (repeatable)."),
]
After = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="Only younger jobs: than so long (90m, 12h, 7d, 2w), or a date (2026-11-21)."),
]
Before = Annotated[str | None, typer.Option(metavar="WHEN", help="Only older ones, as said in the same way.")]
Order = Annotated[Literal["newest", "oldest"], typer.Option(help="Which come first.")]


def jobs(
    status: Status = None,
    dataset: Dataset = None,
    model: Model = None,
    metadata: Metadata = None,
    created_after: After = None,
    created_before: Before = None,
    order: Order = "newest",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
    json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """List the jobs of the gateway, newest first.

    Of several filters, those that fit all.

    \b
    gigavqa jobs
    gigavqa jobs --status in_progress --model qwen3-vl-8b
    gigavqa jobs -d demo --metadata owner=me --created-after 7d --order oldest
    gigavqa jobs --status completed --created-after 1d --json | jq -r '.[].id'
    """
    wanted = {
        "status": status,
        "dataset": dataset,
        "model": model,
        "metadata": dict(parse_pair(pair, "--metadata", "owner=me") for pair in metadata or []) or None,
        "created_after": parse_timestamp(created_after, "--created-after", ago=True) if created_after else None,
        "created_before": parse_timestamp(created_before, "--created-before", ago=True) if created_before else None,
        "order": order,
    }
    with TerminalClient(url) as gateway:
        found = gateway.jobs(limit, **cast(JobFilter, {name: value for name, value in wanted.items() if value}))
    if json:
        print_json([job.model_dump(mode="json") for job in found])
        return
    whole = ("job", "status", "done", "created")
    names = ["job", "status", "data set", "models", "plan", "done", "created"]
    names = names if out.width >= _WIDE else names[:-1]
    columns = [Column(name, no_wrap=name in whole, overflow="fold") for name in names]
    table = Table(*columns, box=None, pad_edge=False)
    for job in found:
        counts = job.request_counts
        rounds = (f"n{job.spec.rounds}",) if job.spec.rounds else ()
        asked = "judges" if job.spec.judge else job.spec.plan or " ".join(map(str, job.spec.cells))
        plan = " ".join([asked, *rounds])
        failed = f", {counts.failed} failed" if counts.failed else ""
        done = f"{counts.completed + counts.failed}/{counts.total}{failed}"
        created = f"{job.created_at.astimezone():%m-%d %H:%M}"
        row = (job.id, str(job.status), job.spec.dataset, ", ".join(job.spec.models), plan, done, created)
        table.add_row(*row[: len(names)])
    out.print(table, soft_wrap=False)


def cancel(job_id: JobArgument, json: JsonOption = False, url: UrlOption = DEFAULT_URL) -> None:
    """Cancel a job: what waits is dropped, what runs is aborted, what is recorded stays.

    \b
    gigavqa cancel latest
    """
    _act(job_id, TerminalClient.cancel, json, url)


Empty = Annotated[
    bool,
    typer.Option(
        "--empty",
        help="Also replies that are empty with no token written, or that their engine broke off; `gigavqa fsck` and "
        "reports count them.",
    ),
]


def retry(job_id: JobArgument, empty: Empty = False, json: JsonOption = False, url: UrlOption = DEFAULT_URL) -> None:
    """Ask again what is not answered: the failed requests of a job, and those that a cancelled one did not come to.

    \b
    gigavqa retry latest && gigavqa watch
    gigavqa retry JOB --empty
    """
    _act(job_id, partial(TerminalClient.retry, empty=empty), json, url)


def delete(
    job_id: JobArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Delete a job that has ended, with all its responses. Nothing brings them back.

    \b
    gigavqa delete job_01jd5m8q2v
    gigavqa delete latest --yes
    """
    with TerminalClient(url) as gateway:
        job = gateway.job(gateway.named(job_id))
        recorded = job.request_counts.completed + job.request_counts.failed
        if not yes:
            _require_consent(f"delete job {job.id} ({job.spec.dataset}, {job.status}) and its {recorded} responses?")
        out.print(f"{gateway.delete(job.id)} deleted")


def _require_consent(question: str) -> None:
    if not sys.stdin.isatty():
        raise ArgumentError("nobody can be asked whether to delete; say --yes")
    typer.confirm(question, abort=True, err=True)


def _act(job_id: str, action: Callable[[TerminalClient, str], Job], json: bool, url: str) -> None:
    with TerminalClient(url) as gateway:
        job = action(gateway, gateway.named(job_id))
    if json:
        print_json(job.model_dump(mode="json"))
    else:
        out.print(f"{job.id} {job.status}")
