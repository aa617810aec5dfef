"""`gigavqa viewer`: pictures by IIIF, and the evidence page, until Ctrl-C."""

from typing import Annotated

import typer

from gigavqa.launcher import preflight

Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Its port; 0 takes any free one.")]
Unauthenticated = Annotated[
    bool,
    typer.Option(
        "--allow-unauthenticated",
        envvar="GIGAVQA_VIEWER_ALLOW_UNAUTHENTICATED",
        help="Let --host be reached from other machines without keys, though whoever connects may see every picture.",
    ),
]


def viewer(
    host: Host = "127.0.0.1", port: Port = preflight.VIEWER_PORT, allow_unauthenticated: Unauthenticated = False
) -> None:
    """Serve the pictures, by IIIF's Image API from the data root, and the page that shows evidence in them.

    On another address than 127.0.0.1 it asks for keys (`gigavqa admin keys create` makes the first).
    `gigavqa up` starts one, too. All else is set by variables or the settings file: `python -m gigavqa.viewer --help`.

    \b
    gigavqa viewer
    curl http://127.0.0.1:8471/iiif/3/demo%2Fimages%2Fland.png/info.json
    GIGAVQA_VIEWER_RENDERS=8 gigavqa viewer --port 9000
    """
    preflight.require_viewer()
    from gigavqa.viewer.__main__ import main  # noqa: PLC0415 - the extras `gateway` and `pixels`

    arguments = ["--host", host, "--port", str(port)]
    arguments += ["--allow-unauthenticated"] if allow_unauthenticated else []
    raise typer.Exit(main(arguments))
