"""`gigavqa models`: the catalogue, what a picture demands of its models, and an entry for another checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import CatalogueError, CheckpointUnavailableError
from gigavqa.catalogue.gpus import GPU_CARDS, GpuRequirement
from gigavqa.catalogue.resolve import describe_checkpoint, find_checkpoint
from gigavqa.catalogue.write import write_entry
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.completion import complete_families, complete_papers
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.demands import Demands, demands_of
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import catalogue, picture_size
from gigavqa.cli.model_selection import ModelFilters, models_of
from gigavqa.cli.model_tables import print_demands, print_entries
from gigavqa.evaluation.installed import models_of_papers
from gigavqa.runtime.home import Home
from gigavqa.runtime.validation import describe_faults
from gigavqa.workers.engines.vllm.memory import least_gpus

app = typer.Typer(invoke_without_command=True)


@app.callback()
def models(
    context: typer.Context,
    size: Annotated[
        str | None,
        typer.Option(metavar="WxH", help="Also show what a picture of this size costs, and the context it needs."),
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(
            metavar="BENCHMARK", help="Those that its paper asks, in its order.", autocompletion=complete_papers
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILY", help="Those of this family, or of all that begin so.", autocompletion=complete_families
        ),
    ] = None,
    min_billions: Annotated[float | None, typer.Option(min=0, help="Those of so many parameters or more.")] = None,
    max_billions: Annotated[float | None, typer.Option(min=0, help="Those of so many parameters or fewer.")] = None,
    fits: Annotated[
        str | None,
        typer.Option(
            metavar="GPU",
            help=f"Those that fit this machine (`here`), or a GPU: {', '.join(GPU_CARDS)}.",
            autocompletion=lambda: ["here", *GPU_CARDS],
        ),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, max=1024, help="With --fits: so many of that GPU.")] = None,
    json: JsonOption = False,
) -> None:
    """List the models of the catalogue: yours (GIGAVQA_HOME/catalogue/*.toml) and those that come with the product.

    With --size: visual tokens of the picture, and for each condition the context that its pictures and an answer of
    full length need (V3 and V4: with four quadrants as evidence). What exceeds the model's context is marked with "!".
    Other options leave out what has not all that they ask. Of closed models no size is known, and none fits a GPU.

    \b
    gigavqa models
    gigavqa models --paper NAME --size 26753x15052
    gigavqa models --family qwen --max-billions 10
    gigavqa models --fits a100-40 --count 2
    gigavqa models --json | jq -r '.[].id'
    """
    if context.invoked_subcommand:
        return
    known = catalogue()
    entries = ModelFilters(paper, family, min_billions, max_billions, fits, count).of(known)
    picture = picture_size(size, "--size") if size else None
    demands = {entry.id: demands_of(entry, picture) for entry in entries} if picture else {}
    if json:
        asked_by = models_of_papers()
        print_json([_describe(entry, demands.get(entry.id), asked_by) for entry in entries])
        return
    print_entries(entries, is_grouped=paper is None)
    if lacking := [name for name in models_of(paper) if name not in known] if paper else []:
        err.print(f"not in the catalogue, and asked by the paper: {', '.join(lacking)}", markup=False)
    if picture and entries:
        told = f"A picture of {picture.width} x {picture.height} pixels, and the context that each condition needs"
        out.print(f"\n{told} (! more than the model has):\n", soft_wrap=False)
        print_demands(entries, demands)


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
        changes |= {"max_model_len": context, "gpus": _gpus_with_context(entry, context)}
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


def _gpus_with_context(entry: CatalogueEntry, tokens: int) -> GpuRequirement | None:
    try:
        return least_gpus(entry.model_copy(update={"max_model_len": tokens}))
    except CatalogueError:
        return entry.gpus and entry.gpus.with_context(tokens, entry.max_model_len)


def _check_entry(entry: CatalogueEntry, changes: dict[str, Any]) -> CatalogueEntry:
    try:
        return CatalogueEntry.model_validate(entry.model_dump() | changes)
    except ValidationError as error:
        raise ArgumentError(describe_faults(error)) from error


def _describe(entry: CatalogueEntry, demands: Demands | None, asked_by: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    budget, published = entry.visual_budget, entry.published_budget
    described = entry.model_dump(mode="json") | {
        "max_visual_tokens": budget.max_visual_tokens,
        "nominal_visual_tokens": budget.nominal_visual_tokens,
        "effective_resolution": budget.effective_resolution,
        "published_visual_tokens": (published or budget).max_visual_tokens,
        "papers": [paper for paper, models in asked_by.items() if entry.id in models],
    }
    if demands:
        described["picture"] = {"visual_tokens": demands.visual_tokens, "context_needed": demands.context}
    return described
