"""Arguments and options that several commands share, so that they read alike everywhere."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError

from gigavqa.cli.completion import complete_datasets, complete_jobs, complete_models, complete_samples
from gigavqa.cli.errors import ArgumentError
from gigavqa.demo.drawn import ALL, benchmarks_drawn
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_rule


class ReportFormat(StrEnum):
    """The format of a report; `table` is for people at a terminal."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "md"
    CSV = "csv"
    LATEX = "tex"
    HTML = "html"


class VerdictFileFormat(StrEnum):
    """The format of a file of verdicts."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class DecimalSign(StrEnum):
    """The sign before the fraction of a number that is written as a text."""

    COMMA = ","
    POINT = "."


class Condition(StrEnum):
    """The condition, which is what a model is shown."""

    V0 = "V0"
    V0F = "V0F"
    V1 = "V1"
    V2 = "V2"
    V3 = "V3"
    V4 = "V4"
    V5 = "V5"
    V6 = "V6"


DecimalOption = Annotated[
    DecimalSign | None,
    typer.Option(
        "--decimal",
        show_default=False,
        help="The decimal sign of numbers in a table; without it a comma where semicolons separate, else a point.",
    ),
]


def _require_drawn(name: str | None) -> str | None:
    if name is not None and name not in (known := (*benchmarks_drawn(), ALL)):
        raise ArgumentError(f"--benchmark '{name}' is none of {', '.join(known)}{did_you_mean(name, known)}")
    return name


DRAWING = typer.Option(
    "--benchmark",
    metavar="BENCHMARK",
    callback=_require_drawn,
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
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Override the model's decoding: temperature=0, max_tokens=64 (repeatable).",
    ),
]
TITLE = "title"
"""The note of a job that pages and tables show beside the name of its data set."""

TitleOption = Annotated[
    str,
    typer.Option("--title", metavar="TEXT", show_default=False, help="What tables and pages call it, for people."),
]


def _display(text: str) -> str:
    from gigavqa.tiling.displays.display import canonical_display  # noqa: PLC0415 - completion need not wait for it

    try:
        return canonical_display(text)
    except ValueError as error:
        raise ArgumentError(f"--show: {str(error).removeprefix('show: ')}") from error


DisplayOption = Annotated[
    str,
    typer.Option(
        "--show",
        metavar="DISPLAY",
        show_default=False,
        callback=_display,
        help="How samples become colours: bands=4,3,2 stretch=percentile:2:98. `gigavqa show IMAGE` proposes some.",
    ),
]
RepeatsOption = Annotated[int, typer.Option(min=1, help="How often every sample is asked in every cell.")]
SeedOption = Annotated[int, typer.Option(help="Makes every draw repeatable.")]
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


def parse_sampling(texts: Sequence[str] | None) -> dict[str, Any]:
    """Read what `--set` says of decoding; raises ArgumentError. Names that only the gateway knows are its to judge."""
    from gigavqa.catalogue.entry import Decoding  # noqa: PLC0415 - completion need not wait for it

    given = dict(parse_setting(text, "--set", "temperature=0") for text in texts or ())
    try:
        Decoding.model_validate({name: value for name, value in given.items() if name in Decoding.model_fields})
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        name = str(detail["loc"][0])
        raise ArgumentError(f"--set '{name}={given[name]}': {name} {describe_rule(detail)}") from error
    return given


def parse_pair(text: str, option: str, example: str) -> tuple[str, str]:
    """Read `name=value`; raises ArgumentError."""
    name, separator, value = text.partition("=")
    if not (separator and name):
        raise ArgumentError(f"{option} '{text}' is not NAME=VALUE, such as {example}")
    return name, value
