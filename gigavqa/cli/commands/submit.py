"""`gigavqa submit`: a data set x models x conditions, as a job."""

from typing import Annotated, Any, Literal

import typer

from gigavqa.cli.arguments import (
    TITLE,
    ClosingOption,
    Condition,
    JobOptions,
    JsonOption,
    RepeatsOption,
    SeedOption,
    SettingsOption,
    TitleOption,
    UrlOption,
    parse_pair,
    parse_sampling,
    parse_setting,
)
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.completion import complete_datasets, complete_models, complete_plans
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.following import exit_on_interrupt, follow, obstacles, require_success, suggest_next
from gigavqa.cli.progress import warning_lines
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.contract.jobs import Job

DatasetName = Annotated[
    str,
    typer.Option(
        "--dataset",
        "-d",
        metavar="DATASET",
        help="Name of a data set of the gateway's data root.",
        autocompletion=complete_datasets,
    ),
]
Models = Annotated[
    list[str],
    typer.Option(
        "--model", "-m", metavar="MODEL", help="Catalogue id of a model (repeatable).", autocompletion=complete_models
    ),
]
Plan = Annotated[
    str | None,
    typer.Option(
        "--plan",
        "-p",
        help="Named cells of the data set's benchmark; its first plan if neither this nor --cell is given.",
        autocompletion=complete_plans,
    ),
]
Cells = Annotated[
    list[str] | None,
    typer.Option(
        "--cell",
        metavar="CELL",
        help="PROTOCOL:CONDITION, such as direct:V2; of chats that go on in rounds with their number, as search:V2:10 "
        "(repeatable).",
    ),
]
OlderCells = Annotated[list[str] | None, typer.Option("-c", metavar="CELL", hidden=True)]
"""`--cell` as it was called before; `-c` is a condition everywhere else."""
Rounds = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="At most so many answers of a chat that may ask for more, whatever the plan says."
    ),
]
Priority = Annotated[
    Literal["batch", "interactive"], typer.Option(help="Interactive jobs are taken before batch jobs.")
]
Samples = Annotated[
    list[str] | None, typer.Option("--sample", "-s", metavar="ID", help="Ask only this sample (repeatable).")
]
Notes = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A note of yours that stays with the job (repeatable)."),
]
LikelihoodOption = Annotated[
    str | None,
    typer.Option(
        metavar="MASK",
        show_default=False,
        help="Ask how likely the model holds the right answers, with the views shown and behind a mask (black, mean, "
        "blur:RADIUS), in place of asking for answers.",
    ),
]
Key = Annotated[str | None, typer.Option(metavar="KEY", help="Submitting twice with one key makes one job.")]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Follow the job until it ends.")]


def submit(
    dataset: DatasetName,
    model: Models,
    plan: Plan = None,
    cell: Cells = None,
    older_cell: OlderCells = None,
    rounds: Rounds = None,
    repeats: RepeatsOption = 1,
    seed: SeedOption = 0,
    priority: Priority = "batch",
    sample: Samples = None,
    set_: SettingsOption = None,
    option: JobOptions = None,
    closing: ClosingOption = None,
    likelihood: LikelihoodOption = None,
    metadata: Notes = None,
    title: TitleOption = "",
    idempotency_key: Key = None,
    watch: Watch = False,
    json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Submit a job, and print its id.

    \b
    gigavqa submit -d demo -m demo-qwen3-vl --plan table1 --watch
    gigavqa submit -d slides -m qwen3-vl-8b -m qwen2.5-vl-7b --cell direct:V2 --cell direct:V4 --repeats 3
    gigavqa submit -d slides -m qwen3-vl-8b --plan leakage --repeats 5
    gigavqa submit -d quays -m qwen3-vl-8b --plan table4 --rounds 6
    gigavqa submit -d slides -m qwen3-vl-8b --set temperature=0 --option thumbnail=768 --sample slide-0007
    gigavqa submit -d slides -m qwen3-vl-8b --closing choice
    gigavqa submit -d quays -m qwen3-vl-8b --cell direct:V2 --likelihood black
    gigavqa submit -d slides -m qwen3-vl-8b --title "slides, first look" --metadata run=7
    gigavqa submit -d slides -m qwen3-vl-8b --idempotency-key nightly --json | jq -r .id
    """
    fields: dict[str, Any] = {
        "dataset": dataset,
        "models": tuple(model),
        "plan": plan,
        "cells": tuple(parse_cell(text) for text in (*(cell or ()), *(older_cell or ()))),
        "repeats": repeats,
        "seed": seed,
        "priority": priority,
        "samples": tuple(sample or ()),
        "sampling": parse_sampling(set_),
        **({"rounds": rounds} if rounds is not None else {}),
        **({"closing": closing} if closing is not None else {}),
        **({"likelihood": likelihood} if likelihood is not None else {}),
        "metadata": {
            **dict(parse_pair(text, "--metadata", "owner=me") for text in metadata or ()),
            **({TITLE: title} if title else {}),
        },
        "options": dict(parse_setting(text, "--option", "thumbnail=768") for text in option or ()),
    }
    with TerminalClient(url) as gateway:
        submit_and_print(gateway, fields, idempotency_key, watch=watch, json=json)


def submit_and_print(
    gateway: TerminalClient, fields: dict[str, Any], key: str | None, *, watch: bool, json: bool
) -> None:
    """Submit a job by its fields, follow it where that is wanted, and print its id, or all of it."""
    job = gateway.submit(fields, key)
    if not json:
        out.print(job.id)
    job = _watch(gateway, job) if watch else _report_submission(gateway, job)
    if json:
        print_json(job.model_dump(mode="json"))
    if watch:
        require_success(job)


def _watch(gateway: TerminalClient, job: Job) -> Job:
    with exit_on_interrupt(job):
        job = follow(gateway, job)
    for line in warning_lines(job):
        err.print(line)
    suggest_next(job)
    return job


def _report_submission(gateway: TerminalClient, job: Job) -> Job:
    for line in (*warning_lines(job), *obstacles(job.spec.models, gateway.workers())):
        err.print(line)
    return job


def parse_cell(text: str) -> dict[str, Any]:
    """Read `direct:V2`, or with a number of rounds `search:V2:10`; raises ArgumentError."""
    protocol, _, rest = text.partition(":")
    condition, separator, rounds = rest.partition(":")
    if not (protocol and condition in set(Condition) and rounds.isdecimal() == bool(separator)):
        raise ArgumentError(
            f"--cell '{text}' is not PROTOCOL:CONDITION, such as direct:V2, or PROTOCOL:CONDITION:ROUNDS; "
            f"conditions are {', '.join(Condition)}"
        )
    return {"protocol": protocol, "condition": condition, **({"rounds": int(rounds)} if rounds else {})}
