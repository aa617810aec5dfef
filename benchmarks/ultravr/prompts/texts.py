"""Reads the versioned prompt texts that lie beside this file, one TOML file a protocol."""

import tomllib
from functools import cache
from pathlib import Path


@cache
def read_texts(name: str) -> dict[str, str]:
    """Read one file of prompt texts; every value is a text, `version` among them."""
    texts = tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
    return {key: str(text) for key, text in texts.items()}
