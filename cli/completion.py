"""What the shell offers after TAB: models, data sets, samples. Quick, and silent whatever is wrong."""

from collections.abc import Callable, Iterable

import typer


def _offered(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    from catalogue.errors import CatalogueError
    from cli.errors import CommandError

    try:
        return sorted(name for name in names() if name.startswith(incomplete))
    except (CatalogueError, CommandError, OSError):
        return []  # the command itself says what is wrong; a line in the middle of a prompt helps nobody


def complete_models(incomplete: str) -> list[str]:
    """Ids of the catalogue."""
    from cli.lookup import catalogue

    return _offered(incomplete, catalogue)


def complete_datasets(incomplete: str) -> list[str]:
    """Data sets of the data root."""
    from cli.lookup import dataset_names

    return _offered(incomplete, dataset_names)


def complete_samples(context: typer.Context, incomplete: str) -> list[str]:
    """Samples of the data set that the command line names already, by option or argument."""
    from cli.lookup import dataset_folder

    name = context.params.get("dataset")
    if not isinstance(name, str):
        return []

    def ids() -> Iterable[str]:
        from evaluation.datasets import placed_samples

        return (sample.id for _, _, sample in placed_samples(dataset_folder(name)))

    return _offered(incomplete, ids)
