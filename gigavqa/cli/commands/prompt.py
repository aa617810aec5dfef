"""`gigavqa prompt`: the exact prompt of any request, as a job would send it."""

from typing import Annotated, Any

import typer

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.cli.arguments import Condition, DatasetOption, JobOptions, JsonOption, SampleArgument, parse_setting
from gigavqa.cli.completion import complete_models, complete_protocols
from gigavqa.cli.conditions import request_of_sample, size_in
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import catalogue, dataset_folder, model_entry
from gigavqa.contract.requests import InferenceRequest
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View

_OWN_ANSWER = "(the model's own answer)"


def prompt(
    sample: SampleArgument,
    dataset: DatasetOption,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            help="How it is asked; the benchmark's first protocol if omitted.",
            autocompletion=complete_protocols,
        ),
    ] = None,
    condition: Annotated[
        Condition, typer.Option("--condition", "-c", case_sensitive=False, help="What is shown.")
    ] = Condition.V2,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Tell this model's rasters and visual tokens.",
            autocompletion=complete_models,
        ),
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", min=1, help="Print the chat up to this turn's question, and no further.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The job's seed, which every draw rests on.")] = 0,
    option: JobOptions = None,
    json: JsonOption = False,
) -> None:
    """Print what a model is shown and told: views with their regions, and the texts of all turns.

    \b
    gigavqa prompt ad-breakfast-box-choice --dataset demo --condition V4
    gigavqa prompt ad-pushpins-choice -d demo -c V1 --model qwen3-vl-8b --option thumbnail=768
    """
    # Only ids and sampling depend on the model, and neither is printed.
    entry = model_entry(model) if model else next(iter(catalogue().values()))
    options = dict(parse_setting(text, "--option", "thumbnail=768") for text in option or ())
    if options.get("budget") == "published":
        entry = catalogue().published(entry.id) or entry
    spec = {"seed": seed, "options": options}
    request, root = request_of_sample(dataset_folder(dataset), sample, protocol, condition, entry, **spec)
    if turn is not None and turn > len(request.turns):
        raise ArgumentError(f"the chat has {len(request.turns)} turns, and no turn {turn}")
    described = _describe(request, root, entry if model else None, turn or len(request.turns))
    if json:
        print_json(described)
    else:
        _print(described)


def _describe(
    request: InferenceRequest, root: ImageRoot, entry: CatalogueEntry | None, num_turns: int
) -> dict[str, Any]:
    return {
        "sample": request.sample_id,
        "protocol": request.protocol,
        "condition": request.condition,
        "prompt_version": request.prompt_version,
        "turns": len(request.turns),
        "details": request.details,
        "views": [_describe_view(view, len(request.views), root, entry) for view in request.views],
        "messages": _messages(request, num_turns),
    }


def _describe_view(view: View, num_views: int, root: ImageRoot, entry: CatalogueEntry | None) -> dict[str, Any]:
    size = size_in(root)(view.image)
    region = resolve_region(view.region, size)
    described = {"image": view.image, "source": list(size), "region": str(region), "sizing": view.sizing}
    if entry is None:
        return described
    plan = entry.visual_budget.plan(view.downsampled(region.size, size.microns_per_pixel), num_views)
    return {**described, "raster": list(plan.raster), "visual_tokens": plan.visual_tokens}


def _messages(request: InferenceRequest, num_turns: int) -> list[dict[str, Any]]:
    """Return the chat up to a turn's question; the text of an answer that only the model can give is null."""
    messages: list[dict[str, Any]] = []
    if request.system is not None:
        messages.append({"role": "system", "text": request.system})
    for number, turn in enumerate(request.turns[:num_turns], start=1):
        messages.append({"role": "user", "turn": number, "asks": turn.asks, "text": turn.text})
        if number < num_turns:
            messages.append({"role": "assistant", "turn": number, "asks": turn.asks, "text": turn.given})
    return messages


def _print(described: dict[str, Any]) -> None:
    for name in ("sample", "protocol", "condition", "prompt_version"):
        out.print(f"{name}: {described[name]}", markup=False)
    for name, told in described["details"].items():
        out.print(f"{name}: {', '.join(map(str, told)) if isinstance(told, list) else told}", markup=False)
    for number, view in enumerate(described["views"], start=1):
        out.print(f"view {number}: {_line(view)}", markup=False)
    for message in described["messages"]:
        out.print(f"\n--- {_title(message, described['turns'])} ---", markup=False)
        out.print(_OWN_ANSWER if message["text"] is None else message["text"], markup=False, emoji=False)


def _line(view: dict[str, Any]) -> str:
    width, height = view["source"]
    line = f"{view['image']} ({width} x {height}), region {view['region']}, {view['sizing']}"
    if "raster" not in view:
        return line
    width, height = view["raster"]
    return f"{line}: raster {width} x {height}, {view['visual_tokens']:,} visual tokens"


def _title(message: dict[str, Any], num_turns: int) -> str:
    if "turn" not in message:
        return str(message["role"])
    asked = f"step {message['asks']}" if message["asks"] else "the question"
    return f"{message['role']}, turn {message['turn']} of {num_turns}: {asked}"
