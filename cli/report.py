"""`gigavqa report`: the tables of a job, computed by the gateway from the raw responses."""

from cli.arguments import DEFAULT_URL, JobId, Url
from cli.score import FiguresOption, FormatOption, OutputOption, ReportFormat


def report(
    job_id: JobId = "latest",
    format: FormatOption = ReportFormat.TABLE,
    output: OutputOption = None,
    figures: FiguresOption = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Print the report of a job, also while it runs: Tables 1 and 2 with counts and 95 % intervals.

    \b
    gigavqa report
    gigavqa report latest --format md -o report.md
    gigavqa report latest --format html -o report.html
    gigavqa report latest --format json | jq .
    gigavqa report latest --figures figures
    """
    from cli.client import Gateway
    from cli.figures import write_figures
    from cli.reports import write_report, write_text
    from evaluation.report import Report

    with Gateway(url) as gateway:
        name = gateway.job_id(job_id)
        if figures:
            write_figures(Report.model_validate_json(gateway.report(name, "json")), figures)
        if format is ReportFormat.TABLE:
            write_report(Report.model_validate_json(gateway.report(name, "json")), format, output)
        else:
            write_text(gateway.report(name, format), output)
