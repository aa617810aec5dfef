"""`gigavqa admin pyramids`: what ingest has made, and room on the disk."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.consent import require_consent
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import CommandError
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.digest import store_digests

if TYPE_CHECKING:
    from gigavqa.tiling.housekeeping import StoredPyramid

app = typer.Typer(
    help="""List the pyramids that were made of flat images, and delete those of no use.

    \b
    gigavqa admin pyramids list
    gigavqa admin pyramids prune
    """,
    no_args_is_help=True,
)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the pyramids of this installation, their sizes, and the pictures of the data root that they were made of.

    \b
    gigavqa admin pyramids list
    gigavqa admin pyramids list --json | jq 'map(.bytes) | add'
    """
    found = _list_pyramids()
    if json:
        print_json([_describe(kept) for kept in found])
    elif found:
        _print(found)
    else:
        err.print("there is no pyramid; jobs and `gigavqa ingest` make them", markup=False)


@app.command()
def prune(
    all_: Annotated[
        bool, typer.Option("--all", help="Also those of pictures that are there; jobs make them again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    json: JsonOption = False,
) -> None:
    """Delete the pyramids of which the data root has no picture any more, after saying what that frees.

    A picture that was edited counts as another one; so does, of more than 256 MiB, one that was copied or moved.

    \b
    gigavqa admin pyramids prune
    gigavqa admin pyramids prune --all --yes
    """
    useless = [kept for kept in _list_pyramids() if all_ or not kept.pictures]
    if useless and not yes:
        _print(useless, to_delete=True)
        require_consent(f"Delete {_count_pyramids(useless)}?")
    from gigavqa.tiling.housekeeping import delete_pyramid  # noqa: PLC0415 - the extra `pixels`

    deleted = [kept for kept in useless if delete_pyramid(kept)]
    for kept in useless:
        if kept not in deleted:
            err.print(f"kept: {kept.path.name} is being made at this moment", markup=False)
    if json:
        print_json({"deleted": [_describe(kept) for kept in deleted], "bytes": sum(k.num_bytes for k in deleted)})
    else:
        out.print(f"deleted: {_count_pyramids(deleted)}" if deleted else "nothing deleted", markup=False)


def _list_pyramids() -> "list[StoredPyramid]":
    from gigavqa.tiling.housekeeping import list_pyramids  # noqa: PLC0415 - the extra `pixels`

    home = Home.from_environment()
    if not home.data.is_dir():
        raise CommandError(f"the data root {home.data} is not there, so that no pyramid's picture can be found")
    store_digests(home.digests)
    return list_pyramids(home.pyramids, home.data)


def _count_pyramids(kept: "list[StoredPyramid]") -> str:
    return f"{count_noun(len(kept), 'pyramid')}, {_size(sum(one.num_bytes for one in kept))}"


def _size(num_bytes: int) -> str:
    if num_bytes >= 1e9:
        return f"{num_bytes / 1e9:.2f} GB"
    return f"{num_bytes / 1e6:.1f} MB" if num_bytes >= 1e6 else f"{num_bytes / 1e3:.0f} kB"


def _print(found: "list[StoredPyramid]", *, to_delete: bool = False) -> None:
    columns = (
        TableColumn("picture", least=20),
        TableColumn("size", right=True),
        TableColumn("made", leaves=1),
        TableColumn("pyramid", leaves=2),
    )
    rows = [[_pictures(kept), _size(kept.num_bytes), f"{kept.made_at:%Y-%m-%d}", kept.path.name] for kept in found]
    print_table(columns, rows, more="" if to_delete else "`--json` has them")
    if not to_delete:
        out.print(f"\n{_count_pyramids(found)}", markup=False)


def _pictures(kept: "StoredPyramid") -> str:
    if kept.is_partial:
        return "(not finished)"
    return ", ".join(kept.pictures) or "(none there is)"


def _describe(kept: "StoredPyramid") -> dict[str, Any]:
    return {
        "pyramid": str(kept.path),
        "bytes": kept.num_bytes,
        "made_at": kept.made_at.isoformat(),
        "pictures": list(kept.pictures),
        "partial": kept.is_partial,
    }
