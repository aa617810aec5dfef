"""Departures of a benchmark from its paper, in asking or in counting, one item each: printed beside every report."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class Departure(BaseModel):
    """One item in which a benchmark differs from its paper, or fills what the paper leaves open."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str
    printed: str = Field(description="what the paper, or the authors' program, has")
    asked: str = Field(description="what is done here")

    def __str__(self) -> str:
        return f"{self.item}: printed {self.printed}; here {self.asked}"


@cache
def read_departures(folder: Path) -> tuple[Departure, ...]:
    """Read `departures.toml` in a benchmark's folder."""
    told = tomllib.loads((folder / "departures.toml").read_text(encoding="utf-8"))
    return tuple(Departure.model_validate(one) for one in told["departures"])
