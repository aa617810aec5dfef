"""Reading entries."""

from pathlib import Path

import pytest

from catalogue.errors import EntryInvalidError, ModelUnknownError
from catalogue.load import SHIPPED, load_catalogue


def test_the_shipped_entries_are_valid() -> None:
    """The demo's model and the three production models are there."""
    assert {"demo-qwen3-vl", "qwen3.5-27b", "qwen3-vl-8b", "qwen2.5-vl-7b"} <= set(load_catalogue())


@pytest.mark.parametrize("model_id", ["qwen3.5-27b", "qwen3-vl-8b", "qwen2.5-vl-7b"])
def test_production_entries_have_the_papers_budget_and_decoding(model_id: str) -> None:
    """16384 visual tokens; temperature 0.7, top-p 0.95, 32768 output tokens."""
    entry = load_catalogue()[model_id]
    decoding = entry.decoding
    assert entry.visual_budget.max_visual_tokens == 16384
    assert (decoding.temperature, decoding.top_p, decoding.max_tokens) == (0.7, 0.95, 32768)


def test_an_unknown_id_names_what_there_is() -> None:
    """The error helps with a misspelt id."""
    with pytest.raises(ModelUnknownError, match="demo-qwen3-vl"):
        load_catalogue()["demo"]


def test_a_wrong_field_is_named_with_its_file(tmp_path: Path) -> None:
    """The error tells which file and which field."""
    text = (SHIPPED / "demo-qwen3-vl.toml").read_text().replace("max_model_len = 4096", "max_model_len = 0")
    (tmp_path / "demo-qwen3-vl.toml").write_text(text)
    with pytest.raises(EntryInvalidError, match=r"demo-qwen3-vl\.toml: max_model_len"):
        load_catalogue(tmp_path)


def test_an_operators_entry_replaces_a_shipped_one(tmp_path: Path) -> None:
    """Later folders win."""
    text = (SHIPPED / "demo-qwen3-vl.toml").read_text().replace('licence = "Apache-2.0"', 'licence = "own"')
    (tmp_path / "demo-qwen3-vl.toml").write_text(text)
    assert load_catalogue(tmp_path)["demo-qwen3-vl"].licence == "own"


def test_the_id_must_be_the_files_name(tmp_path: Path) -> None:
    """Two files cannot claim one id unnoticed."""
    (tmp_path / "other.toml").write_text((SHIPPED / "demo-qwen3-vl.toml").read_text())
    with pytest.raises(EntryInvalidError, match="differs"):
        load_catalogue(tmp_path)
