"""`gigavqa verdicts`: what became of every response of jobs, as a file for pandas, DuckDB or a spreadsheet."""

import sys
from typing import Annotated

import typer

from gigavqa.cli.arguments import (
    JobsArgument,
    JudgeOption,
    OutputOption,
    PartsOption,
    TextsOption,
    UrlOption,
    VerdictFileFormat,
    verdict_format,
)
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err
from gigavqa.cli.errors import ArgumentError
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.reports.writers.verdict_files import open_whole_file


def verdicts(
    job_ids: JobsArgument = None,
    output: OutputOption = None,
    format: Annotated[
        VerdictFileFormat | None,
        typer.Option("--format", "-f", help="How they are written; as FILE ends, or csv, if omitted."),
    ] = None,
    parts: PartsOption = False,
    texts: TextsOption = False,
    judge: JudgeOption = None,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Write the verdicts on jobs, one row a response: what was asked, the truth, what was read, and its score.

    The jobs must be over one data set; without any, the newest job is taken. Rows come in the order of recording, also
    while a job runs. A response that cannot be read now has a row whose failure says so.

    \b
    gigavqa verdicts -o verdicts.parquet
    gigavqa verdicts latest --texts -o verdicts.csv
    gigavqa verdicts job_1 job_2 --parts -o parts.parquet
    gigavqa verdicts latest --format jsonl | jq -r 'select(.correct == false).sample_id'
    """
    form = format or (verdict_format(output) if output else VerdictFileFormat.CSV)
    if form is VerdictFileFormat.PARQUET and output is None and sys.stdout.isatty():
        raise ArgumentError("Parquet is not for a terminal; name a file with -o, or redirect the output")
    with TerminalClient(url) as gateway, open_whole_file(output or sys.stdout.buffer) as file:
        names = [gateway.named(name) for name in job_ids or ["latest"]]
        judges = [gateway.named(name) for name in judge or ()]
        for chunk in gateway.verdict_file(names, form.value, parts=parts, texts=texts, judges=judges):
            file.write(chunk)
    if output:
        err.print(f"verdicts written to {output}", markup=False)
