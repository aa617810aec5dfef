"""Reads the versioned texts of a benchmark's prompts, which lie as TOML files beside its code."""

import tomllib
from functools import cache
from pathlib import Path


@cache
def prompt_texts(folder: Path, name: str) -> dict[str, str]:
    """Read one file of prompt texts; every value is a text, `version` among them."""
    texts = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    return {key: str(text) for key, text in texts.items()}
