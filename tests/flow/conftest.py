"""Fixtures: whole installations of real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.installation import Installation
from tests.flow.pictures import draw_dataset


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """A home folder with a data set of 8 images and 40 samples; every process in it ends with the test."""
    draw_dataset(tmp_path / "data" / "plazas", images=8, questions=5)
    installation = Installation(tmp_path)
    try:
        yield installation
    finally:
        installation.stop()
