"""`gigavqa admin`: what few need, and rarely."""

import typer

from gigavqa.cli.commands import ADMIN
from gigavqa.cli.lazy import lazy_group

app = typer.Typer(
    cls=lazy_group(ADMIN),
    help="""Keys, backups, checks, corpora, pyramids, room on the disk: what few need, and rarely.

    \b
    gigavqa admin keys create --name laptop --owner ada --role operate
    gigavqa admin backup /backups/gigavqa-$(date +%F)
    gigavqa admin fsck
    """,
    no_args_is_help=True,
)


@app.callback()
def options() -> None:
    """Take no option but --help."""
