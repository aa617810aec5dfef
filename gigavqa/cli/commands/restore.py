"""`gigavqa admin restore`: an installation as a backup shows it."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.backup.archives import Archive
from gigavqa.backup.restoring import restore as restore_archive
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.commands.backup import describe_backup
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.installation import operators_store
from gigavqa.runtime.home import Home

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="What `gigavqa admin backup` has made.", show_default=False)
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Also where there is an installation, which the backup then takes the place of."),
]


def restore(folder: Folder, overwrite: Overwrite = False, json: JsonOption = False) -> None:
    """Restore a backup into an installation that does not run; jobs that were in progress go on when it starts.

    The whole backup is read and compared with its checksums before anything is changed. Where the installation is to
    be comes from GIGAVQA_HOME, REDIS_URL and RESULTS_URI: another server than that of the backup will do.

    \b
    gigavqa admin restore /backups/gigavqa-2026-11-22
    GIGAVQA_HOME=/srv/other gigavqa admin restore /backups/gigavqa-2026-11-22
    gigavqa admin restore /backups/gigavqa-2026-11-22 --overwrite
    """
    home, archive = Home.from_environment(), Archive(folder.expanduser().absolute())
    with operators_store(home.redis_url) if home.redis_url else nullcontext():
        aside = restore_archive(archive, home, overwrite=overwrite)
    if json:
        print_json({**archive.manifest.model_dump(mode="json"), "before": str(aside) if aside else None})
    else:
        out.print(f"restored: {describe_backup(archive.manifest)}")
    if aside:
        err.print(f"the server's state of before is in {aside}", markup=False)
