"""`gigavqa budget`: what a model's native preprocessing makes of a picture, without a picture."""

from typing import Annotated, Any

import typer

from gigavqa.cli.completion import complete_models
from gigavqa.cli.console import print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import model_entry, picture_size
from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size


def budget(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Catalogue id (`gigavqa models`), checkpoint folder, or Hugging Face id of a supported family.",
            autocompletion=complete_models,
        ),
    ],
    size: Annotated[str, typer.Argument(metavar="WxH", help="The picture's size in pixels.")],
    images: Annotated[int, typer.Option(min=1, help="How many pictures the prompt has; some families count.")] = 1,
) -> None:
    """Print which rasters a model makes of a picture of a size, and their visual tokens, as JSON.

    `fixed_point` says whether the model's own preprocessing leaves the raster as it is; else it resizes it to `target`.

    \b
    gigavqa budget qwen3-vl-8b 26753x15052
    gigavqa budget demo-qwen3-vl 16000x12800 | jq .visual_tokens
    """
    print_json(describe_budget(model, picture_size(size, "WxH"), images))


def describe_budget(model: str, size: Size, images: int = 1) -> dict[str, Any]:
    """Return the decision of the model's visual budget for a picture of `size`, one of `images`.

    Raises ArgumentError.
    """
    entry = model_entry(model)
    try:
        plan = entry.visual_budget.plan(size, images)
    except BudgetError as error:
        raise ArgumentError(f"{entry.id}: {error}") from error
    return {
        "model": entry.id,
        "family": entry.family,
        "source": list(size),
        "rasters": [list(plan.raster)],
        "visual_tokens": plan.visual_tokens,
        "filter": plan.filter,
        "target": list(plan.decision.target),
        "canvas": list(plan.decision.canvas),
        "grid": list(plan.decision.grid),
        "overview": list(plan.decision.overview) if plan.decision.overview else None,
        "fixed_point": plan.fixed_point,
        "max_visual_tokens": entry.visual_budget.max_visual_tokens,
    }
