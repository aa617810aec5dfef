"""`gigavqa models`: the catalogue, what a picture demands of its models, and an entry for another checkpoint."""

from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.text import Text

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import CheckpointUnavailableError
from gigavqa.catalogue.resolve import describe_checkpoint, find_checkpoint
from gigavqa.catalogue.write import write_entry
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.demands import Demands, demands_of
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import catalogue, picture_size
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.home import Home

app = typer.Typer(invoke_without_command=True)


@app.callback()
def models(
    context: typer.Context,
    size: Annotated[
        str | None,
        typer.Option(metavar="WxH", help="Also show what a picture of this size costs, and the context it needs."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the models of the catalogue: yours (GIGAVQA_HOME/catalogue/*.toml) and those that come with the product.

    With --size: visual tokens of the picture, and for each condition the context that its pictures and an answer of
    full length need (V3 and V4: with four quadrants as evidence). What exceeds the model's context is marked with "!".

    \b
    gigavqa models
    gigavqa models --size 26753x15052
    gigavqa models --json | jq -r '.[].id'
    """
    if context.invoked_subcommand:
        return
    known = catalogue()
    entries = [known[model_id] for model_id in sorted(known)]
    picture = picture_size(size) if size else None
    demands = [demands_of(entry, picture) if picture else None for entry in entries]
    if json:
        print_json([_describe(entry, needs) for entry, needs in zip(entries, demands, strict=True)])
        return
    _print_entries(entries)
    if picture:
        told = f"A picture of {picture.width} x {picture.height} pixels, and the context that each condition needs"
        out.print(f"\n{told} (! more than the model has):\n", soft_wrap=False)
        _print_demands(entries, demands)


@app.command()
def add(
    checkpoint: Annotated[
        str, typer.Argument(metavar="CHECKPOINT", help="A checkpoint's folder or Hugging Face id, or a model's id.")
    ],
    model_id: Annotated[str | None, typer.Option("--id", help="The entry's id; made of the name if omitted.")] = None,
    revision: Annotated[str | None, typer.Option(help="Commit on Hugging Face to serve.")] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run the code that comes with it; needs --revision.")
    ] = False,
    context: Annotated[int | None, typer.Option(min=1, help="Tokens of prompt and answer, for smaller GPUs.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an entry of this id.")] = False,
) -> None:
    """Write a catalogue entry for another checkpoint of a known family, from its own configuration files.

    The entry has the checkpoint's published visual budget; edit the file to serve it at another. Of a model that the
    catalogue has, a copy is written, which replaces it.

    \b
    gigavqa models add ~/checkpoints/InternVL3_5-8B-HF
    gigavqa models add qwen3-vl-8b --context 65536
    gigavqa models add moonshotai/Kimi-VL-A3B-Instruct --revision COMMIT --trust-remote-code
    """
    entry = _entry_for_checkpoint(checkpoint, revision)
    changes: dict[str, Any] = {"id": model_id or entry.id}
    changes |= {"revision": revision} if revision else {}
    changes |= {"trust_remote_code": True} if trust_remote_code else {}
    if context:
        gpus = entry.gpus and entry.gpus.with_context(context, entry.max_model_len)
        changes |= {"max_model_len": context, "gpus": gpus}
    entry = _check_entry(entry, changes)
    path = write_entry(entry, Home.from_environment().catalogue, replace=force)
    for note in entry.notes:
        err.print(f"note: {note}", markup=False)
    out.print(str(path), markup=False)


def _entry_for_checkpoint(name: str, revision: str | None) -> CatalogueEntry:
    known = catalogue()
    if name in known:
        return known[name]
    if found := find_checkpoint(name, revision):
        return describe_checkpoint(found)
    raise CheckpointUnavailableError(
        f"'{name}' is neither a checkpoint folder nor a Hugging Face id, nor a model of the catalogue"
    )


def _check_entry(entry: CatalogueEntry, changes: dict[str, Any]) -> CatalogueEntry:
    try:
        return CatalogueEntry.model_validate(entry.model_dump() | changes)
    except ValidationError as error:
        raise ArgumentError("; ".join(str(problem["msg"]) for problem in error.errors())) from error


def _describe(entry: CatalogueEntry, demands: Demands | None) -> dict[str, Any]:
    budget, published = entry.visual_budget, entry.published_budget
    described = entry.model_dump(mode="json") | {
        "max_visual_tokens": budget.max_visual_tokens,
        "nominal_visual_tokens": budget.nominal_visual_tokens,
        "effective_resolution": budget.effective_resolution,
        "published_visual_tokens": (published or budget).max_visual_tokens,
    }
    if demands:
        described["picture"] = {"visual_tokens": demands.visual_tokens, "context_needed": demands.context}
    return described


def _print_entries(entries: list[CatalogueEntry]) -> None:
    columns = (
        TableColumn("model"),
        TableColumn("weights", leaves=3),
        TableColumn("visual tokens", right=True),
        TableColumn("at most", leaves=4, right=True),
        TableColumn("published", leaves=5, right=True),
        TableColumn("resolution", leaves=1, right=True),
        TableColumn("context", right=True),
        TableColumn("GPUs", leaves=2),
        TableColumn("licence", leaves=6),
        TableColumn("tested", leaves=7),
    )
    print_table(columns, [_row(entry) for entry in entries], more="`--json` has them")


def _row(entry: CatalogueEntry) -> list[str]:
    return [
        entry.id,
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


def _print_demands(entries: list[CatalogueEntry], demands: list[Demands | None]) -> None:
    leaving = {"V0": 4, "V1": 2, "V2": 0, "V3": 1, "V4": 0}
    columns = (
        TableColumn("model"),
        TableColumn("visual tokens", leaves=3, right=True),
        *(TableColumn(condition, leaves, right=True) for condition, leaves in leaving.items()),
        TableColumn("context", right=True),
    )
    rows = [_demand_row(entry, needs) for entry, needs in zip(entries, demands, strict=True) if needs]
    print_table(columns, rows, more="`--json` has them")


def _demand_row(entry: CatalogueEntry, needs: Demands) -> list[str | Text]:
    visual = "refused" if needs.visual_tokens is None else f"{needs.visual_tokens:,}"
    cells = [_need(tokens, entry.max_model_len) for tokens in needs.context.values()]
    return [entry.id, visual, *cells, f"{entry.max_model_len:,}"]


def _need(tokens: int | None, context: int) -> str | Text:
    if tokens is None:
        return "refused"
    return f"{tokens:,}" if tokens <= context else Text(f"{tokens:,} !", "bold red")
