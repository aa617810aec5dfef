"""`gigavqa watch`: follows a job until it ends."""

from cli.arguments import JobId, Json, Url
from cli.client import Client
from cli.console import print_json
from cli.following import follow, leaving, require_success, say_next
from gigavqa.places import DEFAULT_URL


def watch(job_id: JobId = "latest", json: Json = False, url: Url = DEFAULT_URL) -> None:
    """Follow a job until it ends: requests done, failures, requests per second, time left; then what it took.

    Lost connections are taken up where they broke off. Leaving (Ctrl-C) does not touch the job. What it waits for is
    told: a model that no worker serves, an engine that starts.
    Ends with status 5 when the job does not complete, or completes with failures.

    \b
    gigavqa watch
    gigavqa watch latest --json | jq .request_counts
    """
    with Client(url) as gateway, leaving(job := gateway.job(gateway.named(job_id))):
        job = follow(gateway, job)
    say_next(job)
    if json:
        print_json(job.model_dump(mode="json"))
    require_success(job)
