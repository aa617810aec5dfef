"""How commands that print reports let people choose their form."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ReportFormat(StrEnum):
    """How a report is written; `table` is for people at a terminal."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "md"
    CSV = "csv"
    HTML = "html"


FormatOption = Annotated[ReportFormat, typer.Option("--format", "-f", help="How the report is written.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
]
FiguresOption = Annotated[
    Path | None, typer.Option("--figures", metavar="FOLDER", help="Also write Figure 2 there: SVG, PNG and numbers.")
]
