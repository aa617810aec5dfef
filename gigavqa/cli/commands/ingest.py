"""`gigavqa ingest`: a lossless tiled pyramid of a flat image, made once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gigavqa.cli.arguments import DisplayOption, JsonOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.lookup import image_path
from gigavqa.runtime.home import Home
from gigavqa.tiling.digest import UNSEEN_CHANGE_MESSAGE, content_digest, renew_digest, store_digests
from gigavqa.tiling.displays.display_rules import show_below

if TYPE_CHECKING:
    from gigavqa.tiling import pyramid
    from gigavqa.tiling.displays.tone import Tone


def ingest(
    images: Annotated[list[str], typer.Argument(metavar="IMAGE...", help="Image files, or names in the data root.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder of the pyramids; the installation's own if omitted."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Make one of an image that is a pyramid already, to be used by its path.")
    ] = False,
    display: DisplayOption = "",
    json: JsonOption = False,
) -> None:
    """Make lossless tiled pyramids of flat images (JPEG, PNG ...), so that every view reads only what it shows.

    Jobs do this themselves for large images, in idle time, once passes over one have cost as much; doing it ahead saves
    these passes. Made once for each image content; asking again costs nothing, and of a pyramid none is made, unless
    its levels are not what they should be: then views read none of them, which this mends. `gigavqa admin pyramids`
    says what they take, and deletes those of pictures that are gone.

    \b
    gigavqa ingest ~/pictures/plaza.jpg
    gigavqa ingest demo/images/land.png demo/images/plaza.jpg --json
    """
    from gigavqa.tiling.file_facts import cached_identity, cached_read_plan, cached_remarks  # noqa: PLC0415
    from gigavqa.tiling.ingest import has_levels  # noqa: PLC0415 - the extra `pixels`

    home = Home.from_environment()
    store_digests(home.digests)
    folder = output or home.pyramids
    for name, path in [(name, image_path(name)) for name in images]:
        if renew_digest(path):
            err.print(f"{name}: {UNSEEN_CHANGE_MESSAGE}", markup=False)
        tone = cached_identity(path, None, display or show_below(home.data, name)).tone
        reading = cached_read_plan(path, tone=tone)
        for remark in cached_remarks(path, tone):
            err.print(f"{name}: {remark}", markup=False)
        is_one = not force and has_levels(reading)
        pyramid = None if is_one else _make(name, path, folder, tone)
        if json:
            print_json({"image": name, "is_pyramid": is_one, "pyramid": str(pyramid) if pyramid else None})
        elif pyramid:
            out.print(str(pyramid), markup=False)
        else:
            err.print(f"{name} is a pyramid already: views read it as it is, and nothing was made", markup=False)


def _make(name: str, path: Path, folder: Path, tone: "Tone | None") -> Path:
    from gigavqa.tiling.ingest import make_pyramid, pyramid_path  # noqa: PLC0415 - the extra `pixels`

    with _progress(name) as progress:
        make_pyramid(path, folder, progress, tone=tone)
    return pyramid_path(content_digest(path), folder, tone)


@contextmanager
def _progress(name: str) -> "Iterator[pyramid.OnProgress | None]":
    """A bar on a terminal, which leaves with the work; nothing elsewhere."""
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(Path(name).name, total=None)
        yield lambda written, total: bar.update(task, completed=written, total=total)
