"""`gigavqa models`: the catalogue, what a picture demands of its models, and an entry for another checkpoint."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.arguments import Json
from cli.console import err, out, print_json
from cli.errors import ArgumentError

if TYPE_CHECKING:
    from rich.table import Table

    from catalogue.entry import CatalogueEntry
    from cli.demands import Demands

app = typer.Typer(invoke_without_command=True)


@app.callback()
def models(
    context: typer.Context,
    size: Annotated[
        str | None,
        typer.Option(metavar="WxH", help="Also show what a picture of this size costs, and the context it needs."),
    ] = None,
    json: Json = False,
) -> None:
    """List the models of the catalogue: yours (GIGAVQA_HOME/catalogue/*.toml) and those that come with the product.

    With --size: visual tokens of the picture, and for each condition the context that its pictures and an answer of
    full length need (V3 and V4: with four quadrants as evidence). What exceeds the model's context is marked.

    \b
    gigavqa models
    gigavqa models --size 26753x15052
    gigavqa models --json | jq -r '.[].id'
    """
    if context.invoked_subcommand:
        return
    from cli.demands import demands_of
    from cli.lookup import catalogue

    known = catalogue()
    entries = [known[model_id] for model_id in sorted(known)]
    picture = _size(size) if size else None
    demands = [demands_of(entry, picture) if picture else None for entry in entries]
    if json:
        print_json([_describe(entry, needs) for entry, needs in zip(entries, demands, strict=True)])
        return
    out.print(_table(entries))
    if picture:
        out.print(f"\nA picture of {picture.width} x {picture.height} pixels, and the context that conditions need:\n")
        out.print(_demand_table(entries, demands))


@app.command()
def add(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="A checkpoint's folder or Hugging Face id.")],
    model_id: Annotated[str | None, typer.Option("--id", help="The entry's id; made of the name if omitted.")] = None,
    revision: Annotated[str | None, typer.Option(help="Commit on Hugging Face to serve.")] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run the code that comes with it; needs --revision.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an entry of this id.")] = False,
) -> None:
    """Write a catalogue entry for another checkpoint of a known family, from its own configuration files.

    The entry has the checkpoint's published visual budget; edit the file to serve it at another.

    \b
    gigavqa models add ~/checkpoints/InternVL3_5-8B-HF
    gigavqa models add moonshotai/Kimi-VL-A3B-Instruct --revision COMMIT --trust-remote-code
    """
    from catalogue.write import write_entry
    from jobs.home import Home

    entry = _described(checkpoint, revision)
    entry = _checked(entry, {"id": model_id or entry.id, "revision": revision, "trust_remote_code": trust_remote_code})
    path = write_entry(entry, Home.from_environment().catalogue, replace=force)
    for note in entry.notes:
        err.print(f"note: {note}", markup=False)
    out.print(str(path), markup=False)


def _described(name: str, revision: str | None) -> "CatalogueEntry":
    from catalogue.errors import CheckpointUnavailableError
    from catalogue.resolve import describe_checkpoint, find_checkpoint

    if found := find_checkpoint(name, revision):
        return describe_checkpoint(found)
    raise CheckpointUnavailableError(f"'{name}' is neither a checkpoint folder nor a Hugging Face id")


def _checked(entry: "CatalogueEntry", changes: dict[str, Any]) -> "CatalogueEntry":
    from pydantic import ValidationError

    from catalogue.entry import CatalogueEntry

    try:
        return CatalogueEntry.model_validate(entry.model_dump() | changes)
    except ValidationError as error:
        raise ArgumentError("; ".join(str(problem["msg"]) for problem in error.errors())) from error


def _size(text: str) -> Any:
    from tiling.geometry import Size

    width, _, height = text.lower().partition("x")
    if width.isdecimal() and height.isdecimal() and int(width) > 0 and int(height) > 0:
        return Size(int(width), int(height))
    raise ArgumentError(f"--size '{text}' is not WIDTHxHEIGHT in pixels")


def _describe(entry: "CatalogueEntry", demands: "Demands | None") -> dict[str, Any]:
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


def _table(entries: list["CatalogueEntry"]) -> "Table":
    from rich.table import Column, Table

    columns = ("visual tokens", "published", "resolution", "context", "GPUs", "licence", "tested")
    table = Table(Column("model", no_wrap=True), Column("weights", no_wrap=True), *columns, box=None)
    for entry in entries:
        budget, published = entry.visual_budget, entry.published_budget or entry.visual_budget
        table.add_row(
            entry.id,
            entry.weights + (" (random)" if entry.random_weights else ""),
            _tokens(budget.nominal_visual_tokens, budget.max_visual_tokens),
            _tokens(published.nominal_visual_tokens, published.max_visual_tokens),
            f"{budget.effective_resolution:,}²",
            f"{entry.max_model_len:,}",
            f"{entry.gpus.number} x {entry.gpus.memory_gib} GiB" if entry.gpus else "-",
            entry.licence,
            entry.tested,
        )
    return table


def _tokens(nominal: int, most: int) -> str:
    return f"{nominal:,}" if nominal == most else f"{nominal:,} (at most {most:,})"


def _demand_table(entries: list["CatalogueEntry"], demands: "list[Demands | None]") -> "Table":
    from rich.table import Column, Table

    conditions = ("V0", "V1", "V2", "V3", "V4")
    table = Table(Column("model", no_wrap=True), "visual tokens", *conditions, "context", box=None)
    for entry, needs in zip(entries, demands, strict=True):
        if needs is None:
            continue
        visual = "refused" if needs.visual_tokens is None else f"{needs.visual_tokens:,}"
        cells = [_need(needs.context[condition], entry.max_model_len) for condition in conditions]
        table.add_row(entry.id, visual, *cells, f"{entry.max_model_len:,}")
    return table


def _need(tokens: int | None, context: int) -> str:
    if tokens is None:
        return "refused"
    return f"{tokens:,}" if tokens <= context else f"[bold red]{tokens:,} > context[/]"
