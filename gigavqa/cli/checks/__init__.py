"""Checks of an installation, and what one of them found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at; `advice` says what to do where it is not `ok`."""

    name: str
    status: Literal["ok", "warn", "fail"]
    found: str
    advice: str = ""
