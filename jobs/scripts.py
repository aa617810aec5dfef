"""The Lua scripts of `jobs/lua/`, each of which makes one change of the state atomic."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from redis.asyncio import Redis

from jobs.keys import Keys

Name = Literal[
    "create", "fail", "cancel", "drop", "delete", "reserve", "append", "start", "index", "claim", "claimable", "renew",
    "hand_back", "suspect", "record", "reopen", "trim", "texts", "sunk",
]  # fmt: skip

_FOLDER = Path(__file__).parent / "lua"
_MARK = "\x00"


class Scripts:
    """Runs scripts by name; the server keeps them by digest and is given them again after a restart."""

    def __init__(self, redis: Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys
        self._scripts: dict[Name, Any] = {}

    async def run(self, name: Name, *arguments: str | bytes | float) -> Any:
        """Run `jobs/lua/NAME.lua` with these arguments and return its reply."""
        if name not in self._scripts:
            self._scripts[name] = self._redis.register_script(_source(name, self._keys))
        return await self._scripts[name](args=arguments)


@cache
def _source(name: Name, keys: Keys) -> str:
    common = (_FOLDER / "common.lua").read_text()
    return "\n".join([_key_table(keys), common, (_FOLDER / f"{name}.lua").read_text()])


def _key_table(keys: Keys) -> str:
    of_all = ("jobs", "deleting", "recorded", "outstanding", "depth", "models", "unsunk")
    shared = {name: [getattr(keys, name)()] for name in of_all}
    of_job = ("job", "events", "bundles", "payloads", "leased", "suspects")
    of_results = ("results", "texts", "parts", "history", "rasters")
    templates = {name: getattr(keys, name)(_MARK).split(_MARK) for name in of_job + of_results}
    templates["in_status"] = keys.in_status(_MARK).split(_MARK)
    templates["response"] = keys.response(_MARK, "").split(_MARK)
    rows = (f"{name} = {{{_quoted(parts)}}}" for name, parts in (shared | templates).items())
    return f"local KEY = {{{', '.join(rows)}}}"


def _quoted(parts: Iterable[str]) -> str:
    return ", ".join(f"'{part}'" for part in parts)
