"""`gigavqa plan`: what a model needs of GPUs, and what an evaluation takes and costs, by arithmetic alone."""

import math
from typing import Annotated, Any

import typer

from gigavqa.catalogue.gpus import GpuCard
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import catalogue, dataset_folder, model_entry
from gigavqa.cli.plans import describe, gpu_card, place
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.cli.workloads import count_workload, one_picture
from gigavqa.evaluation.capabilities import PaperSettings
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.runtime.plurals import count_noun

_SWAP_HOURS = 180 / 3600
"""From one model's answers to the next one's, with weights on a local disk; assumed."""


def plan(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL [DATASET [PLAN]]",
            help="A model, as `gigavqa budget` takes it, and what it is to be asked; with --paper, no model.",
        ),
    ] = None,
    gpu: Annotated[str, typer.Option(help="h100, h200, a100-80, a100-40, l40s or rtx4090.")] = "h100",
    count: Annotated[int, typer.Option(min=1, max=1024, help="How many of them.")] = 1,
    price: Annotated[float | None, typer.Option(min=0, help="Of one GPU for an hour, in your currency.")] = None,
    answer: Annotated[int, typer.Option(min=1, help="Tokens of an answer, which nothing tells beforehand.")] = 512,
    samples: Annotated[int | None, typer.Option(min=1, help="Scale the data set to so many samples.")] = None,
    paper: Annotated[str | None, typer.Option(metavar="BENCHMARK", help="Plan all models of its paper.")] = None,
    json: JsonOption = False,
) -> None:
    """Say what a model needs of GPUs, and what that costs, an evaluation included: by arithmetic, without a GPU.

    Without a data set it is asked one question about each of many pictures of its largest budget. docs/plan.md has the
    sums, and how each figure is known. Ends with 1 where the model does not fit.

    \b
    gigavqa plan qwen3-vl-8b --gpu a100-80
    gigavqa plan qwen3.5-27b demo table1 --gpu h100 --count 8 --price 2.5
    gigavqa plan --paper NAME demo --gpu h100 --count 8
    """
    given, card = list(names or ()), gpu_card(gpu)
    if price is not None and not math.isfinite(price):
        raise ArgumentError(f"--price '{price}' is no number (0 or more)")
    if paper is not None:
        _plan_paper(paper, given, card, count, price, answer, samples, json=json)
        return
    if not 1 <= len(given) <= 3:
        raise ArgumentError("name a MODEL, and if you will a DATASET and a PLAN; `gigavqa models` lists the models")
    entry = model_entry(given[0])
    if samples is not None and len(given) == 1:
        raise ArgumentError("--samples scales a data set: name one, as in `gigavqa plan MODEL DATASET --samples N`")
    placed = place(entry, card, count)
    if len(given) == 1:
        workload = one_picture(entry, placed.shape, answer)
    else:
        folder = dataset_folder(given[1])
        workload = count_workload(folder, given[2] if len(given) > 2 else None, entry, placed.shape, answer)
    workload.scale = samples / workload.samples if samples else 1.0
    described = describe(placed, workload, answer, price)
    if json:
        print_json(described)
    else:
        _print(described, has_dataset=len(given) > 1)
    if not described["fits"]:
        raise typer.Exit(1)


