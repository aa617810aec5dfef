"""`gigavqa jobs | cancel | retry`: what else can be done with jobs."""

from typing import Annotated

import typer

from cli.arguments import DEFAULT_URL, JobId, Json, Url
from cli.console import out, print_json


def jobs(
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first.")] = 20,
    json: Json = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List the jobs of the gateway, newest first.

    \b
    gigavqa jobs
    gigavqa jobs --json | jq -r '.[] | select(.status == "in_progress") | .id'
    """
    from rich.table import Table

    from cli.client import Gateway

    with Gateway(url) as gateway:
        found = gateway.jobs(limit)
    if json:
        print_json([job.model_dump(mode="json") for job in found])
        return
    table = Table("job", "status", "data set", "models", "plan", "requests", "failed", "created", box=None)
    for job in found:
        counts = job.request_counts
        plan = job.spec.plan or " ".join(f"{cell.protocol}:{cell.condition}" for cell in job.spec.cells)
        done = f"{counts.completed + counts.failed} / {counts.total}"
        created = f"{job.created_at:%Y-%m-%d %H:%M:%S}"
        models = ", ".join(job.spec.models)
        table.add_row(job.id, str(job.status), job.spec.dataset, models, plan, done, str(counts.failed), created)
    out.print(table)


def cancel(job_id: JobId, json: Json = False, url: Url = DEFAULT_URL) -> None:
    """Cancel a job: what waits is dropped, what runs is aborted, what is recorded stays."""
    _act(job_id, "cancel", json, url)


def retry(job_id: JobId, json: Json = False, url: Url = DEFAULT_URL) -> None:
    """Ask the failed requests of a job again."""
    _act(job_id, "retry", json, url)


def _act(job_id: str, action: str, json: bool, url: str) -> None:
    from cli.client import Gateway

    with Gateway(url) as gateway:
        job = gateway.act(job_id, action)
    if json:
        print_json(job.model_dump(mode="json"))
    else:
        out.print(f"{job.id} {job.status}")
