"""`gigavqa ingest`: a lossless tiled pyramid of a flat image, made once."""

from pathlib import Path
from typing import Annotated

import typer

from cli.arguments import Json
from cli.console import out, print_json


def ingest(
    images: Annotated[list[str], typer.Argument(metavar="IMAGE...", help="Image files, or names in the data root.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder of the pyramids; the installation's own if omitted."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make lossless tiled pyramids of flat images (JPEG, PNG ...), so that every view reads only what it shows.

    Jobs do this themselves when several views of one flat image are needed; doing it ahead saves the first job's time.
    Made once for each image content; asking again costs nothing.

    \b
    gigavqa ingest ~/pictures/plaza.jpg
    gigavqa ingest demo/images/*.png --json
    """
    from cli.lookup import image_path
    from jobs.home import Home
    from tiling.ingest import ingest as make_pyramid

    folder = output or Home.from_environment().pyramids
    for name in images:
        pyramid = make_pyramid(image_path(name), folder)
        if json:
            print_json({"image": name, "pyramid": str(pyramid)})
        else:
            out.print(str(pyramid), markup=False)
