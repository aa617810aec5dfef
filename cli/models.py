"""`gigavqa models`: the catalogue."""

from typing import TYPE_CHECKING, Any

from cli.arguments import Json
from cli.console import out, print_json

if TYPE_CHECKING:
    from catalogue.entry import CatalogueEntry


def models(json: Json = False) -> None:
    """List the models of the catalogue: yours (GIGAVQA_HOME/catalogue/*.toml) and those that come with the product.

    \b
    gigavqa models
    gigavqa models --json | jq -r '.[].id'
    """
    from cli.lookup import catalogue

    entries = [catalogue()[model_id] for model_id in sorted(catalogue())]
    if json:
        print_json([_describe(entry) for entry in entries])
        return
    _print_table(entries)


def _describe(entry: "CatalogueEntry") -> dict[str, Any]:
    return entry.model_dump(mode="json") | {
        "max_visual_tokens": entry.visual_budget.max_visual_tokens,
        "effective_resolution": entry.visual_budget.effective_resolution,
    }


def _print_table(entries: list["CatalogueEntry"]) -> None:
    from rich.table import Column, Table

    table = Table(
        Column("model", no_wrap=True),
        "weights",
        "family",
        "visual tokens",
        "resolution",
        "context",
        "licence",
        box=None,
    )
    for entry in entries:
        budget = entry.visual_budget
        table.add_row(
            entry.id,
            entry.weights + (" (random)" if entry.random_weights else ""),
            entry.family,
            f"{budget.max_visual_tokens:,}",
            f"{budget.effective_resolution:,}²",
            f"{entry.max_model_len:,}",
            entry.licence,
        )
    out.print(table)
