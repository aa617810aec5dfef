"""The thresholds of all recipes and the reasons for which they reject: data, of `rules.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Thresholds:
    """Where recipes draw lines; `rules.toml` says what each is."""

    min_side: int
    edge: float
    same_object: float
    line_margin: float
    lead_margin: float
    corner_margin: float
    apart: float
    size_ratio: float
    count_gap: int
    count_gap_share: float
    share_margin: float
    share_gap: float
    north_tilt: float
    most_counted: int
    most_compared: int
    most_categories: int
    most_absent: int
    most_paired: int
    most_attributes: int
    most_regions: int
    region_side: int
    options: int


@cache
def read_table(name: str) -> dict[str, Any]:
    """Read one of the files of texts and rules that lie beside the recipes."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


RULES_VERSION: str = read_table("rules")["version"]
THRESHOLDS = Thresholds(**read_table("rules")["thresholds"])
_REASONS: Mapping[str, str] = read_table("rules")["reasons"]
UNCOUNTABLE = ("unlabelled", "difficult", "cut", "tiny", "twice", "too_few", "too_many")
"""Why the objects of a category cannot be counted in an image."""


def reasons(*words: str) -> Mapping[str, str]:
    """Return what the reasons say to people, by their words."""
    return {word: _REASONS[word] for word in words}
