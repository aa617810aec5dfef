"""`gigavqa dataset`: make the demo data set, check a folder, list what the data root has."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.arguments import Json
from cli.console import err, out, print_json
from cli.errors import CommandError

if TYPE_CHECKING:
    from evaluation.datasets import Dataset
    from evaluation.errors import Problem

app = typer.Typer(help="Make the demo data set, check a data set's folder, list the data root.", no_args_is_help=True)

Folder = Annotated[Path | None, typer.Argument(metavar="[FOLDER]", help="Where; the data root's `demo` if omitted.")]


@app.command()
def demo(
    folder: Folder = None,
    seed: Annotated[int, typer.Option(help="Another seed draws other pictures and questions.")] = 7,
    json: Json = False,
) -> None:
    """Draw the demo data set: gigapixel pictures of four domains, whose ground truth is known because it was drawn.

    About two minutes and one gigabyte; nothing is done when it is complete already.

    \b
    gigavqa dataset demo
    gigavqa dataset demo /data/demo-11 --seed 11
    """
    from demo.dataset import build_demo_dataset
    from jobs.home import Home

    target = folder or Home.from_environment().data / "demo"
    made = build_demo_dataset(target, seed=seed, progress=lambda line: err.print(line, markup=False))
    if json:
        print_json({"folder": str(made), "seed": seed})
    else:
        out.print(str(made), markup=False)


@app.command()
def check(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A data set's folder, or its name in the data root.")],
    json: Json = False,
) -> None:
    """Check a data set: every record by the benchmark's rules, every image's existence and header.

    \b
    gigavqa dataset check ~/.gigavqa/data/demo
    gigavqa dataset check demo --json | jq .problems
    """
    from cli.lookup import dataset_folder
    from evaluation.datasets import load_dataset
    from evaluation.errors import DatasetInvalidError

    path = dataset_folder(folder)
    try:
        loaded = load_dataset(path)
    except DatasetInvalidError as error:
        _finish(path, None, error.problems, json)
    else:
        _finish(path, loaded, _image_problems(path, loaded), json)


@app.command("list")
def list_(json: Json = False) -> None:
    """List the data sets of the data root.

    \b
    gigavqa dataset list
    """
    from rich.table import Table

    from jobs.home import Home
    from service.datasets import Datasets

    root = Home.from_environment().data
    found = Datasets(root).summaries()
    if json:
        print_json([summary.model_dump() for summary in found])
        return
    table = Table("data set", "benchmark", "title", box=None)
    for summary in found:
        table.add_row(summary.name, summary.benchmark, summary.title)
    if found:
        out.print(table)
    else:
        err.print(f"no data set in {root}; `gigavqa dataset demo` makes one", markup=False)


def _image_problems(folder: Path, dataset: "Dataset") -> list["Problem"]:
    from evaluation.errors import Problem
    from tiling.errors import TilingError
    from tiling.headers import read_header
    from tiling.roots import ImageRoot

    root = ImageRoot(folder)
    first_use = {image: sample.id for sample in reversed(dataset.samples) for image in sample.images}
    problems = []
    for image, sample in sorted(first_use.items()):
        try:
            read_header(root.locate(image))
        except TilingError as error:
            problems.append(Problem(image, None, sample, str(error)))
    return problems


def _finish(folder: Path, dataset: "Dataset | None", problems: list["Problem"], json: bool) -> None:
    if json:
        print_json(_describe(folder, dataset, problems))
    elif dataset:
        _print_counts(dataset)
    if problems:
        lines = "" if json else "".join(f"\n  {problem}" for problem in problems)
        raise CommandError(f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in {folder}{lines}")
    if not json:
        out.print("no problem found")


def _describe(folder: Path, dataset: "Dataset | None", problems: list["Problem"]) -> dict[str, Any]:
    from dataclasses import asdict

    counts = Counter(f"{sample.domain}/{sample.category}" for sample in dataset.samples) if dataset else {}
    return {
        "folder": str(folder),
        "ok": not problems,
        "digest": dataset.digest if dataset else None,
        "samples": counts,
        "problems": [asdict(problem) for problem in problems],
    }


def _print_counts(dataset: "Dataset") -> None:
    from rich.table import Table

    table = Table("domain", "category", "samples", box=None, title=dataset.title, title_justify="left")
    counts = Counter((sample.domain, sample.category) for sample in dataset.samples)
    for (domain, category), count in sorted(counts.items()):
        table.add_row(domain, category, str(count))
    out.print(table)
