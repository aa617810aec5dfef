"""`gigavqa admin keys`: who may use the gateway. Speaks to the state store, so that the first key needs no gateway."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import typer
from pydantic import ValidationError

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.installation import installation_store
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.cli.timestamps import parse_timestamp
from gigavqa.runtime.home import Home
from gigavqa.runtime.validation import describe_faults
from gigavqa.store.api_keys import ApiKey, ApiKeys, Limits, Role, key_id_of
from gigavqa.store.connection import connect

app = typer.Typer(
    help="""Make API keys, list them, and revoke them.

    \b
    gigavqa admin keys create --name laptop --owner ada --role operate
    gigavqa admin keys list
    """,
    no_args_is_help=True,
)

_DEFAULTS = Limits()
_Found = TypeVar("_Found")
Limit = Annotated[int, typer.Option(min=0, metavar="N", rich_help_panel="Limits (0: none but the gateway's own)")]


@app.command()
def create(
    name: Annotated[str, typer.Option(help="What the key is for.", show_default=False)],
    owner: Annotated[
        str,
        typer.Option(help="Whose jobs are made and seen with it; an owner may have several keys.", show_default=False),
    ],
    role: Annotated[
        Role, typer.Option(help="`read` what is the owner's, `submit` and change it, or `operate`: all, of all owners.")
    ] = "submit",
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="In a time (30m, 12h, 90d, 8w), or at one (2027-01-31).")
    ] = None,
    queued_requests: Limit = _DEFAULTS.queued_requests or 0,
    interactive_requests: Limit = _DEFAULTS.interactive_requests or 0,
    waiting_jobs: Limit = _DEFAULTS.waiting_jobs or 0,
    requests_a_minute: Limit = _DEFAULTS.requests_a_minute or 0,
    open_streams: Limit = _DEFAULTS.open_streams or 0,
    upload_bytes: Limit = _DEFAULTS.upload_bytes or 0,
    json: JsonOption = False,
) -> None:
    """Make a key, and print it: this once, because only its digest is kept.

    Requests in the queue, jobs that wait to be queued and bytes of uploads are counted for an owner over all of his
    keys; requests a minute and open streams for each key.

    \b
    gigavqa admin keys create --name laptop --owner ada --role operate
    gigavqa admin keys create --name nightly --owner lab-3 --expires 90d --queued-requests 20000 --json
    """
    limits = Limits(
        queued_requests=queued_requests or None,
        interactive_requests=interactive_requests or None,
        waiting_jobs=waiting_jobs or None,
        requests_a_minute=requests_a_minute or None,
        open_streams=open_streams or None,
        upload_bytes=upload_bytes or None,
    )
    until = _end(expires) if expires else None
    try:
        key, made = _with_keys(lambda keys: keys.create(name, owner, role, limits=limits, expires_at=until))
    except ValidationError as error:
        raise ArgumentError(f"--{describe_faults(error)}") from error
    if json:
        print_json({**made.model_dump(mode="json"), "key": key})
        return
    out.print(key, markup=False)
    until_told = f", until {until:%Y-%m-%d %H:%M} UTC" if until else ""
    err.print(f"key {made.id} of {made.owner}, role {made.role}{until_told}; it is shown this once", markup=False)
    err.print("GIGAVQA_API_KEY (or OPENAI_API_KEY) hands it to clients", markup=False)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List all keys that were ever made, without what makes them keys.

    \b
    gigavqa admin keys list
    gigavqa admin keys list --json | jq -r '.[] | select(.state == "valid") | .id'
    """
    found = _with_keys(lambda keys: keys.list())
    if json:
        print_json([{**key.model_dump(mode="json"), "state": key.state} for key in found])
    elif found:
        columns = (
            TableColumn("key"),
            TableColumn("owner", least=8),
            TableColumn("role"),
            TableColumn("state"),
            TableColumn("name", leaves=1, least=8),
            TableColumn("made", leaves=3),
            TableColumn("last used", leaves=2),
            TableColumn("until", leaves=4),
        )
        print_table(columns, [_row(key) for key in found], more="`--json` has them")
    else:
        err.print("there is no key; `gigavqa admin keys create --name NAME --owner OWNER` makes one", markup=False)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key's id, or the whole key.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Revoke a key: from the next request on it opens nothing, for good. Jobs that were submitted with it go on.

    \b
    gigavqa admin keys revoke 4f9k2c7a
    """
    revoked = _with_keys(lambda keys: keys.revoke(key_id_of(key)))
    if json:
        print_json(revoked.model_dump(mode="json"))
    else:
        out.print(f"key {revoked.id} of {revoked.owner} revoked", markup=False)


def _with_keys(act: Callable[[ApiKeys], Awaitable[_Found]]) -> _Found:
    """Do something with the installation's keys, on the operator's server or the embedded one."""
    home = Home.from_environment()

    async def connected(url: str) -> _Found:
        redis = connect(url)
        try:
            return await act(ApiKeys(redis))
        finally:
            await redis.aclose()

    with installation_store(home) as url:
        return asyncio.run(connected(url))


def _end(text: str) -> datetime:
    moment = parse_timestamp(text, "--expires")
    if moment <= datetime.now(UTC):
        raise ArgumentError(f"--expires '{text}' is over already")
    return moment


def _row(key: ApiKey) -> list[str]:
    return [
        key.id,
        key.owner,
        key.role,
        key.state,
        key.name,
        f"{key.created_at:%Y-%m-%d}",
        f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never",
        f"{key.expires_at:%Y-%m-%d %H:%M}" if key.expires_at else "",
    ]
