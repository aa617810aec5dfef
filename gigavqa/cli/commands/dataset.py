"""`gigavqa dataset`: draw, import, check, show, list and delete data sets."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gigavqa.cli.arguments import (
    DatasetArgument,
    DecimalOption,
    DisplayOption,
    DrawingOption,
    JsonOption,
    OutputOption,
    TitleOption,
    UrlOption,
    parse_pair,
)
from gigavqa.cli.completion import complete_datasets, complete_samples
from gigavqa.cli.consent import WithReviewsOption, require_consent, require_reviews_told
from gigavqa.cli.console import err, out, print_json, print_json_list
from gigavqa.cli.dataset_display import (
    describe_kinds,
    describe_leaving_out,
    import_record,
    print_sample,
    print_samples,
    problem_lines,
    report_findings,
    report_import,
)
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.guessing_display import guessing_warnings, print_guessing
from gigavqa.cli.lookup import dataset_folder, dataset_names
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.cli.work_line import work_line
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.demo.drawn import DEFAULT, drawn_of
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.work_progress import report_progress
from gigavqa.tiling.errors import TilingError, quote_text
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.roots import ImageRoot

if TYPE_CHECKING:
    from gigavqa.construction.guessing.guessing import ReaderScore
    from gigavqa.evaluation.benchmark import Benchmark
    from gigavqa.evaluation.capabilities import ConfiguredDataset
    from gigavqa.evaluation.inspection import Inspection
    from gigavqa.tiling.geometry import Size
    from gigavqa.tiling.headers import Header

app = typer.Typer(
    help="""Draw, import, check, list, show and delete data sets.

    \b
    gigavqa dataset demo
    gigavqa dataset import questions.csv street --images pictures --map foto=image
    gigavqa dataset check street
    gigavqa dataset show street
    gigavqa dataset reviews street
    gigavqa dataset delete street
    """,
    no_args_is_help=True,
)

Folder = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="Where; below the data root, under its own name, if omitted.")
]


@app.command()
def demo(
    folder: Folder = None,
    benchmark: DrawingOption = DEFAULT,
    seed: Annotated[int, typer.Option(help="Another seed draws other pictures and questions.")] = 7,
    json: JsonOption = False,
) -> None:
    """Draw a benchmark's demo data set, whose ground truth is known because it was drawn.

    The default shows gigapixel pictures of four domains, and takes about two minutes and 310 MB. Nothing is done where
    it is complete already.

    \b
    gigavqa dataset demo
    gigavqa dataset demo /data/demo-11 --seed 11
    """
    drawn = drawn_of(benchmark)
    if folder and len(drawn) > 1:
        raise ArgumentError("several data sets do not fit into one folder: name one benchmark, or no folder")
    for one in drawn:
        target = folder or Home.from_environment().data / one.name
        made = one.build(target, seed=seed, progress=lambda line: err.print(line, markup=False))
        if json:
            print_json({"folder": str(made), "seed": seed})
        else:
            out.print(str(made), markup=False)


@app.command()
def check(
    dataset: DatasetArgument,
    checklists: Annotated[
        bool, typer.Option("--checklists/--no-checklists", help="Apply the paper's own checklists (appendix F).")
    ] = True,
    pixels: Annotated[
        bool, typer.Option("--pixels", help="Decode every picture whole; without it, headers alone are read.")
    ] = False,
    guess: Annotated[
        bool, typer.Option("--guess", help="Tell how often readers are right who see texts alone, against chance.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as errors.")] = False,
    json: JsonOption = False,
) -> None:
    """Check a data set: every record, every image, evidence inside the image, and the benchmark's checklists.

    An error keeps a sample from being asked: the status is then 2. A warning lets it be asked, and keeps it from a
    condition, a protocol or a table: the status is 0, but for --strict.

    \b
    gigavqa dataset check demo
    gigavqa dataset check ~/.gigavqa/data/demo --pixels --strict
    gigavqa dataset check demo --json | jq .errors
    gigavqa dataset check street --guess
    """
    from gigavqa.evaluation.inspection import inspect_dataset
    from gigavqa.tiling.digest import store_digests
    from gigavqa.tiling.displays.display_rules import show_below
    from gigavqa.tiling.headers import look_at_remote, read_header

    store_digests(Home.from_environment().digests)
    path = dataset_folder(dataset)
    root = ImageRoot(path)
    read = _decoder() if pixels else read_header

    def show_of(image: str) -> str:
        return show_below(path.parent, f"{path.name}/{image}")

    with work_line():
        found = inspect_dataset(
            path,
            lambda image, own: _size_of(read, root, image, own or show_of(image)),
            checklists=checklists,
            look_ahead=look_at_remote,
            remarks_on=cache(
                lambda image, own: _image_remarks(root.locate(image), own or show_of(image), pixels=pixels)
            ),
        )
    scores = _guess(found) if guess and found.dataset else ()
    if scores and not json:
        print_guessing(scores)
    told = {"guessing": [score.document() for score in scores]} if guess else {}
    report_findings(path, found, strict=strict, json=json, more=told)


def _guess(found: "Inspection") -> "Sequence[ReaderScore]":
    """Return how readers of the texts alone do; a recipe that they can guess is a warning."""
    from gigavqa.benchmarks.questions.samples import Question
    from gigavqa.construction.guessing.guessing import blind_questions, score_readers

    samples = found.dataset.samples if found.dataset else ()
    if not all(isinstance(sample, Question) for sample in samples):
        raise ArgumentError("--guess reads data sets of the benchmark questions alone; leave it out")
    with work_line():
        scores = score_readers(blind_questions(samples))  # type: ignore[arg-type]
    found.warnings += guessing_warnings(scores)
    return scores


def _size_of(read: "Callable[[Path, str], Header]", root: ImageRoot, image: str, show: str) -> "Size":
    """Return an image's size; errors call one elsewhere by its address, and not by what is kept of it."""
    path = root.locate(image)
    try:
        return read(path, show).size
    except TilingError as error:
        raise type(error)(str(error).replace(str(path), image) if is_remote_name(image) else str(error)) from error


