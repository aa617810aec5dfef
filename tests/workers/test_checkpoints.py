"""The checkpoints that are built from code."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from gigavqa.catalogue.entry import BUILT_IN_PREFIX
from gigavqa.workers.engines.vllm.weights import checkpoint_revision, weights_digest
from gigavqa.workers.errors import CheckpointUnknownError
from tests.checkpoints.build import DESIGNS, ensure_checkpoint
from tests.workers.examples import ENTRY


@pytest.mark.parametrize("name", sorted(DESIGNS))
def test_the_same_seed_gives_the_same_weights(tmp_path: Path, name: str) -> None:
    """Two folders hold bit-identical weights; another seed gives others."""
    one, two = (ensure_checkpoint(BUILT_IN_PREFIX + name, tmp_path / folder) for folder in "ab")
    other = ensure_checkpoint(BUILT_IN_PREFIX + name, tmp_path / "a", seed=1)
    assert weights_digest(one) == weights_digest(two)
    assert weights_digest(one) != weights_digest(other)


@pytest.mark.parametrize("name", sorted(DESIGNS))
def test_a_checkpoint_is_small(tmp_path: Path, name: str) -> None:
    """All files together have at most 5 MB."""
    checkpoint = ensure_checkpoint(BUILT_IN_PREFIX + name, tmp_path)
    assert sum(path.stat().st_size for path in checkpoint.iterdir()) <= 5_000_000


def test_its_preprocessing_has_the_limits_of_its_catalogue_entry(tmp_path: Path) -> None:
    """What the processor is configured with is what the gateway plans with."""
    checkpoint = ensure_checkpoint(ENTRY.weights, tmp_path)
    config = json.loads((checkpoint / "preprocessor_config.json").read_text())
    assert config["size"] == ENTRY.visual_budget.processor_kwargs()["size"]


def test_builders_at_the_same_time_end_up_with_one_folder(tmp_path: Path) -> None:
    """Eight builds leave one checkpoint and no draft."""
    with ThreadPoolExecutor(8) as pool:
        built = set(pool.map(lambda _: ensure_checkpoint("built-in:qwen3-vl", tmp_path), range(8)))
    assert list(tmp_path.iterdir()) == list(built)


def test_its_tokenizer_keeps_any_text(tmp_path: Path) -> None:
    """Bytes that no merge covers survive encoding and decoding."""
    tokenizer = Tokenizer.from_file(str(ensure_checkpoint("built-in:qwen3-vl", tmp_path) / "tokenizer.json"))
    text = "Größe: 10×10 細胞 \N{MICROSCOPE}?"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_an_unknown_recipe_is_refused(tmp_path: Path) -> None:
    """The error names what there is."""
    with pytest.raises(CheckpointUnknownError, match="built-in:qwen3-vl"):
        ensure_checkpoint("built-in:gpt", tmp_path)


def test_a_revision_names_the_weights(tmp_path: Path) -> None:
    """Responses carry a digest of the weights that answered."""
    checkpoint = ensure_checkpoint("built-in:qwen3-vl", tmp_path)
    assert checkpoint_revision(str(checkpoint)) == f"sha256:{weights_digest(checkpoint)[:16]}"
