"""`gigavqa score`: score recorded responses offline, without a service."""

from pathlib import Path
from typing import Annotated

import typer

from cli.report_options import FiguresOption, FormatOption, OutputOption, ReportFormat


def score(
    samples: Annotated[
        Path,
        typer.Argument(metavar="SAMPLES", exists=True, help="A data set's folder, or a JSON or JSONL file of samples."),
    ],
    responses: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESPONSES",
            exists=True,
            help="Files of responses as `gigavqa results` writes them, or of lines {sample_id, text}; or folders.",
        ),
    ],
    format: FormatOption = ReportFormat.TABLE,
    output: OutputOption = None,
    figures: FiguresOption = None,
) -> None:
    """Score responses against samples, from files alone: parses answers, fills Tables 1 to 3 and the figures.

    Raw responses never change, so a newer parser or metric is applied by scoring them again.

    \b
    gigavqa results latest -o responses.ndjson
    gigavqa score ~/.gigavqa/data/demo responses.ndjson --format json
    gigavqa score ~/.gigavqa/data/demo responses.ndjson --format html -o report.html
    """
    from cli.figures import write_figures
    from cli.lookup import catalogue
    from cli.reports import write_report, write_text
    from evaluation.score import score_files

    known = catalogue()
    report = score_files(samples, *responses, catalogue=known)
    if figures:
        write_figures(report, figures)
    if format is ReportFormat.HTML:
        from evaluation.pages import page_of_files

        write_text(page_of_files(report, samples, *responses, catalogue=known), output)
    else:
        write_report(report, format, output)
