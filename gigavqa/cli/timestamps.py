"""Moments as commands are told them: so far from now, or a date."""

import re
from datetime import UTC, datetime, timedelta

from gigavqa.cli.errors import ArgumentError

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_timestamp(text: str, option: str, *, ago: bool = False) -> datetime:
    """Read `30m`, `12h`, `90d` or `8w` from now on, or that long `ago`, or a date with or without a time.

    One without a zone is this machine's time. Raises ArgumentError.
    """
    if relative := re.fullmatch(r"([1-9]\d{0,4})([mhdw])", text):
        span = int(relative.group(1)) * _UNITS[relative.group(2)]
        return datetime.now(UTC) + (-span if ago else span)
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(f"{option} '{text}' is neither a time such as 90d nor a date such as 2027-01-31") from error
