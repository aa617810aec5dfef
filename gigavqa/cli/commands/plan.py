"""`gigavqa plan`: what a model needs of GPUs, and what an evaluation takes and costs, by arithmetic alone."""

from typing import Annotated, Any

import typer

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.figures import range_text
from gigavqa.cli.lookup import dataset_folder, model_entry
from gigavqa.cli.paper_plans import plan_paper
from gigavqa.cli.plans import describe, gpu_card, place
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.cli.workloads import count_workload, one_picture
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.plurals import count_noun

_MOST_PRICE = _MOST_SAMPLES = 1_000_000_000


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
    price: Annotated[
        float | None, typer.Option(min=0, max=_MOST_PRICE, help="Of one GPU for an hour, in your currency.")
    ] = None,
    answer: Annotated[int, typer.Option(min=1, help="Tokens of an answer, which nothing tells beforehand.")] = 512,
    samples: Annotated[
        int | None, typer.Option(min=1, max=_MOST_SAMPLES, help="Scale the data set to so many samples.")
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(
            metavar="BENCHMARK", help="Plan all models of its paper, over the data set `demo` where none is named."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what a model needs of GPUs, and what that costs, an evaluation included: by arithmetic, without a GPU.

    Without a data set it is asked one question about each of many pictures, of the shape that takes the most tokens.
    docs/plan.md has the sums, and how each figure is known. Ends with 1 where the model does not fit.

    \b
    gigavqa plan qwen3-vl-8b --gpu a100-80
    gigavqa plan qwen3.5-27b demo table1 --gpu h100 --count 8 --price 2.5
    gigavqa plan --paper NAME demo --gpu h100 --count 8
    """
    given, card = list(names or ()), gpu_card(gpu)
    if paper is not None:
        plan_paper(paper, given, card, count, price, answer, samples, json=json)
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
        raise typer.Exit(ExitStatus.FAILED)


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
            rows.append(["hours", range_text(least, longest), "computed, answers assumed"])
        if price := told.get("price"):
            name = "price" if has_dataset else f"price of {told['priced_requests']:,} requests"
            left = told["count"] - told["workers"] * told["tensor_parallel_size"]
            of_all = f" of all {told['count']}, those left over too" if left else ""
            rows.append([name, range_text(*price), f"computed from your price{of_all}"])
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


def _about_picture(told: dict[str, Any]) -> str:
    tokens = told["workload"]["visual tokens"]
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
