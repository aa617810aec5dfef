"""`gigavqa load`: a service under load, whoever runs it."""

import asyncio
import json as json_text
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from gigavqa.cli.arguments import DisplayOption, JsonOption, SettingsOption, parse_setting
from gigavqa.cli.completion import complete_datasets, complete_models
from gigavqa.cli.console import err, print_json
from gigavqa.cli.errors import ArgumentError, CommandError
from gigavqa.client.connection import DEFAULT_URL, gateway_url
from gigavqa.runtime.exit_statuses import ExitStatus

_DEFAULT_SECONDS = 60.0
_WHAT, _HOW = "What is asked", "How much"

Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="GIGAVQA_URL",
        help="The service's address, such as http://127.0.0.1:8000; `/v1` is added where it has no path.",
    ),
]
Model = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help="What it calls the model.", autocompletion=complete_models),
]
Users = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", show_default=False, rich_help_panel=_HOW,
        help="So many users, each with one request at a time (1, where --rate is not said).",
    ),
]  # fmt: skip
Rate = Annotated[
    float | None,
    typer.Option(
        min=0.001, metavar="NUMBER", show_default=False, rich_help_panel=_HOW,
        help="So many requests a second instead, at drawn moments (Poisson), answered or not.",
    ),
]  # fmt: skip
Requests = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", show_default=False, rich_help_panel=_HOW, help="End after so many requests."),
]
Duration = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", show_default=False, rich_help_panel=_HOW,
        help="Send nothing more after so long: 30s, 5m (60s, where --requests is not said).",
    ),
]  # fmt: skip
Warmup = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", show_default=False, rich_help_panel=_HOW,
        help="Requests before the measurement, which are left out of it (as many as users, or 10).",
    ),
]  # fmt: skip
Seed = Annotated[int, typer.Option(rich_help_panel=_HOW, help="Makes texts, regions and moments repeatable.")]
Words = Annotated[
    int,
    typer.Option(min=1, metavar="N", rich_help_panel=_WHAT, help="Words of each text, where no pictures are named."),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset", "-d", metavar="DATASET", show_default=False, rich_help_panel=_WHAT,
        help="Ask a data set's questions about regions of its pictures.", autocompletion=complete_datasets,
    ),
]  # fmt: skip
Images = Annotated[
    list[Path] | None,
    typer.Option(
        "--image", metavar="FILE", rich_help_panel=_WHAT, help="Ask about regions of this picture (repeatable)."
    ),
]
Regions = Annotated[
    int, typer.Option(min=0, metavar="N", rich_help_panel=_WHAT, help="Regions in each request; 0: the question alone.")
]
RegionSize = Annotated[
    int, typer.Option(min=16, max=8192, metavar="PIXELS", rich_help_panel=_WHAT, help="The side of each region.")
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat-pictures", min=1, metavar="N", show_default=False, rich_help_panel=_WHAT,
        help="Send so many different chats again and again, which caches answer; without it no region comes twice.",
    ),
]  # fmt: skip
References = Annotated[
    bool,
    typer.Option(
        "--references", rich_help_panel=_WHAT,
        help="Name regions instead of sending their pixels: for a gateway of gigavqa with the same data root.",
    ),
]  # fmt: skip
MaxTokens = Annotated[int, typer.Option(min=1, metavar="N", rich_help_panel=_WHAT, help="Most tokens of an answer.")]
Slo = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=TIME,...", show_default=False,
        help="Count answers that take no longer: ttft to the first token, tpot for each further one, e2el to the last.",
    ),
]  # fmt: skip
Patience = Annotated[
    float, typer.Option("--timeout", min=0.001, metavar="SECONDS", help="When a request has failed that has no end.")
]
KeyVariable = Annotated[
    str | None,
    typer.Option(
        "--api-key-env", metavar="NAME", show_default=False,
        help="The variable with the service's key; without it GIGAVQA_API_KEY goes to the gateway, no key elsewhere.",
    ),
]  # fmt: skip
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write all figures to a file, as JSON.")
]


