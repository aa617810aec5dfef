"""x"""

from dataclasses import dataclass
from typing import Any


@dataclass
class FleetLoad:
    workers: int
    seconds: float
    rate: float


def measure_fleet(load: FleetLoad) -> Any: ...
