"""The tools that builds are written for, by the names that their readers have."""

from collections.abc import Callable, Mapping
from pathlib import Path

from gigavqa.construction.tool_exports.cvat import write_cvat
from gigavqa.construction.tool_exports.drawn_objects import DrawnImages
from gigavqa.construction.tool_exports.label_studio import write_label_studio
from gigavqa.construction.tool_exports.qupath import write_qupath

_WRITERS: Mapping[str, Callable[[Path, DrawnImages], object]] = {
    "labelstudio": write_label_studio,
    "cvat": write_cvat,
    "qupath": write_qupath,
}


def write_for_tool(form: str, target: Path, images: DrawnImages) -> None:
    """Write images with what is annotated and asked, as a tool reads them. Raises BuildError as its writer does."""
    _WRITERS[form](target, images)
