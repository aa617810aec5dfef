"""`gigavqa admin backup`: everything that would be missed, in one folder."""

from pathlib import Path
from typing import Annotated

import typer

from gigavqa.backup.archives import Manifest
from gigavqa.backup.backups import back_up
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import CommandError
from gigavqa.cli.installation import installation_store
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A new folder; it appears when all is in it.", show_default=False)
]


def backup(folder: Folder, json: JsonOption = False) -> None:
    """Back up what the installation keeps, also while jobs run: server state, responses, uploads, catalogue.

    The backup shows one moment: what was recorded before the command began is in it. Data sets and pictures are yours,
    and are not copied; pyramids and rasters are made again. `sha256sum -c SHA256SUMS` checks a backup.

    \b
    gigavqa admin backup /backups/gigavqa-$(date +%F)
    RESULTS_URI=s3://answers/gigavqa REDIS_URL=redis://valkey:6379 gigavqa admin backup /backups/today
    """
    home = Home.from_environment()
    with installation_store(home) as url:
        manifest = back_up(url, home, folder.expanduser().absolute())
    if json:
        print_json({"folder": str(folder), **manifest.model_dump(mode="json")})
    else:
        out.print(f"{folder}: {describe_backup(manifest)}")
    for lost in manifest.damaged:
        err.print(f"not in the backup: {lost}", markup=False)
    if manifest.damaged:
        raise CommandError(
            f"the backup is whole but for {count_noun(len(manifest.damaged), 'file')} damaged before it; "
            "`gigavqa admin fsck` tells of them"
        )


def describe_backup(manifest: Manifest) -> str:
    """Return a backup in a line."""
    things = ((manifest.jobs, "job"), (manifest.responses, "response"), (manifest.files, "file"))
    counts = ", ".join(count_noun(*one) for one in things)
    return f"{counts}, {manifest.bytes / 1e6:.1f} MB, of {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC"
