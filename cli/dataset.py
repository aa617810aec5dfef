"""`gigavqa dataset`: make the demo data set, import the paper's files, check a folder, list the data root."""

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

app = typer.Typer(
    help="Make the demo data set, import, check a data set's folder, list the data root.", no_args_is_help=True
)

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
    checklists: Annotated[
        bool, typer.Option("--checklists/--no-checklists", help="Apply the paper's own checklists (appendix F).")
    ] = True,
    json: Json = False,
) -> None:
    """Check a data set: every record, every image's header, evidence inside the image, and the paper's checklists.

    Without the checklists, only what keeps a sample from being asked and scored is a problem.

    \b
    gigavqa dataset check ~/.gigavqa/data/demo
    gigavqa dataset check demo --json | jq .problems
    """
    from cli.lookup import dataset_folder
    from evaluation.inspection import inspect_dataset
    from tiling.headers import read_header
    from tiling.roots import ImageRoot

    path = dataset_folder(folder)
    root = ImageRoot(path)
    found = inspect_dataset(path, lambda image: read_header(root.locate(image)).size, checklists=checklists)
    _finish(path, found.dataset, found.problems, json)


@app.command("import")
def import_(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", exists=True, help="A file of records, or a folder of such files.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set's name in the data root.")],
    images: Annotated[
        Path, typer.Option("--images", metavar="FOLDER", exists=True, file_okay=False, help="Where the images are.")
    ],
    copy: Annotated[bool, typer.Option("--copy", help="Copy images even where they could be hard-linked.")] = False,
    leave_out_bad: Annotated[
        bool, typer.Option("--leave-out-bad", help="Import the good records beside bad ones, which are named.")
    ] = False,
) -> None:
    """Import records in the paper's layouts: per-slide WSI files, flat CCTV and RS records, AD with coordinates.

    Images are found by the names in the records, by the slide's, or by the file's. Nothing is made while any record or
    image is bad, unless bad ones may be left out.

    \b
    gigavqa dataset import ultravr/json ultravr --images ultravr/images
    gigavqa dataset check ultravr
    """
    from evaluation.errors import DatasetInvalidError
    from evaluation.importing import import_dataset
    from jobs.home import Home
    from tiling.headers import read_header

    target = Home.from_environment().data / name
    if target.exists() or target.parent != Home.from_environment().data:
        raise CommandError(f"{target} exists already, or is no place below the data root: choose another name")
    try:
        made = import_dataset(source, images, target, check_image=read_header, copy=copy, leave_out_bad=leave_out_bad)
    except DatasetInvalidError as error:
        lines = "".join(f"\n  {problem}" for problem in error.problems)
        raise CommandError(f"nothing imported: {len(error.problems)} problems{lines}") from error
    for problem in made.left_out:
        err.print(f"left out: {problem}", markup=False)
    out.print(f"{made.samples} samples and {made.images} images in {made.folder}", markup=False)


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
