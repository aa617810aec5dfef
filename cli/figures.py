"""Figures as files: drawings to paste, and the numbers that they show."""

from pathlib import Path
from typing import TYPE_CHECKING

from cli.console import err
from cli.errors import CommandError

if TYPE_CHECKING:
    from evaluation.report import Report


def write_figures(report: "Report", folder: Path) -> None:
    """Write every figure as SVG and PNG, and its numbers as JSON. Raises CommandError when there is none."""
    from evaluation.writers.drawings import FORMS, drawings, write_drawing

    found = drawings(report)
    if not found:
        raise CommandError("the report has no figure: its benchmark draws none of these responses")
    folder.mkdir(parents=True, exist_ok=True)
    for drawing in found:
        figure = drawing.figure
        for form in FORMS:
            (folder / f"{figure.name}.{form}").write_bytes(write_drawing(drawing, form))
        if table := report.table(figure.table):
            (folder / f"{figure.name}.json").write_text(table.model_dump_json(indent=2), encoding="utf-8")
    err.print(f"figures written to {folder}: {', '.join(drawing.figure.name for drawing in found)}", markup=False)
