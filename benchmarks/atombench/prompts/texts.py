"""Reads the versioned prompt texts that lie beside this file."""

import tomllib
from functools import cache
from pathlib import Path


@cache
def texts_of(name: str) -> dict[str, str]:
    """Read one file of prompt texts; every value is a text, `version` among them."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
