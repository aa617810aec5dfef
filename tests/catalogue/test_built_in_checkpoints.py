"""The families' small checkpoints, which are laid out as the published ones, described by their own files."""

from pathlib import Path

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import read_entry
from gigavqa.catalogue.resolve import resolve_model
from tests.checkpoints.build import ensure_checkpoint

pytest.importorskip("tokenizers", reason="checkpoints need the package tokenizers")

ENTRIES = [read_entry(path) for path in sorted((Path(__file__).parents[1] / "workers" / "families").glob("*.toml"))]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_checkpoint_declares_the_budget_of_its_entry(entry: CatalogueEntry, tmp_path: Path) -> None:
    """Family, visual budget and box convention are read from the folder alone."""
    folder = ensure_checkpoint(entry.weights, tmp_path)
    described = resolve_model(str(folder), {})
    assert described.visual_budget == entry.visual_budget
    assert described.box_convention == entry.box_convention
