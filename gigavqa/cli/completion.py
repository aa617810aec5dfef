"""What the shell offers after TAB: names of models, data sets, jobs and more. Quick, and silent whatever is wrong."""

from collections.abc import Callable, Iterable

import typer

from gigavqa.catalogue.errors import CatalogueError
from gigavqa.cli.errors import CommandError
from gigavqa.client.connection import gateway_url, request_headers
from gigavqa.client.errors import GigavqaError

_PATIENCE_SECONDS = 0.5


def match_names(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    """Return the names that begin as what stands there; none where they cannot be found."""
    try:
        return [name for name in names() if name.startswith(incomplete)]
    except (CatalogueError, CommandError, GigavqaError, OSError):
        return []  # the command itself says what is wrong; a line in the middle of a prompt helps nobody


def complete_models(incomplete: str) -> list[str]:
    """Ids of the catalogue."""
    from gigavqa.cli.lookup import catalogue

    return match_names(incomplete, lambda: sorted(catalogue()))


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
        from gigavqa.evaluation.datasets import locate_samples

        return sorted(sample.id for _, _, _, sample in locate_samples(dataset_folder(name)))

    return match_names(incomplete, ids)


def complete_plans(incomplete: str) -> list[str]:
    """Named plans of all installed benchmarks."""
    from gigavqa.evaluation.benchmark import installed_benchmarks

    return match_names(incomplete, lambda: [plan for one in installed_benchmarks().values() for plan in one.plans])


def complete_jobs(incomplete: str) -> list[str]:
    """Jobs of the gateway that GIGAVQA_URL names, newest first, where it answers at once."""
    import httpx

    def ids() -> Iterable[str]:
        try:
            found = (
                httpx.get(f"{gateway_url()}/v1/jobs", headers=request_headers(), timeout=_PATIENCE_SECONDS)
                .raise_for_status()
                .json()["data"]
            )
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError):
            return []
        return ["latest", *(str(job["id"]) for job in found)]

    return match_names(incomplete, ids)
