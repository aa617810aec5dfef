"""`gigavqa report`: the tables of one job or several, computed by the gateway from the raw responses."""

from typing import cast

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
    """
    # Half a second, which completion need not wait for.
    from gigavqa.cli.reporting import write_figures, write_report, write_text  # noqa: PLC0415
    from gigavqa.reports.report import Report  # noqa: PLC0415

    with TerminalClient(url) as gateway:
        names = [gateway.named(name) for name in job_ids or ["latest"]]
        judges = [gateway.named(name) for name in judge or ()]
        if figures:
            write_figures(Report.model_validate_json(gateway.report(*names, form="json", judges=judges)), figures)
        if format is ReportFormat.TABLE:
            report_ = Report.model_validate_json(gateway.report(*names, form="json", judges=judges))
            write_report(report_, format, output)
        else:
            write_text(gateway.report(*names, form=cast(calls.ReportFormat, format.value), judges=judges), output)
