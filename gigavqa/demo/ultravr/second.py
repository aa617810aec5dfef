"""A second, smaller picture of each kind, with one question a category: few-shot examples must lie on other images."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from gigavqa.demo.records import Record

SECOND_SCALE = 0.2
"""Sides of a second picture beside the first one's."""
_SEED_STEP = 1000


def second_seed(seed: int) -> int:
    """Seed of the second pictures and of the records about them."""
    return seed + _SEED_STEP


def second_image(image: str) -> str:
    """Name of the second picture beside the first."""
    path = PurePosixPath(image)
    return str(path.with_name(second_name(path.name)))


def second_name(name: str) -> str:
    """Name of what belongs to a second picture."""
    return f"second-{name}"


def second_records(records: Sequence[Record]) -> list[Record]:
    """Return the first record of each category, drawn for the second picture, under names of their own."""
    firsts = {record["category"]: record for record in reversed(records)}
    return [
        {**record, "id": second_name(record["id"]), "image": second_image(record["image"])}
        for record in sorted(firsts.values(), key=lambda record: str(record["id"]))
    ]
