"""The very request that a job with seed 0 would make of one sample, without a job."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalogue.entry import CatalogueEntry
    from jobs.models import InferenceRequest
    from tiling.geometry import Size
    from tiling.roots import ImageRoot


def request_of_sample(
    folder: Path, sample: str, protocol: str, condition: str, entry: "CatalogueEntry", **spec: Any
) -> "tuple[InferenceRequest, ImageRoot]":
    """Return a sample's request and the root that its views' images lie below; `spec` are further fields of a JobSpec.

    Raises ArgumentError for what no job can ask.
    """
    from cli.errors import ArgumentError
    from cli.lookup import load_checked, sample_in
    from evaluation.errors import EvaluationError
    from evaluation.expansion import expand
    from jobs.models import JobSpec
    from tiling.roots import ImageRoot

    folder = folder.absolute()
    dataset, root = load_checked(folder), ImageRoot(folder.parent)
    asked = sample_in(dataset, sample).id
    job = JobSpec(
        dataset=folder.name, models=(entry.id,), cells=(_cell(protocol, condition),), samples=(asked,), **spec
    )
    try:
        ((_, request),) = expand(dataset, job, {entry.id: entry}, size_in(root))
    except EvaluationError as error:
        raise ArgumentError(str(error)) from error
    return request, root


def size_in(root: "ImageRoot") -> "Callable[[str], Size]":
    """How big an image below a root is, in level-0 pixels, by its header."""
    from tiling.headers import read_header

    return lambda name: read_header(root.locate(name)).size


def _cell(protocol: str, condition: str) -> Any:
    from pydantic import ValidationError

    from cli.errors import ArgumentError
    from jobs.models import Cell

    try:
        return Cell.model_validate({"protocol": protocol.upper(), "condition": condition.upper()})
    except ValidationError:
        raise ArgumentError(f"there is no condition '{condition}': there are V0, V1, V2, V3 and V4") from None
