"""An entry that is written is read as the same, whatever it says."""

from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue, read_entry
from gigavqa.catalogue.write import write_entry

CATALOGUE = load_catalogue()


@pytest.mark.parametrize("model", CATALOGUE)
def test_every_entry_that_is_shipped_is_read_as_it_was_written(model: str, tmp_path: Path) -> None:
    assert read_entry(write_entry(CATALOGUE[model], tmp_path)) == CATALOGUE[model]


@pytest.mark.parametrize("model", CATALOGUE)
def test_a_copy_of_another_name_and_context_is_read_as_it_was_written(model: str, tmp_path: Path) -> None:
    """As `gigavqa models add ID --context` makes it."""
    copy = CATALOGUE[model].model_copy(update={"id": "copy", "max_model_len": 8192})

    assert read_entry(write_entry(copy, tmp_path)) == copy
