"""`gigavqa submit`: a data set x models x conditions, as a job."""

import json as json_text
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError

from cli.arguments import DEFAULT_URL, Json, Url
from cli.client import Gateway
from cli.completion import complete_datasets, complete_models, complete_plans
from cli.console import err, out, print_json
from cli.errors import ArgumentError
from cli.following import follow, leaving, obstacles, require_success, say_next
from jobs.models import JobSpec


def submit(
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset",
            "-d",
            help="Name of a data set of the gateway's data root.",
            autocompletion=complete_datasets,
        ),
    ],
    model: Annotated[
        list[str],
        typer.Option("--model", "-m", help="Catalogue id of a model (repeatable).", autocompletion=complete_models),
    ],
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan",
            "-p",
            help="Named cells: table1, table2, table3, ultravr (default: table1).",
            autocompletion=complete_plans,
        ),
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option("--cell", "-c", metavar="PROTOCOL:CONDITION", help="One cell, such as S0:V2 (repeatable)."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often every sample is asked in every cell.")] = 1,
    seed: Annotated[int, typer.Option(help="Makes every draw repeatable.")] = 0,
    priority: Annotated[
        Literal["batch", "interactive"], typer.Option(help="Interactive jobs are taken before batch jobs.")
    ] = "batch",
    sample: Annotated[
        list[str] | None, typer.Option("--sample", "-s", metavar="ID", help="Ask only this sample (repeatable).")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Override the model's decoding: temperature=0, max_tokens=64."
        ),
    ] = None,
    thumbnail: Annotated[int, typer.Option(min=1, help="Longest side of V1 in pixels.")] = 1024,
    examples: Annotated[int, typer.Option(min=0, help="Trajectories of other samples that S3 tells, at most.")] = 2,
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A note of yours that stays with the job (repeatable)."),
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Submitting twice with one key makes one job.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Follow the job until it ends.")] = False,
    json: Json = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Submit a job, and print its id.

    \b
    gigavqa submit -d demo -m demo-qwen3-vl --plan table1 --watch
    gigavqa submit -d ultravr -m qwen3-vl-8b --plan ultravr --watch
    gigavqa submit -d ultravr -m qwen3-vl-8b -m qwen2.5-vl-7b --cell S0:V2 --cell S0:V4 --repeats 3
    gigavqa submit -d ultravr -m qwen3-vl-8b --set temperature=0 --sample cctv-0007
    gigavqa submit -d ultravr -m qwen3-vl-8b --metadata owner=me --metadata run=7
    gigavqa submit -d ultravr -m qwen3-vl-8b --idempotency-key nightly --json | jq -r .id
    """
    fields: dict[str, Any] = {
        "dataset": dataset,
        "models": tuple(model),
        "plan": plan or (None if cell else "table1"),
        "cells": tuple(parse_cell(text) for text in cell or ()),
        "repeats": repeats,
        "seed": seed,
        "priority": priority,
        "samples": tuple(sample or ()),
        "sampling": dict(parse_setting(text) for text in set_ or ()),
        "metadata": dict(_pair(text, "--metadata", "owner=me") for text in metadata or ()),
        "options": {"thumbnail": thumbnail, "examples": examples},
    }
    with Gateway(url) as gateway:
        job = gateway.submit(make_spec(fields), idempotency_key)
        if watch:
            err.print(f"job {job.id}")
            with leaving(job):
                job = follow(gateway, job)
            say_next(job)
        else:
            for line in obstacles(job.spec.models, gateway.workers()):
                err.print(line)
    if json:
        print_json(job.model_dump(mode="json"))
    else:
        out.print(job.id)
    if watch:
        require_success(job)


def parse_cell(text: str) -> dict[str, str]:
    """Read `S0:V2`; raises ArgumentError."""
    protocol, separator, condition = text.partition(":")
    if not (separator and protocol and condition in {"V0", "V1", "V2", "V3", "V4"}):
        raise ArgumentError(f"--cell '{text}' is not PROTOCOL:CONDITION, such as S0:V2; conditions are V0 to V4")
    return {"protocol": protocol, "condition": condition}


def parse_setting(text: str) -> tuple[str, Any]:
    """Read `name=value`, the value as JSON where it is JSON and else as text; raises ArgumentError."""
    name, value = _pair(text, "--set", "temperature=0")
    try:
        return name, json_text.loads(value)
    except json_text.JSONDecodeError:
        return name, value


def make_spec(fields: dict[str, Any]) -> JobSpec:
    """Make a job's specification; raises ArgumentError that names each field that is wrong."""
    try:
        return JobSpec.model_validate(fields)
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ArgumentError("; ".join(wrong)) from error


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (separator and name):
        raise ArgumentError(f"{option} '{text}' is not NAME=VALUE, such as {example}")
    return name, value
