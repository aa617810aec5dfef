"""No name that the world outside knows is lost: older clients, homes, dashboards and scripts go on."""

import json
from pathlib import Path

import pytest

from tests.public_names import public_names

PINNED: dict[str, list[str]] = json.loads(Path(__file__).with_name("public_names.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def names() -> dict[str, list[str]]:
    """What is public now, of every kind."""
    return public_names()


@pytest.mark.parametrize("kind", PINNED)
def test_every_pinned_name_is_there(kind: str, names: dict[str, list[str]]) -> None:
    """What is new is pinned by `python -m tests.public_names`."""
    assert not set(PINNED[kind]) - set(names[kind])
