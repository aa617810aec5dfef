"""Arguments and options that several commands share, so that they read alike everywhere."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gigavqa.cli.completion import complete_datasets, complete_jobs, complete_models, complete_samples
from gigavqa.cli.errors import ArgumentError
from gigavqa.demo.drawn import ALL, benchmarks_drawn


class ReportFormat(StrEnum):
    """How a report is written; `table` is for people at a terminal."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "md"
    CSV = "csv"
    LATEX = "tex"
    HTML = "html"


class VerdictFileFormat(StrEnum):
    """How verdicts are written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class DecimalSign(StrEnum):
    """What stands before the fraction of a number that is written as a text."""

    COMMA = ","
    POINT = "."


DecimalOption = Annotated[
    DecimalSign | None,
    typer.Option(
        "--decimal",
        show_default=False,
        help="The decimal sign of numbers in a table; without it a comma where semicolons separate, else a point.",
    ),
]
DRAWING = typer.Option(
    "--benchmark",
    metavar="NAME",
    help=f"Whose data set: {', '.join(benchmarks_drawn())}, or {ALL}.",
    autocompletion=lambda: [*benchmarks_drawn(), ALL],
)
DrawingOption = Annotated[str, DRAWING]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="Catalogue id (`gigavqa models`), local checkpoint folder, or Hugging Face id of a supported family.",
        autocompletion=complete_models,
    ),
]
DatasetArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="A data set's name in the data root, or its folder.",
        autocompletion=complete_datasets,
        show_default=False,
    ),
]
DatasetOption = Annotated[
    str,
    typer.Option(
        "--dataset",
        "-d",
        metavar="DATASET",
        help="A data set's name in the data root, or its folder.",
        autocompletion=complete_datasets,
        show_default=False,
    ),
]
SampleArgument = Annotated[
    str, typer.Argument(metavar="SAMPLE", help="The sample's id.", autocompletion=complete_samples, show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
JobArgument = Annotated[
    str, typer.Argument(metavar="JOB", help="The job's id, or `latest`.", autocompletion=complete_jobs)
]
JobsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[JOB]...", help="Ids of jobs, or `latest`.", autocompletion=complete_jobs),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="JOB",
        help="A job that judges (`gigavqa judge`): scores are by the first one, others stand beside (repeatable).",
        autocompletion=complete_jobs,
    ),
]
UrlOption = Annotated[
    str,
    typer.Option("--url", envvar="GIGAVQA_URL", help="Address of the gateway.", rich_help_panel="Gateway"),
]
ResubmitOption = Annotated[bool, typer.Option("--again", help="Ask anew what was asked alike within the last day.")]
GatewayPortOption = Annotated[
    int, typer.Option(min=0, max=65535, help="Port of a gateway that has to be started; 0: any free one.")
]
FormatOption = Annotated[ReportFormat, typer.Option("--format", "-f", help="How the report is written.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
]
FiguresOption = Annotated[
    Path | None, typer.Option("--figures", metavar="FOLDER", help="Also write the figures there: SVG, PNG and numbers.")
]
JobOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="A choice of the conditions (thumbnail=768, the longest side of V1) or of the benchmark (repeatable).",
    ),
]


ClosingOption = Annotated[
    Literal["choice", "number", "boolean", "json", "auto"] | None,
    typer.Option(
        show_default=False,
        help="Ask for the answer alone in one more turn behind each free answer, held to an option's letter (choice), "
        "a number, true or false (boolean), or an object (json); auto: whichever fits. Reports have both.",
    ),
]
PartsOption = Annotated[
    bool, typer.Option("--parts", help="Of verdicts, one row a judged part (step, hop, sub-question), not a response.")
]
TextsOption = Annotated[bool, typer.Option("--texts", help="Verdicts with the raw texts.")]


def verdict_format(file: Path) -> VerdictFileFormat:
    """Return the form of verdicts that a file's name ends in; raises ArgumentError."""
    suffixes = {f".{form}": form for form in VerdictFileFormat} | {".ndjson": VerdictFileFormat.JSONL}
    if file.suffix.lower() not in suffixes:
        raise ArgumentError(f"'{file}' ends in none of {', '.join(suffixes)}, which say how verdicts are written")
    return suffixes[file.suffix.lower()]


def parse_setting(text: str, option: str, example: str) -> tuple[str, Any]:
    """Read `name=value`, the value as JSON where it is JSON and else as text; raises ArgumentError."""
    name, value = parse_pair(text, option, example)
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def parse_pair(text: str, option: str, example: str) -> tuple[str, str]:
    """Read `name=value`; raises ArgumentError."""
    name, separator, value = text.partition("=")
    if not (separator and name):
        raise ArgumentError(f"{option} '{text}' is not NAME=VALUE, such as {example}")
    return name, value
