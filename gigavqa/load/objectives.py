"""Objectives that an answer meets or misses, as `ttft=500ms,tpot=50ms` says them."""

import re
from collections.abc import Mapping

from gigavqa.load.errors import LoadSettingsError
from gigavqa.load.exchange import Exchange
from gigavqa.runtime.suggestions import did_you_mean

NAMES = ("ttft", "tpot", "e2el")
"""Time to the first token, time for each further token, and time to the last: named as vLLM names them."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def parse_duration(text: str) -> float | None:
    """Return the seconds of `500ms`, `2s` or `5m`; None of anything else."""
    found = _DURATION.fullmatch(text.strip())
    return float(found[1]) * _SECONDS[found[2]] if found else None


def parse_objectives(text: str) -> dict[str, float]:
    """Read `ttft=500ms,tpot=50ms`: seconds by name. Raises LoadSettingsError."""
    wanted: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in NAMES:
            raise LoadSettingsError(f"objective '{name}' is none of {', '.join(NAMES)}{did_you_mean(name, NAMES)}")
        if not (seconds := parse_duration(value)):
            raise LoadSettingsError(f"objective '{part.strip()}' has no time such as {name}=500ms or {name}=2s")
        if name in wanted:
            raise LoadSettingsError(f"objective '{name}' is said twice")
        wanted[name] = seconds
    return wanted


def meets(exchange: Exchange, objectives: Mapping[str, float]) -> bool:
    """Return whether an answer took no longer than any objective; one of a single token has no time per token."""
    taken = {"ttft": exchange.first_token, "tpot": exchange.per_token, "e2el": exchange.whole}
    return all((taken[name] or 0.0) <= most for name, most in objectives.items())
