"""The jobs over a data set: of the gateway, or where none answers of the installation's state store."""

import asyncio

from gigavqa.cli.client import TerminalClient
from gigavqa.cli.errors import JobOpenError
from gigavqa.cli.installation import installation_store
from gigavqa.client.errors import GatewayUnreachableError
from gigavqa.contract.jobs import JobSummary
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import list_some
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry

_MOST_NAMED = 5


def require_no_open_job(home: Home, url: str, dataset: str) -> int:
    """Return how many jobs over a data set there are, all of which have ended. Raises JobOpenError."""
    found = _jobs_over(home, url, dataset)
    running = [job.id for job in found if not job.status.final]
    if running:
        raise JobOpenError(
            f"data set '{dataset}' is being asked by {list_some(running, _MOST_NAMED)}; "
            f"`gigavqa cancel {running[0]}` ends a job"
        )
    return len(found)


def _jobs_over(home: Home, url: str, dataset: str) -> list[JobSummary]:
    try:
        with TerminalClient(url) as gateway:
            return gateway.jobs(None, dataset=dataset)
    except GatewayUnreachableError:
        with installation_store(home) as store:
            return asyncio.run(_kept_jobs(store, dataset))


async def _kept_jobs(url: str, dataset: str) -> list[JobSummary]:
    redis = connect(url)
    try:
        return [job async for job in JobRegistry(redis).over(dataset)]
    finally:
        await redis.aclose()
