"""Tables of models: what the catalogue has, and what a picture demands of each."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.text import Text

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.cli.console import out
from gigavqa.cli.demands import Demands
from gigavqa.cli.tables import TableColumn, print_table

_GROUPS = {"open": "open weights", "open thinking": "open weights, thinking", "private": "closed"}
"""Headings by an entry's `access`, in their order; the rest comes last."""
_OTHERS = "others"
_MODELS = (
    TableColumn("model"),
    TableColumn("billions", leaves=3, right=True),
    TableColumn("weights", leaves=4),
    TableColumn("visual tokens", right=True),
    TableColumn("at most", leaves=5, right=True),
    TableColumn("published", leaves=6, right=True),
    TableColumn("resolution", leaves=1, right=True),
    TableColumn("context", right=True),
    TableColumn("GPUs", leaves=2),
    TableColumn("licence", leaves=7),
    TableColumn("tested", leaves=8),
)
_LEAVING = {"V0": 4, "V1": 2, "V2": 0, "V3": 1, "V4": 0}


def print_entries(entries: Sequence[CatalogueEntry], *, is_grouped: bool) -> None:
    """Print models in groups, each by family and size; else in the order in which they are given."""
    if not entries:
        out.print("no model of the catalogue has all that is asked")
        return
    rows = list(_grouped(entries)) if is_grouped else [_row(entry) for entry in entries]
    print_table(_MODELS, rows, more="`--json` has them")


def print_demands(entries: Sequence[CatalogueEntry], demands: Mapping[str, Demands]) -> None:
    """Print what a picture costs each model, and the context that each condition needs."""
    columns = (
        TableColumn("model"),
        TableColumn("visual tokens", leaves=3, right=True),
        *(TableColumn(condition, leaves, right=True) for condition, leaves in _LEAVING.items()),
        TableColumn("context", right=True),
    )
    rows = [_demand_row(entry, demands[entry.id]) for entry in entries]
    print_table(columns, rows, more="`--json` has them")


def _grouped(entries: Sequence[CatalogueEntry]) -> Iterator[list[str | Text]]:
    order = [*_GROUPS.values(), _OTHERS]
    ranked = sorted(
        entries, key=lambda entry: (order.index(_group(entry)), entry.family, entry.billions or 0, entry.id)
    )
    for group, members in groupby(ranked, _group):
        yield [Text(group, "bold"), *([""] * (len(_MODELS) - 1))]
        yield from map(_row, members)


def _group(entry: CatalogueEntry) -> str:
    return _GROUPS.get(entry.access or "", _OTHERS)


def _row(entry: CatalogueEntry) -> list[str | Text]:
    return [
        entry.id,
        f"{entry.billions:g}" if entry.billions else "-",
        entry.weights + (" (random)" if entry.random_weights else ""),
        *_pictures(entry),
        f"{entry.max_model_len:,}",
        f"{entry.gpus.number} x {entry.gpus.memory_gib} GiB" if entry.gpus else "elsewhere" if entry.is_closed else "-",
        entry.licence,
        entry.tested,
    ]


def _pictures(entry: CatalogueEntry) -> tuple[str, str, str, str]:
    if not entry.takes_pictures:
        return ("none", "-", "-", "-")
    budget, published = entry.visual_budget, entry.published_budget or entry.visual_budget
    return (
        f"{budget.nominal_visual_tokens:,}",
        f"{budget.max_visual_tokens:,}",
        f"{published.nominal_visual_tokens:,}",
        f"{budget.effective_resolution:,}²",
    )


def _demand_row(entry: CatalogueEntry, needs: Demands) -> list[str | Text]:
    visual = "refused" if needs.visual_tokens is None else f"{needs.visual_tokens:,}"
    cells = [_need(tokens, entry.max_model_len) for tokens in needs.context.values()]
    return [entry.id, visual, *cells, f"{entry.max_model_len:,}"]


def _need(tokens: int | None, context: int) -> str | Text:
    if tokens is None:
        return "refused"
    return f"{tokens:,}" if tokens <= context else Text(f"{tokens:,} !", "bold red")