def _image_remarks(image: Path, show: str, *, pixels: bool) -> tuple[str, ...]:
    """Return what is to be said of a file's end and further pages, and of a TIFF's levels.

    With `pixels`, also of writes that nobody noticed. Nothing of levels without the extra `pixels`.
    """
    from gigavqa.tiling.digest import UNSEEN_CHANGE_MESSAGE, renew_digest
    from gigavqa.tiling.file_remarks import file_remarks
    from gigavqa.tiling.formats import container_of
    from gigavqa.tiling.opening import open_file

    unseen = (UNSEEN_CHANGE_MESSAGE,) if pixels and renew_digest(image) else ()
    with open_file(image) as file:
        container = container_of(file)
    if find_spec("pyvips") is None or container not in ("tiff", "slide", "zarr"):
        return unseen + file_remarks(image)
    from gigavqa.tiling.file_facts import cached_identity, cached_remarks

    return unseen + cached_remarks(image, cached_identity(image, None, show).tone)


def _decoder() -> "Callable[[Path, str], Header]":
    """Return what reads headers and decodes what follows them."""
    from gigavqa.tiling.headers import read_header
    from gigavqa.tiling.integrity import decode_whole

    decoded = count()

    def decode(image: Path, show: str) -> "Header":
        report_progress(f"pictures decoded, now {image.name}", next(decoded))
        decode_whole(image, show)
        return read_header(image, show)

    return decode


