"""Completions of the shell: names of models, data sets, jobs and more. Quick, and silent whatever is wrong."""

import tomllib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

from gigavqa.catalogue.errors import CatalogueError
from gigavqa.cli.errors import CommandError
from gigavqa.client.connection import gateway_url, request_headers
from gigavqa.client.errors import GigavqaError

if TYPE_CHECKING:
    from gigavqa.evaluation.benchmark import Benchmark

_PATIENCE_SECONDS = 0.5


def match_names(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    """Return the names that begin as what stands there; none where they cannot be found."""
    try:
        return [name for name in names() if name.startswith(incomplete)]
    except (CatalogueError, CommandError, GigavqaError, OSError):
        return []  # the command itself says what is wrong; a line in the middle of a prompt helps nobody


def complete_models(incomplete: str) -> list[str]:
    """Complete ids of the catalogue."""
    from gigavqa.cli.lookup import catalogue

    return match_names(incomplete, lambda: sorted(catalogue()))


def complete_families(incomplete: str) -> list[str]:
    """Complete families of the catalogue's models."""
    from gigavqa.cli.lookup import catalogue
    from gigavqa.cli.model_selection import families

    return match_names(incomplete, lambda: families(catalogue()))


def complete_papers(incomplete: str) -> list[str]:
    """Complete benchmarks whose papers say which models they ask."""
    from gigavqa.evaluation.installed import models_of_papers

    return match_names(incomplete, models_of_papers)


def complete_datasets(incomplete: str) -> list[str]:
    """Data sets of the data root."""
    from gigavqa.cli.lookup import dataset_names

    return match_names(incomplete, dataset_names)


def complete_samples(context: typer.Context, incomplete: str) -> list[str]:
    """Samples of the data set that the command line names already, by option or argument."""
    from gigavqa.cli.lookup import dataset_folder

    name = context.params.get("dataset")
    if not isinstance(name, str):
        return []

    def ids() -> Iterable[str]:
        from gigavqa.evaluation.datasets import read_dataset

        return sorted(read_dataset(dataset_folder(name)).places)

    return match_names(incomplete, ids)


def complete_plans(context: typer.Context, incomplete: str) -> list[str]:
    """Named plans of the data set's benchmark."""
    return match_names(incomplete, lambda: [plan for one in _benchmarks(context) for plan in one.plans])


def complete_protocols(context: typer.Context, incomplete: str) -> list[str]:
    """Protocols of the data set's benchmark."""
    return match_names(incomplete, lambda: [name for one in _benchmarks(context) for name in one.protocols])


def _benchmarks(context: typer.Context) -> "Iterable[Benchmark[Any, Any]]":
    """Return whose data set the command line names, by itself or by a job; all that are installed where none is."""
    from gigavqa.cli.lookup import dataset_folder
    from gigavqa.evaluation.installed import installed_benchmarks

    found, named = installed_benchmarks(), context.params.get("dataset")
    if "questions" in context.params:
        return [found["questions"]]
    if job := context.params.get("job_id"):
        named = next((each["spec"]["dataset"] for each in _recent_jobs() if job in {"latest", each["id"]}), None)
    try:
        name = tomllib.loads((dataset_folder(str(named)) / "dataset.toml").read_text(encoding="utf-8"))["benchmark"]
        return [found[name]]
    except (CommandError, KeyError, ValueError):
        return found.values()


def complete_jobs(incomplete: str) -> list[str]:
    """Jobs of the gateway that GIGAVQA_URL names, newest first, where it answers at once."""

    def ids() -> Iterable[str]:
        found = [str(job["id"]) for job in _recent_jobs()]
        return ["latest", *found] if found else []

    return match_names(incomplete, ids)


def _recent_jobs() -> list[dict[str, Any]]:
    import httpx

    try:
        asked = httpx.get(f"{gateway_url()}/v1/jobs", headers=request_headers(), timeout=_PATIENCE_SECONDS)
        return list(asked.raise_for_status().json()["data"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError):
        return []