def load(
    model: Model,
    url: Url = DEFAULT_URL,
    users: Users = None,
    rate: Rate = None,
    requests: Requests = None,
    duration: Duration = None,
    warmup: Warmup = None,
    seed: Seed = 0,
    words: Words = 200,
    dataset: DatasetName = None,
    image: Images = None,
    regions: Regions = 1,
    region_size: RegionSize = 1024,
    repeat_pictures: Repeat = None,
    references: References = False,
    show: DisplayOption = "",
    max_tokens: MaxTokens = 128,
    set_: SettingsOption = None,
    slo: Slo = None,
    timeout: Patience = 600.0,
    api_key_env: KeyVariable = None,
    json: JsonOption = False,
    output: Output = None,
) -> None:
    """Measure a service under load: any that speaks OpenAI's chat API, such as vLLM, SGLang, TGI and gigavqa.

    Answers are streamed. Their times to the first token and between tokens, tokens and requests a second, and failures
    by kind are told as `vllm bench serve` defines them. Ctrl-C ends with what was measured.

    \b
    gigavqa load --url http://127.0.0.1:8000 -m Qwen/Qwen3-VL-8B-Instruct --users 50
    gigavqa load -m qwen3-vl-8b --rate 4 --duration 5m --slo ttft=500ms,tpot=50ms -o load.json
    gigavqa load -m qwen3-vl-8b --users 8 --image slide.svs --regions 4 --requests 200
    gigavqa load -m qwen3-vl-8b --image scene.tif --show "bands=4,3,2 stretch=percentile:2:98"
    gigavqa load -m qwen3-vl-8b --users 50 --dataset demo --references --json | jq .p99_ttft_ms
    """
    from gigavqa.cli.measuring import LoadArguments, measure, print_figures  # noqa: PLC0415 - completion

    arguments = LoadArguments(
        url=url, model=model, users=users, rate=rate, requests=requests,
        seconds=_seconds(duration, requests), warmup=warmup, seed=seed, words=words, dataset=dataset,
        images=tuple(image or ()), regions=regions, region_size=region_size, repeated=repeat_pictures,
        references=references, show=show, slo=slo or "", timeout=timeout, key=_key(url, api_key_env),
        fields={"max_tokens": max_tokens, **dict(parse_setting(text, "--set", "temperature=0") for text in set_ or ())},
    )  # fmt: skip
    _require_together(
        arguments.users, arguments.rate, dataset, image, references=references, repeated=repeat_pictures, show=show
    )
    if output and not output.absolute().parent.is_dir():
        raise ArgumentError(f"--output {output}: there is no folder {output.parent}")
    run, figures = asyncio.run(measure(arguments))
    if output:
        output.write_text(json_text.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        err.print(f"figures written to {output}")
    print_json(figures) if json else print_figures(figures)
    if run.stop.is_set():
        raise typer.Exit(ExitStatus.INTERRUPTED)
    if not run.tally.completed:
        raise CommandError("no request was answered")


def _seconds(duration: str | None, requests: int | None) -> float | None:
    from gigavqa.load.objectives import parse_duration  # noqa: PLC0415 - completion

    if duration is None:
        return None if requests else _DEFAULT_SECONDS
    if not (seconds := parse_duration(duration)):
        raise ArgumentError(f"--duration '{duration}' is no time such as 30s or 5m")
    return seconds


def _key(url: str, name: str | None) -> str:
    """Return the key for a service. One of gigavqa's own goes to no other address."""
    if name:
        if not (key := os.environ.get(name, "").strip()):
            raise ArgumentError(f"--api-key-env {name}: there is no such variable, or it is empty")
        return key
    return os.environ.get("GIGAVQA_API_KEY", "").strip() if url.rstrip("/") == gateway_url() else ""


def _require_together(
    users: int | None,
    rate: float | None,
    dataset: str | None,
    image: Any,
    *,
    references: bool,
    repeated: int | None,
    show: str,
) -> None:
    if users and rate:
        raise ArgumentError("--users and --rate are two kinds of load: say one of them")
    if dataset and image:
        raise ArgumentError("--dataset and --image both say what is asked about: say one of them")
    about_pictures = {"--references": references, "--repeat-pictures": repeated, "--show": show}
    if (option := next((name for name, given in about_pictures.items() if given), "")) and not (dataset or image):
        raise ArgumentError(f"{option} is about pictures: name them with --dataset or --image")
