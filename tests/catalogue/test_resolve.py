"""From a name to an entry."""

import json
from pathlib import Path
from typing import Any

import pytest

from catalogue.errors import CheckpointInvalidError, CheckpointUnavailableError, FamilyUnsupportedError
from catalogue.load import load_catalogue
from catalogue.resolve import resolve_model

CATALOGUE = load_catalogue()
SIZE = {"size": {"shortest_edge": 65536, "longest_edge": 16777216}, "patch_size": 16, "merge_size": 2}
OLD_SIZE = {"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2}


def checkpoint(folder: Path, config: dict[str, Any], preprocessor: dict[str, Any] | None = None) -> str:
    """Write the two files of a checkpoint that are read, and return its folder's name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if preprocessor is not None:
        (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return str(folder)


def test_an_id_of_the_catalogue_is_that_entry() -> None:
    """Nothing is read or fetched."""
    assert resolve_model("qwen3-vl-8b", CATALOGUE) is CATALOGUE["qwen3-vl-8b"]


@pytest.mark.parametrize(
    ("model_type", "preprocessor", "family", "factor", "max_pixels"),
    [
        ("qwen2_5_vl", OLD_SIZE, "qwen2.5-vl", 28, 12845056),
        ("qwen3_vl", SIZE, "qwen3-vl", 32, 16777216),
        ("qwen3_vl_moe", SIZE, "qwen3-vl", 32, 16777216),
        ("qwen3_5", SIZE, "qwen3.5", 32, 16777216),
        ("qwen3_5_moe", {}, "qwen3.5", 32, 16777216),
    ],
)
def test_a_folder_of_a_supported_family_can_be_served(
    tmp_path: Path, *, model_type: str, preprocessor: dict[str, Any], family: str, factor: int, max_pixels: int
) -> None:
    """Family and budget come from the checkpoint's own files."""
    config = {"model_type": model_type, "text_config": {"max_position_embeddings": 262144}}
    entry = resolve_model(checkpoint(tmp_path / "My_Model-7B", config, preprocessor), CATALOGUE)
    assert (entry.id, entry.family, entry.max_model_len) == ("my_model-7b", family, 131072)
    assert (entry.visual_budget.factor, entry.visual_budget.max_pixels) == (factor, max_pixels)


def test_an_unknown_family_is_refused_by_name(tmp_path: Path) -> None:
    """The error names the architecture and what is supported."""
    config = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}
    with pytest.raises(FamilyUnsupportedError, match=r"LlavaForConditionalGeneration.*qwen3_vl"):
        resolve_model(checkpoint(tmp_path / "m", config, SIZE), CATALOGUE)


def test_a_folder_without_preprocessing_is_refused(tmp_path: Path) -> None:
    """The error names the file that is missing."""
    with pytest.raises(CheckpointInvalidError, match=r"preprocessor_config\.json"):
        resolve_model(checkpoint(tmp_path / "m", {"model_type": "qwen3_vl"}), CATALOGUE)


def test_a_limit_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    """A negative budget does not reach the worker."""
    config = {"model_type": "qwen3_vl", "max_position_embeddings": 4096}
    with pytest.raises(CheckpointInvalidError, match="max_pixels"):
        resolve_model(checkpoint(tmp_path / "m", config, SIZE | {"max_pixels": -5}), CATALOGUE)


def test_a_hub_id_that_cannot_be_fetched_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a network the error names the id and the file."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(CheckpointUnavailableError, match=r"Qwen/Qwen9-VL.*config\.json"):
        resolve_model("Qwen/Qwen9-VL", CATALOGUE)


def test_any_other_name_lists_the_catalogue() -> None:
    """The error says what could have been meant."""
    with pytest.raises(CheckpointUnavailableError, match="demo-qwen3-vl"):
        resolve_model("gpt", CATALOGUE)