@app.command()
def show(
    dataset: DatasetArgument,
    sample: Annotated[
        str,
        typer.Argument(
            metavar="SAMPLE",
            help="Show this sample whole; without it, all are listed.",
            autocompletion=complete_samples,
            show_default=False,
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """List the samples of a data set, or show one of them: question, options, answer, steps and evidence.

    \b
    gigavqa dataset show demo
    gigavqa dataset show demo ad-breakfast-box-choice
    gigavqa dataset show demo --json | jq -r '.[].id'
    """
    from gigavqa.cli.datasets import load_checked, sample_in
    from gigavqa.evaluation.capabilities import RecordLayout, whole_record

    with work_line():
        loaded = load_checked(dataset_folder(dataset))
    layout = RecordLayout.of(loaded.benchmark)
    if not sample and json:
        print_json_list(whole_record(layout, one) for one in loaded.samples)
    elif not sample:
        print_samples(loaded)
    elif json:
        print_json(whole_record(layout, sample_in(loaded, sample)))
    else:
        print_sample(loaded, sample_in(loaded, sample))


@app.command()
def boxes(dataset: DatasetArgument, output: OutputOption = None) -> None:
    """Write the evidence of a data set as GeoJSON, in lon and lat: one polygon a box, with its sample and truth.

    Boxes of images without a georeference are left out, and counted.

    \b
    gigavqa dataset boxes berlin -o boxes.geojson
    """
    from gigavqa.cli.evidence_boxes import EvidenceBoxes
    from gigavqa.reports.writers.verdict_files import open_whole_file
    from gigavqa.tiling.ground.geojson import collection_lines

    found = EvidenceBoxes(dataset_folder(dataset))
    with open_whole_file(output or sys.stdout.buffer) as file:
        for line in collection_lines(found.features()):
            file.write(line.encode())
    for why, number in found.left_out.items():
        err.print(f"{count_noun(number, 'box', 'boxes')} left out: {why}", markup=False)


@app.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            exists=True,
            help="A file of records, a folder of such files, or a configuration that names them.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set's name in the data root.")],
    images: Annotated[
        Path | None,
        typer.Option(
            "--images",
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="Where the images are, but for those in the records; a configuration says so itself.",
            show_default=False,
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", "-b", metavar="BENCHMARK", help="Which reads the records; found out if omitted."),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="COLUMN=FIELD", help="What a column of the records is: foto=image (repeatable)."),
    ] = None,
    dpi: Annotated[
        int, typer.Option("--dpi", min=36, max=600, help="Dots per inch at which pages of PDF documents are rendered.")
    ] = 144,
    copy: Annotated[bool, typer.Option("--copy", help="Copy images even where they could be hard-linked.")] = False,
    leave_out_bad: Annotated[
        bool, typer.Option("--leave-out-bad", help="Import the good records beside bad ones, which are named.")
    ] = False,
    decimal: DecimalOption = None,
    title: TitleOption = "",
    display: DisplayOption = "",
    json: JsonOption = False,
) -> None:
    """Import records in any layout that an installed benchmark reads, with their images, as a data set.

    Images are found by the names in the records, by the slide's, or by the file's. Nothing is made while any record or
    image is bad, unless bad ones may be left out. Pages of PDF documents become PNG images, once.

    \b
    gigavqa dataset import slides/records slides --images slides/images
    gigavqa dataset import questions.csv street --images pictures --map foto=image --benchmark questions
    """
    from gigavqa.evaluation.dataset_names import require_dataset_name
    from gigavqa.evaluation.dataset_settings import sidecar_files
    from gigavqa.evaluation.image_lookup import DocumentRendering
    from gigavqa.evaluation.importing import import_dataset
    from gigavqa.tiling.file_remarks import file_remarks
    from gigavqa.tiling.headers import look_at_remote, read_header

    require_dataset_name(name)
    target = Home.from_environment().data / name
    if target.exists():
        raise ArgumentError(f"{target} exists already: choose another name")
    columns = dict(parse_pair(text, "--map", "foto=image") for text in map or ())
    with _import_problems(leave_out_bad=leave_out_bad), work_line():
        reader, found = _describe_source(source, name, images, benchmark, columns)
        beside = sidecar_files(reader, found.records if found.records.is_dir() else found.records.parent)
        made = import_dataset(
            reader, found.records, found.images, target, check_image=read_header,
            remarks_on=file_remarks, look_ahead=look_at_remote,
            rendering=DocumentRendering(_render, dpi),
            columns=columns, decimal=decimal, settings={path.name: path for path in beside},
            described=found if found.stem else None,
            copy=copy, leave_out_bad=leave_out_bad, title=title, show=display,
        )  # fmt: skip
    if json:
        print_json(import_record(made, reader.name))
        return
    told = f"{count_noun(made.samples, 'sample')} and {count_noun(made.images, 'image')}"
    out.print(f"{told} in {made.folder}, for {reader.title}", markup=False)
    report_import(name, made)
    out.print(f"types: {describe_kinds(made.kinds)}", markup=False)


@contextmanager
def _import_problems(*, leave_out_bad: bool) -> Iterator[None]:
    """Refuse what cannot be imported by its problems, and tell what would leave out the bad ones."""
    try:
        yield
    except DatasetInvalidError as error:
        lines = "".join(f"\n  {line}" for line in problem_lines(error.problems))
        remedy = "" if leave_out_bad else describe_leaving_out(error.others, "imports")
        raise ArgumentError(f"nothing imported: {count_noun(len(error.problems), 'problem')}{lines}{remedy}") from error


def _describe_source(
    source: Path, name: str, images: Path | None, benchmark: str | None, columns: dict[str, str]
) -> "tuple[Benchmark[Any, Any], ConfiguredDataset]":
    """Return what is imported, and by whom it is read; without a configuration it has no stem of its own."""
    from gigavqa.evaluation.capabilities import ConfiguredDataset
    from gigavqa.evaluation.import_columns import ImportColumns
    from gigavqa.evaluation.importing import find_config
    from gigavqa.evaluation.installed import installed_benchmarks
    from gigavqa.evaluation.reader_choice import find_reader

    if benchmark and benchmark not in (readers := sorted(installed_benchmarks())):
        close = did_you_mean(benchmark, readers)
        raise ArgumentError(f"--benchmark '{benchmark}' is none of {', '.join(readers)}{close}")
    if source.is_file() and (known := find_config(source, name, benchmark)):
        reader, found = known
        return reader, found._replace(images=images or found.images)
    return find_reader(source, benchmark, ImportColumns(columns)), ConfiguredDataset(source, images, "")


def _render(document: Path, folder: Path, dpi: int) -> list[Path]:
    from gigavqa.tiling.pdf_pages import render_pages  # PDF alone needs it

    return render_pages(document, folder, dpi)


@app.command()
def reviews(dataset: DatasetArgument, json: JsonOption = False) -> None:
    """Tell how far people's review of a data set is, and how far they agree.

    \b
    gigavqa dataset reviews ships
    gigavqa dataset reviews ships --json | jq .agreement
    """
    from gigavqa.cli.reviewing import print_reviews

    print_reviews(dataset_folder(dataset), json=json)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the data sets of the data root.

    \b
    gigavqa dataset list
    """
    from gigavqa.service.operations.datasets import Datasets

    root = Home.from_environment().data
    found = Datasets(root).summaries()
    if json:
        print_json([summary.model_dump() for summary in found])
        return
    if found:
        columns = (TableColumn("data set"), TableColumn("benchmark", leaves=1), TableColumn("title", least=20))
        print_table(columns, [(summary.name, summary.benchmark, summary.title) for summary in found])
    else:
        err.print(f"no data set in {root}; `gigavqa dataset demo` makes one", markup=False)


@app.command()
def delete(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="Its name in the data root.",
            autocompletion=complete_datasets,
            show_default=False,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    with_reviews: WithReviewsOption = False,
    json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Delete a data set of the data root, unless a job over it runs. Nothing brings it back.

    The gateway is asked which jobs there are; without one, the state store of this installation. Jobs that have ended
    keep their responses, but reports and verdicts on them need the data set. Pictures that are linked stay elsewhere.
    What people said of its samples goes with it: --yes wants --with-reviews beside it then.

    \b
    gigavqa dataset delete street
    gigavqa dataset delete street --yes --json
    """
    from gigavqa.cli.dataset_jobs import require_no_open_job
    from gigavqa.evaluation.dataset_deletion import delete_dataset, measure_dataset

    home = Home.from_environment()
    folder, names = home.data / dataset, dataset_names()
    if dataset not in names:
        close = did_you_mean(dataset, names)
        raise ArgumentError(f"the data root {home.data} has no data set '{quote_text(dataset)}'{close}")
    if folder.is_symlink():
        raise ArgumentError(f"{folder} is a link to {folder.resolve()}: delete both yourself")
    ended = require_no_open_job(home, url, dataset)
    held = measure_dataset(folder)
    reviews = require_reviews_told(folder, yes=yes, with_reviews=with_reviews)
    if not yes:
        jobs = f"; {count_noun(ended, 'job')} over it could not be reported on any more" if ended else ""
        require_consent(
            f"delete {folder}, {count_noun(held.files, 'file')} of {held.bytes / 1e6:,.1f} MB{reviews}{jobs}?"
        )
    delete_dataset(folder)
    if json:
        print_json({"name": dataset, "deleted": True, **asdict(held), "ended_jobs": ended})
    else:
        out.print(f"{dataset} deleted", markup=False)
