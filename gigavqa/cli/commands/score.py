"""`gigavqa score`: score recorded responses offline, without a service."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.cli.arguments import (
    FiguresOption,
    FormatOption,
    OutputOption,
    PartsOption,
    ReportFormat,
    TextsOption,
    verdict_format,
)
from gigavqa.cli.console import err
from gigavqa.cli.datasets import records_path
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import catalogue
from gigavqa.cli.reporting import write_figures, write_report, write_text
from gigavqa.cli.work_line import work_line
from gigavqa.reports.score import load_judged_dataset, outcomes_of_files, page_of_files, score_files
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import write_verdicts
from gigavqa.runtime.home import Home
from gigavqa.store.previews import PreviewStore


def score(
    samples: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A data set's name or folder, or a JSON or JSONL file of samples.",
            show_default=False,
        ),
    ],
    responses: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESPONSES",
            exists=True,
            help="Files of responses as `gigavqa results` writes them, Parquet parts of results, or lines "
            "{sample_id, text}; or folders of such files.",
        ),
    ],
    format: FormatOption = ReportFormat.TABLE,
    output: OutputOption = None,
    figures: FiguresOption = None,
    previews: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Results (a folder or address, as RESULTS_URI) whose previews the page shows; this installation's if "
            "omitted.",
        ),
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write there what became of every response: .csv, .jsonl or .parquet, as `gigavqa verdicts`.",
        ),
    ] = None,
    judge_responses: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            help="Responses of a job that judges, as RESPONSES are: scores are by the first one (repeatable).",
        ),
    ] = None,
    judge: Annotated[list[Path] | None, typer.Option(metavar="FILE", exists=True, hidden=True)] = None,
    parts: PartsOption = False,
    texts: TextsOption = False,
) -> None:
    """Score responses against samples, from files alone: parses answers, fills Tables 1 to 3 and the figures.

    Raw responses never change, so a newer parser or metric is applied by scoring them again.

    \b
    gigavqa results latest -o responses.ndjson
    gigavqa score demo responses.ndjson --format json
    gigavqa score demo responses.ndjson --format html -o report.html
    gigavqa score demo responses.ndjson --verdicts verdicts.parquet
    gigavqa score demo /data/results/job=JOB --format md
    gigavqa score harbours responses.ndjson --judge-responses verdicts.ndjson
    """
    if verdicts is None and (parts or texts):
        raise ArgumentError("--parts and --texts say how verdicts are written; name their file with --verdicts")
    form = verdict_format(verdicts) if verdicts else None
    records, known, judges = records_path(samples), catalogue(), [*(judge_responses or ()), *(judge or ())]
    with work_line():
        dataset = load_judged_dataset(records, judges)
        report = score_files(dataset, *responses, catalogue=known)
    if figures:
        write_figures(report, figures)
    if verdicts and form:
        with work_line():
            outcomes = outcomes_of_files(dataset, *responses, catalogue=known)
            write_verdicts(outcomes, verdicts, form.value, VerdictFileLayout.of(dataset, parts=parts, texts=texts))
        err.print(f"verdicts written to {verdicts}", markup=False)
    if format is not ReportFormat.HTML:
        write_report(report, format, output)
        return
    results = previews or _own_results()
    with work_line():
        page = page_of_files(report, dataset, *responses, catalogue=known, preview=_previews(results))
    write_text(page, output)
    if "data:image/jpeg" not in page:
        err.print(
            f"the page shows no pictures: {results} holds no previews of what these responses name; "
            "--previews names the results that do",
            markup=False,
        )


def _own_results() -> str:
    return Home.from_environment().results_uri


def _previews(uri: str) -> Callable[[str], bytes | None]:
    return PreviewStore(uri).read
