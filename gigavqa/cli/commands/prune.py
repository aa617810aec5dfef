"""`gigavqa admin prune`: room on the disk, and nothing that anybody would miss."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.backup.checking import check
from gigavqa.backup.checking import remove as remove_leftovers
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.consent import require_consent
from gigavqa.cli.console import out, print_json
from gigavqa.cli.installation import installation_store
from gigavqa.runtime.home import Home
from gigavqa.tiling.digest import store_digests

Unused = Annotated[
    float,
    typer.Option(min=0, metavar="DAYS", help="Delete rasters and digests that were not used for so long."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")]


def prune(unused: Unused = 30, yes: Yes = False, json: JsonOption = False) -> None:
    """Delete what is left over: parts and files that nothing names, rasters and pyramids of no use; asks first.

    What `gigavqa admin fsck` calls leftovers, older than an hour; pyramids of which the data root has no picture any
    more, as `gigavqa admin pyramids prune` does. Nothing that a job, a report or a client can read.

    \b
    gigavqa admin prune
    gigavqa admin prune --unused 7 --yes
    """
    home = Home.from_environment()
    store_digests(home.digests)
    with installation_store(home) as url:
        leftovers = [finding for finding in check(url, home) if finding.remove]
        cached = _unused_caches(home, unused)
        named = [*map(str, leftovers), *(f"cached: {path}" for path in cached)]
        if named and not json:
            out.print("\n".join(named), markup=False)
        if named and not yes:
            require_consent(f"Delete these {len(named)}?")
        asyncio.run(remove_leftovers(url, home, leftovers))
    freed = sum(_delete(path) for path in cached)
    if json:
        told = [{"kind": each.kind, "subject": each.subject, "told": each.told} for each in leftovers]
        print_json({"leftovers": told, "cached": [str(path) for path in cached], "cached_bytes": freed})
    else:
        out.print(f"deleted: {len(named)}" if named else "nothing to delete", markup=False)


def _unused_caches(home: Home, days: float) -> list[Path]:
    from gigavqa.tiling.housekeeping import list_pyramids, unused_files  # noqa: PLC0415 - the extra `pixels`

    pyramids = list_pyramids(home.pyramids, home.data) if home.data.is_dir() else []
    useless = [kept.path for kept in pyramids if not kept.pictures and not kept.is_partial]
    return [*unused_files(home.rasters, days), *unused_files(home.digests, days), *useless]


def _delete(path: Path) -> int:
    num_bytes = path.stat().st_size
    path.unlink(missing_ok=True)
    return num_bytes
