"""`gigavqa watch`: follows a job until it ends."""

from gigavqa.cli.arguments import JobArgument, JsonOption, UrlOption
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import print_json
from gigavqa.cli.following import exit_on_interrupt, follow, require_success, suggest_next
from gigavqa.client.connection import DEFAULT_URL


def watch(job_id: JobArgument = "latest", json: JsonOption = False, url: UrlOption = DEFAULT_URL) -> None:
    """Follow a job until it ends: requests done, failures, requests per second, time left; then what it took.

    Lost connections are taken up where they broke off. Leaving (Ctrl-C) does not touch the job. What it waits for is
    told: a model that no worker serves, an engine that starts.
    Ends with status 5 when the job does not complete, or completes with failures.

    \b
    gigavqa watch
    gigavqa watch latest --json | jq .request_counts
    """
    with TerminalClient(url) as gateway, exit_on_interrupt(job := gateway.job(gateway.named(job_id))):
        job = follow(gateway, job)
    suggest_next(job)
    if json:
        print_json(job.model_dump(mode="json"))
    require_success(job)
