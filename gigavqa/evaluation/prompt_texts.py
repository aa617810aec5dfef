"""Reads the versioned texts of a benchmark's prompts, which lie as TOML files beside its code."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read_prompt_tables(folder: Path, name: str) -> dict[str, Any]:
    """Read one file of prompt texts, some of them in tables by name within; `version` is among them."""
    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def read_prompt_texts(folder: Path, name: str) -> dict[str, str]:
    """Read one file whose every value is a text, `version` among them."""
    return {key: str(text) for key, text in read_prompt_tables(folder, name).items()}
