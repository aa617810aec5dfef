"""`gigavqa jobs | cancel | retry | delete`: what else can be done with jobs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Literal, cast

import typer

from gigavqa.cli.arguments import TITLE, JobArgument, JsonOption, UrlOption, parse_pair
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.completion import complete_datasets, complete_models
from gigavqa.cli.consent import require_consent
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import ArgumentError, JobOpenError
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.cli.timestamps import parse_timestamp
from gigavqa.client.calls import JobFilter
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.contract.jobs import Job, JobStatus, JobSummary
from gigavqa.runtime.suggestions import did_you_mean

_FIRST_PLAN = "(first)"  # what is asked where neither plan nor cells are named
_COLUMNS = (
    TableColumn("job"),
    TableColumn("status"),
    TableColumn("data set"),
    TableColumn("title", leaves=2, least=12),
    TableColumn("models", leaves=4, least=12),
    TableColumn("plan", leaves=1, least=7),
    TableColumn("done"),
    TableColumn("created", leaves=3),
)

Status = Annotated[JobStatus | None, typer.Option(help="Only jobs in this status.", show_default=False)]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", "-d", metavar="DATASET", help="Only jobs over it.", autocompletion=complete_datasets),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", help="Only jobs that ask it, among others.", autocompletion=complete_models
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
        if not found:
            _require_known(gateway, dataset, model)
    if json:
        print_json([job.model_dump(mode="json") for job in found])
        return
    if found:
        _print_jobs(found)
    else:
        fits = any((status, dataset, model, metadata, created_after, created_before))
        err.print("no job fits" if fits else "no job yet; `gigavqa submit` makes one")


def _print_jobs(found: Sequence[JobSummary]) -> None:
    titled = any(TITLE in job.spec.metadata for job in found)
    shown = [at for at, column in enumerate(_COLUMNS) if titled or column.name != TITLE]
    rows = [[row[at] for at in shown] for row in map(_row, found)]
    print_table([_COLUMNS[at] for at in shown], rows, more="`--json` has them")


def _require_known(gateway: TerminalClient, dataset: str | None, model: str | None) -> None:
    """Say of a name of which there is no job what is close to it. A data set may be deleted, a model gone."""
    for option, given, items, key in (
        ("--dataset", dataset, gateway.datasets, "name"),
        ("--model", model, gateway.models, "id"),
    ):
        if not given or given in (known := [str(item[key]) for item in items()]):
            continue
        if close := did_you_mean(given, known):
            raise ArgumentError(f"{option} '{given}': no job has it, and the gateway knows none of that name{close}")


def _row(job: JobSummary) -> list[str]:
    counts, spec = job.request_counts, job.spec
    asked = "judges" if spec.judge else spec.plan or " ".join(map(str, spec.cells)) or _FIRST_PLAN
    plan = f"{asked} n{spec.rounds}" if spec.rounds else asked
    failed = f", {counts.failed} failed" if counts.failed else ""
    done = f"{counts.completed + counts.failed}/{counts.total}{failed}"
    created = f"{job.created_at.astimezone():%m-%d %H:%M}"
    title = spec.metadata.get(TITLE, "")
    return [job.id, str(job.status), spec.dataset, title, ", ".join(spec.models), plan, done, created]


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
        help="Also replies that are empty with no token written, or that their engine broke off; "
        "`gigavqa admin fsck` and reports count them.",
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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Delete a job that has ended, with all its responses. Nothing brings them back.

    \b
    gigavqa delete job_01jd5m8q2v
    gigavqa delete latest --yes --json
    """
    with TerminalClient(url) as gateway:
        job = gateway.job(gateway.named(job_id))
        if not job.status.final:
            raise JobOpenError(f"job {job.id} is {job.status}; `gigavqa cancel {job.id}` ends it first")
        recorded = job.request_counts.completed + job.request_counts.failed
        if not yes:
            require_consent(f"delete job {job.id} ({job.spec.dataset}, {job.status}) and its {recorded} responses?")
        deleted = gateway.delete(job.id)
    if json:
        print_json({"id": deleted, "deleted": True})
    else:
        out.print(f"{deleted} deleted")


def _act(job_id: str, action: Callable[[TerminalClient, str], Job], json: bool, url: str) -> None:
    with TerminalClient(url) as gateway:
        job = action(gateway, gateway.named(job_id))
    if json:
        print_json(job.model_dump(mode="json"))
    else:
        out.print(f"{job.id} {job.status}")
