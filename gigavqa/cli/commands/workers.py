"""`gigavqa workers`: who serves which model, how far those are that start, and what each holds."""

from rich.table import Table

from gigavqa.cli.arguments import JsonOption, UrlOption
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err, out, print_json
from gigavqa.client.connection import DEFAULT_URL


def workers(json: JsonOption = False, url: UrlOption = DEFAULT_URL) -> None:
    """List the workers: models, state, the phase of an engine that starts, requests that run and that wait.

    \b
    gigavqa workers
    gigavqa workers --json | jq -r '.[] | select(.state == "starting") | .phase.name'
    """
    with TerminalClient(url) as gateway:
        found = gateway.workers()
    if json:
        print_json([worker.model_dump(mode="json") for worker in found])
        return
    if not found:
        err.print("no worker announces itself; `gigavqa up --model MODEL --port 0` starts one")
        return
    table = Table("worker", "state", "models", "running", "waiting", "device", box=None)
    for worker in found:
        state = f"{worker.state}: {worker.phase}" if worker.phase else worker.state
        models = ", ".join(f"{model}*" if model == worker.loaded else model for model in worker.models)
        table.add_row(worker.worker, state, models, str(worker.running), str(worker.waiting), worker.device)
    out.print(table, soft_wrap=False)
    if any(len(worker.models) > 1 for worker in found):
        out.print("* in the engine now")