def _print(told: dict[str, Any], *, has_dataset: bool) -> None:
    out.print(_verdict(told), markup=False)
    if how := told.get("quantization"):
        type_ = "computes in that type" if how["is_computed_in"] else "computes in 16 bits"
        out.print(f"quantized by {how['method']}: {how['bits']:.3g} bits a weight; this GPU {type_}", markup=False)
    if told["condition"]:
        out.print(f"its entry spreads it otherwise; serve it so by: {told['condition']}", markup=False)
    if told["fits"] and not has_dataset:
        answer = f"{told['workload']['answer tokens']:,}"
        out.print(f"a request is one question{_about_picture(told)}, and an answer of {answer} tokens", markup=False)
    out.print()
    kv = told["kv"]
    parts = {("left for the KV cache" if name == "KV cache" else name): part for name, part in told["memory"].items()}
    rows = [[f"{name}, GiB a GPU", f"{part['gib']:,.1f}", part["known"]] for name, part in parts.items()]
    rows += [
        ["KV cache, bytes a token and GPU", f"{kv['bytes_per_token']:,}", "computed"],
        *_window_rows(kv),
        ["KV cache, tokens as vLLM tells it", f"{kv['tokens']:,}", "computed from these"],
    ]
    if kv["visual_tokens"]:
        rows += [
            ["tokens of the largest picture", f"{kv['visual_tokens']:,}", "computed"],
            ["such pictures in the KV cache", f"{kv['pictures']:,}", "computed from these"],
        ]
    if speed := told.get("speed"):
        slow, fast = speed["requests_per_hour"]
        least, longest = speed["hours"]
        work = told["workload"]
        if has_dataset:
            rows += [[name, f"{work[name]:,}", _known(name)] for name in work if name != "known"]
        rows += [
            ["requests an hour", f"{slow:,.0f} to {fast:,.0f}", "computed, answers assumed"],
            ["requests an hour at the roofline", f"{speed['requests_per_hour_at_most']:,.0f}", "computed"],
        ]
        if has_dataset:
            rows.append(["hours", _range(least, longest), "computed, answers assumed"])
        if price := told.get("price"):
            name = "price" if has_dataset else f"price of {told['priced_requests']:,} requests"
            left = told["count"] - told["workers"] * told["tensor_parallel_size"]
            of_all = f" of all {told['count']}, those left over too" if left else ""
            rows.append([name, _range(*price), f"computed from your price{of_all}"])
    print_table((TableColumn("what"), TableColumn("figure", right=True), TableColumn("how known")), rows)
    for limit in told.get("limits", ()):
        out.print(f"\n{limit}", markup=False)
    if told["lack"]:
        out.print(f"\n{told['lack']}", markup=False)
    else:
        arguments = " ".join(f"{name}={value}" for name, value in told["arguments"].items())
        out.print(f"\na worker's arguments to vLLM: {arguments}", markup=False)


def _verdict(told: dict[str, Any]) -> str:
    """Say whether the model fits, and how it would be served."""
    number, count, gpu = told["tensor_parallel_size"], told["count"], told["gpu"]
    if not told["fits"]:
        return f"{told['model']} does not fit {count} x {gpu}"
    used = told["workers"] * number
    workers = f"{count_noun(told['workers'], 'worker')}, {'each ' if told['workers'] > 1 else ''}on {number} x {gpu}"
    left = count - used
    idle = f"; {left} of {count} GPUs {'is' if left == 1 else 'are'} left over" if left else ""
    return f"{told['model']} fits: {workers}{idle}"


def _range(least: float, most: float) -> str:
    return f"{_figure(least)} to {_figure(most)}"


def _figure(number: float) -> str:
    """Write two digits at least of what is small, and none behind the point of what is large."""
    return f"{number:.2g}" if number < 0.1 else f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"


def _about_picture(told: dict[str, Any]) -> str:
    tokens = told["kv"]["visual_tokens"]
    return f" about a new picture of {tokens:,} tokens" if tokens else ""


def _known(name: str) -> str:
    if name == "answer tokens":
        return "assumed"
    return "counted, texts assumed" if name.endswith("tokens") else "counted"


def _window_rows(kv: dict[str, Any]) -> list[list[str]]:
    rows = []
    if kv["window"]:
        rows.append([f"and within {kv['window']} tokens", f"{kv['bytes_per_token_in_window']:,}", "computed"])
    if kv["bytes_of_states"]:
        rows.append(["and for the states of a sequence", f"{kv['bytes_of_states']:,}", "computed"])
    return rows


