"""How commands that write verdicts let people choose their form."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import ArgumentError


class VerdictForm(StrEnum):
    """How verdicts are written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


PartsOption = Annotated[
    bool, typer.Option("--parts", help="Of verdicts, one row a judged part (step, hop, sub-question), not a response.")
]
TextsOption = Annotated[bool, typer.Option("--texts", help="Verdicts with the raw texts.")]
_SUFFIXES = {f".{form}": form for form in VerdictForm} | {".ndjson": VerdictForm.JSONL}


def form_of(file: Path) -> VerdictForm:
    """The form that a file's name ends in; raises ArgumentError."""
    form = _SUFFIXES.get(file.suffix.lower())
    if form is None:
        raise ArgumentError(f"'{file}' ends in none of {', '.join(_SUFFIXES)}, which say how verdicts are written")
    return form
