"""Plan all models of a benchmark's paper on the same GPUs, one after the other."""

from typing import Any

import typer

from gigavqa.catalogue.gpus import GpuCard
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.figures import figure_text, range_text
from gigavqa.cli.lookup import catalogue, dataset_folder
from gigavqa.cli.plans import describe, place
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.cli.workloads import count_workload
from gigavqa.evaluation.capabilities import PaperSettings
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.plurals import count_noun

_SWAP_HOURS = 180 / 3600
"""From one model's answers to the next one's, with weights on a local disk; assumed."""


def plan_paper(
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
    """Print the plan of a paper's models; ends with 1 where one does not fit. Raises ArgumentError."""
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
    told["dataset"] = folder.name
    if json:
        print_json(told)
    else:
        _print_paper(told, card, count)
    if not all(one["fits"] for one in planned):
        raise typer.Exit(ExitStatus.FAILED)


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
    asked = f"the data set '{told['dataset']}'"
    if told["samples"]:
        asked = f"{count_noun(told['samples'], 'sample')} like those of {asked}"
    out.print(f"{asked[:1].upper()}{asked[1:]} on {count} x {card.title}, in this order:\n", markup=False)
    rows = []
    for one in told["models"]:
        lack = "no room for answers" if one["fits"] else "does not fit"
        hours = range_text(*one["speed"]["hours"]) if "speed" in one else lack
        cost = range_text(*one["price"]) if "price" in one else "-"
        requests = f"{one['workload']['requests']:,}" if one["fits"] else "-"
        placed = f"{one['workers']} x {one['tensor_parallel_size']}" if one["fits"] else "-"
        rows.append([one["model"], placed, requests, hours, cost])
    for one in told["vendors"]:
        counts = one["workload"]
        tokens = (
            f"{figure_text(counts['prompt tokens'] / 1e6)} M in, {figure_text(counts['answer tokens'] / 1e6)} M out"
        )
        rows.append([one["model"], "vendor's", f"{counts['requests']:,}", tokens, "the vendor's"])
    heads = (TableColumn("model"), TableColumn("workers x GPUs"), TableColumn("requests", right=True))
    print_table((*heads, TableColumn("hours", right=True), TableColumn("price", right=True)), rows)
    left_out = told["not_in_total"]
    total = range_text(*told["hours"])
    cost = f", price {range_text(*told['price'])}" if "price" in told else ""
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
