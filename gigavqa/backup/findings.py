"""Findings of a check, each with its remedy."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from redis.asyncio import Redis

Severity = Literal["damage", "changed", "void", "leftover"]
"""Something is lost or wrong; a picture is not what was asked about; what is recorded as answered is no answer; or
something takes room and does no harm."""

RepairAction = Callable[[Redis], Awaitable[object]]
"""Puts something right on the installation's state store while others use it; never deletes a response."""

RemovalAction = Callable[[Redis], Awaitable[object]]
"""Removes what is left over, for good."""


@dataclass(frozen=True)
class CheckFinding:
    """One thing that is not as it should be. `kind` is for scripts, `subject` names what it is about."""

    kind: str
    severity: Severity
    subject: str
    told: str
    mend: RepairAction | None = field(default=None, repr=False, compare=False)
    remove: RemovalAction | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.subject}: {self.told}"


def damage(kind: str, subject: str, told: str, mend: RepairAction | None = None) -> CheckFinding:
    """Something is lost, or wrong."""
    return CheckFinding(kind, "damage", subject, told, mend)


def leftover(kind: str, subject: str, told: str, remove: RemovalAction | None = None) -> CheckFinding:
    """Something is left that nobody needs."""
    return CheckFinding(kind, "leftover", subject, told, remove=remove)


def make_removal(act: Callable[[], object]) -> RemovalAction:
    """Remove what the state store knows nothing of: `act` blocks."""

    async def remove(_: Redis) -> None:
        await asyncio.to_thread(act)

    return remove