def _plan_paper(
    name: str,
    given: list[str],
    card: GpuCard,
    count: int,
    price: float | None,
    answer: int,
    samples: int | None,
    *,
    json: bool,
) -> None:
    try:
        benchmark, known = find_benchmark(name), catalogue()
    except EvaluationError as error:
        raise ArgumentError(f"--paper: {error}") from error
    settings = PaperSettings.of(benchmark)
    if not settings.paper_models:
        raise ArgumentError(f"nothing says which models the paper of {name} asks; plan one with `gigavqa plan MODEL`")
    if len(given) > 2:
        raise ArgumentError("with --paper name a DATASET and a PLAN at most: the paper names the models")
    folder = dataset_folder(given[0] if given else "demo")
    chosen = given[1] if len(given) > 1 else name if name in benchmark.plans else None
    planned, vendors, refused = [], [], {}
    wanted = samples or settings.paper_samples
    for entry in map(known.__getitem__, settings.paper_models):
        placed = None if entry.is_closed else place(entry, card, count)
        try:
            workload = count_workload(folder, chosen, entry, placed.shape if placed else None, answer)
        except ArgumentError as error:
            if entry.takes_pictures:
                raise
            refused[entry.id] = str(error)
            continue
        workload.scale = wanted / workload.samples if wanted else 1.0
        if placed is None:
            vendors.append({"model": entry.id, "workload": workload.told()})
        else:
            planned.append(describe(placed, workload, answer, price))
    planned.sort(key=_order)
    told = _sums(planned, count, price) | {"models": planned, "vendors": vendors, "refused": refused, "samples": wanted}
    if json:
        print_json(told)
    else:
        _print_paper(told, card, count)
    if not all(one["fits"] for one in planned):
        raise typer.Exit(1)


def _order(planned: dict[str, Any]) -> tuple[bool, int, float]:
    """Order those that are placed alike next to each other, the shortest first, so that tables fill early; what has no
    room comes last.
    """
    is_served = "speed" in planned
    return not is_served, planned["tensor_parallel_size"], planned["speed"]["hours"][0] if is_served else 0


def _sums(planned: list[dict[str, Any]], count: int, price: float | None) -> dict[str, Any]:
    speeds = [one["speed"]["hours"] for one in planned if "speed" in one]
    swaps = max(0, len(speeds) - 1) * _SWAP_HOURS
    hours = [sum(each[at] for each in speeds) + swaps for at in (0, 1)]
    costs = {"price": [each * count * price for each in hours]} if price is not None else {}
    left_out = [one["model"] for one in planned if "speed" not in one]
    return {"hours": hours, "hours_of_swaps": swaps, **costs, "not_in_total": left_out}


def _print_paper(told: dict[str, Any], card: GpuCard, count: int) -> None:
    samples = count_noun(told["samples"], "sample") if told["samples"] else "The data set"
    out.print(f"{samples} on {count} x {card.title}, in this order:\n", markup=False)
    rows = []
    for one in told["models"]:
        lack = "no room for answers" if one["fits"] else "does not fit"
        hours = _range(*one["speed"]["hours"]) if "speed" in one else lack
        cost = _range(*one["price"]) if "price" in one else "-"
        requests = f"{one['workload']['requests']:,}" if one["fits"] else "-"
        placed = f"{one['workers']} x {one['tensor_parallel_size']}" if one["fits"] else "-"
        rows.append([one["model"], placed, requests, hours, cost])
    for one in told["vendors"]:
        counts = one["workload"]
        tokens = f"{_figure(counts['prompt tokens'] / 1e6)} M in, {_figure(counts['answer tokens'] / 1e6)} M out"
        rows.append([one["model"], "vendor's", f"{counts['requests']:,}", tokens, "the vendor's"])
    heads = (TableColumn("model"), TableColumn("workers x GPUs"), TableColumn("requests", right=True))
    print_table((*heads, TableColumn("hours", right=True), TableColumn("price", right=True)), rows)
    left_out = told["not_in_total"]
    total = _range(*told["hours"])
    cost = f", price {_range(*told['price'])}" if "price" in told else ""
    swaps = f"{told['hours_of_swaps']:.2f} of them model swaps, which are assumed"
    partial = f"; without {len(left_out)} of {len(told['models'])} models: {', '.join(left_out)}" if left_out else ""
    if len(left_out) < len(told["models"]):
        said = f"hours {total}{cost} ({swaps}){partial}; computed, tokens of answers are assumed"
    else:
        said = f"there is no total{partial}"
    out.print(f"\n{said}", markup=False)
    for one in told["models"]:
        told_of = [f"its entry spreads it otherwise; serve it so by: {one['condition']}"] if one["condition"] else []
        for said in (*told_of, *one.get("limits", ())):
            out.print(f"{one['model']}: {said}", markup=False)
    left_out = [f"{name} is left out: {reason}" for name, reason in told["refused"].items()]
    for reason in [*(one["lack"] for one in told["models"] if one["lack"]), *left_out]:
        out.print(reason, markup=False)
