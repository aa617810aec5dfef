"""`gigavqa budget`: what a model's native preprocessing makes of a picture, without a picture."""

from typing import Annotated, Any

import typer

from cli.arguments import Model
from cli.console import print_json


def budget(
    width: Annotated[int, typer.Argument(metavar="W", min=1, help="Width of the picture in pixels.")],
    height: Annotated[int, typer.Argument(metavar="H", min=1, help="Height of the picture in pixels.")],
    model: Model,
    images: Annotated[int, typer.Option(min=1, help="How many pictures the prompt has; some families count.")] = 1,
) -> None:
    """Print which rasters a model makes of a W x H picture, and their visual tokens, as JSON.

    `fixed_point` says whether the model's own preprocessing leaves the raster as it is; else it resizes it to `target`.

    \b
    gigavqa budget --model qwen3-vl-8b 26753 15052
    gigavqa budget --model demo-qwen3-vl 16000 12800 | jq .visual_tokens
    """
    print_json(describe_budget(model, width, height, images))


def describe_budget(model: str, width: int, height: int, images: int = 1) -> dict[str, Any]:
    """The decision of the model's visual budget for a picture of `width` x `height` pixels, one of `images`."""
    from cli.lookup import model_entry
    from tiling.geometry import Size

    entry = model_entry(model)
    plan = entry.visual_budget.plan(Size(width, height), images)
    return {
        "model": entry.id,
        "family": entry.family,
        "source": [width, height],
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
