"""`gigavqa report`: the tables of one job or several, computed by the gateway from the raw responses."""

from functools import partial
from typing import Annotated, cast

import typer

from gigavqa.cli.arguments import (
    FiguresOption,
    FormatOption,
    JobsArgument,
    JudgeOption,
    OutputOption,
    ReportFormat,
    UrlOption,
)
from gigavqa.cli.client import TerminalClient
from gigavqa.client import calls
from gigavqa.client.connection import DEFAULT_URL


def report(
    job_ids: JobsArgument = None,
    format: FormatOption = ReportFormat.TABLE,
    output: OutputOption = None,
    figures: FiguresOption = None,
    judge: JudgeOption = None,
    by_job: Annotated[
        bool,
        typer.Option(
            "--by-job",
            help="Tell answers of a model apart that several of the jobs ask the same; else the jobs are further "
            "repeats.",
        ),
    ] = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Print one report over jobs, also while they run: Tables 1 to 3 and the figures, with 95 % intervals.

    The jobs must be over one data set; without any, the newest job is reported.

    \b
    gigavqa report
    gigavqa report latest --format md -o report.md
    gigavqa report latest --format html -o report.html
    gigavqa report latest --format json | jq .
    gigavqa report latest --figures figures
    gigavqa report job_1 job_2 --format md
    gigavqa report job_1 job_2 --judge job_3
    gigavqa report job_1 job_2 --by-job
    """
    # Half a second, which completion need not wait for.
    from gigavqa.cli.reporting import write_figures, write_report, write_text  # noqa: PLC0415
    from gigavqa.reports.report import Report  # noqa: PLC0415

    with TerminalClient(url) as gateway:
        names = [gateway.named(name) for name in job_ids or ["latest"]]
        judges = [gateway.named(name) for name in judge or ()]
        get = partial(gateway.report, *names, judges=judges, by_job=by_job)
        if figures:
            write_figures(Report.model_validate_json(get(form="json")), figures)
        if format is ReportFormat.TABLE:
            write_report(Report.model_validate_json(get(form="json")), format, output)
        else:
            write_text(get(form=cast(calls.ReportFormat, format.value)), output)
