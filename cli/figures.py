"""Figure 2 as files: drawings to paste, and the numbers that they show."""

from pathlib import Path
from typing import TYPE_CHECKING

from cli.console import err
from cli.errors import CommandError

if TYPE_CHECKING:
    from evaluation.report import Report


def write_figures(report: "Report", folder: Path) -> None:
    """Write every part of Figure 2 as SVG and PNG, and the numbers as JSON. Raises CommandError when there is none."""
    from evaluation.rendering.figures import FORMS, drawings, write_drawing

    parts = drawings(report.figure2)
    if not parts:
        raise CommandError("there is no Figure 2: it needs responses under V2 to S2, S4 or S5 (`--plan table3`)")
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        for form in FORMS:
            (folder / f"{part.name}.{form}").write_bytes(write_drawing(part, form))
    (folder / "figure2.json").write_text(report.figure2.model_dump_json(indent=2), encoding="utf-8")
    err.print(f"figures written to {folder}: {', '.join(part.name for part in parts)}", markup=False)
