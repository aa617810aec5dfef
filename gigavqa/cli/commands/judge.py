"""`gigavqa judge`: models judge what other jobs were answered, as a job."""

from typing import Annotated, Any

import typer

from gigavqa.cli.arguments import (
    JobOptions,
    JsonOption,
    SeedOption,
    SettingsOption,
    UrlOption,
    parse_pair,
    parse_sampling,
    parse_setting,
)
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.commands.submit import Key, Models, Notes, Priority, Watch, submit_and_print
from gigavqa.cli.completion import complete_jobs
from gigavqa.client.connection import DEFAULT_URL

Judged = Annotated[
    list[str],
    typer.Argument(
        metavar="JOB...",
        help="Ids of finished jobs over one data set, or `latest`.",
        autocompletion=complete_jobs,
        show_default=False,
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A judge's prompt of the benchmark; its first one if omitted."),
]


def judge(
    job_ids: Judged,
    model: Models,
    prompt: Prompt = None,
    seed: SeedOption = 0,
    priority: Priority = "batch",
    set_: SettingsOption = None,
    option: JobOptions = None,
    metadata: Notes = None,
    idempotency_key: Key = None,
    watch: Watch = False,
    json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Have models judge what finished jobs were answered, as a job of its own, and print its id.

    Every different answer to a sample is judged once, whichever models and repeats gave it; those that are right to
    the word are not asked about. Reports take the verdicts by `--judge`.

    \b
    gigavqa judge latest -m qwen3-vl-8b --watch
    gigavqa judge job_1 job_2 -m qwen3-vl-8b -m glm-4.5v --metadata run=7
    gigavqa report job_1 job_2 --judge job_3
    """
    asked = {
        "seed": seed,
        "priority": priority,
        "sampling": parse_sampling(set_),
        "metadata": dict(parse_pair(text, "--metadata", "owner=me") for text in metadata or ()),
        "options": dict(parse_setting(text, "--option", "pictures=native") for text in option or ()),
    }
    with TerminalClient(url) as gateway:
        names = [gateway.named(name) for name in job_ids]
        fields: dict[str, Any] = {
            "dataset": gateway.job(names[0]).spec.dataset,
            "models": tuple(model),
            "judge": {"jobs": names, "prompt": prompt},
            **asked,
        }
        submit_and_print(gateway, fields, idempotency_key, watch=watch, json=json)
