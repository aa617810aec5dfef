"""Reads the versioned prompt texts and the declarations of tools that lie beside this file."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def texts_of(name: str) -> dict[str, Any]:
    """Read one file of prompt texts, `version` among them; texts in tables are by name within."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def own_declarations() -> tuple[dict[str, Any], ...]:
    """The declarations of the three tools, in the order in which an agent is told them."""
    return tuple(json.loads((_FOLDER / "tools.json").read_text(encoding="utf-8")))
