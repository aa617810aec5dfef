"""`gigavqa admin fsck`: is all that was kept still there, and as it was?"""

import asyncio
from collections import Counter
from typing import Annotated, Any, get_args

import typer
from redis.exceptions import RedisError

from gigavqa.backup.checking import check
from gigavqa.backup.checking import repair as mend
from gigavqa.backup.findings import CheckFinding, Severity
from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import CommandError
from gigavqa.cli.installation import installation_store
from gigavqa.contract.errors import JobsError
from gigavqa.runtime.errors import InstallationError
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.home import Home
from gigavqa.tiling.digest import store_digests

Repair = Annotated[
    bool,
    typer.Option(
        "--repair",
        help="Put right what can be without a loss: counts, lists, bundles and texts in no queue. Deletes nothing.",
    ),
]
Pictures = Annotated[
    bool, typer.Option("--pictures", help="Also tell which pictures were replaced since they were asked about.")
]


class CheckImpossibleError(CommandError):
    """The installation could not be looked through to the end."""

    exit_code = ExitStatus.WRONG_INPUT


class DamageFoundError(CommandError):
    """Something that was kept is lost or wrong."""


def fsck(repair: Repair = False, pictures: Pictures = False, json: JsonOption = False) -> None:
    """Find what is damaged in what the installation keeps, name it, and go on; also while jobs run.

    Damage is what is lost or wrong; what is left over does no harm; a picture that was changed may be as you want it;
    void is what is recorded as answered and is no answer: empty, filtered, or broken off by its engine.
    Exit status: 0 no damage, 1 damage, 2 the check could not be made.

    \b
    gigavqa admin fsck
    gigavqa admin fsck --pictures --json | jq -r '.findings[] | select(.severity == "damage") | .subject'
    gigavqa admin fsck --repair
    """
    home = Home.from_environment()
    store_digests(home.digests)
    try:
        with installation_store(home) as url:
            found = _check(url, home, pictures=pictures, json=json)
            mended = asyncio.run(mend(url, found)) if repair else []
    except (InstallationError, JobsError, RedisError, OSError) as error:
        raise CheckImpossibleError(f"could not check to the end: {error}") from error
    left = [finding for finding in found if finding.severity == "damage" and finding not in mended]
    _conclude(found, mended, json=json)
    if left:
        raise DamageFoundError(f"{len(left)} damaged; a backup has what is lost (`gigavqa admin restore`)")


def _check(url: str, home: Home, *, pictures: bool, json: bool) -> list[CheckFinding]:
    found = []
    for finding in check(url, home, pictures=pictures):
        found.append(finding)
        if not json:
            out.print(f"{finding.severity:<8}  {finding}", markup=False)
    return found


def _conclude(found: list[CheckFinding], mended: list[CheckFinding], *, json: bool) -> None:
    counts = Counter(finding.severity for finding in found)
    if json:
        rows = [_describe(finding, repaired=finding in mended) for finding in found]
        print_json({"findings": rows, **{severity: counts[severity] for severity in get_args(Severity)}})
        return
    for finding in mended:
        out.print(f"repaired  {finding}", markup=False)
    if not found:
        err.print("nothing is damaged")
    elif any(finding.mend and finding not in mended for finding in found):
        err.print("--repair puts counts, lists and queues right")


def _describe(finding: CheckFinding, *, repaired: bool) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "subject": finding.subject,
        "told": finding.told,
        "repairable": finding.mend is not None,
        "repaired": repaired,
    }
