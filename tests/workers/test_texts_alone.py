"""A model that takes texts alone is an entry like any other: found from its checkpoint, served by the real engine."""

import importlib.util
from pathlib import Path

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import read_entry
from gigavqa.catalogue.resolve import resolve_model
from gigavqa.catalogue.write import write_entry
from gigavqa.contract.requests import Sampling
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.vllm.engine import VllmEngine
from tests.checkpoints.build import ensure_checkpoint


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A small checkpoint of Qwen3's architecture."""
    return ensure_checkpoint("built-in:qwen3", tmp_path / "checkpoints")


def test_an_entry_without_a_visual_budget_is_read_and_written(checkpoint: Path, tmp_path: Path) -> None:
    """It says nothing of boxes; one with a budget must."""
    entry = resolve_model(str(checkpoint), {})
    assert not entry.takes_pictures
    path = write_entry(entry, tmp_path / "catalogue")
    assert read_entry(path) == entry
    fields = {"id": "m", "title": "M", "weights": "w", "family": "qwen3", "licence": "MIT", "max_model_len": 4096}
    assert not CatalogueEntry.model_validate(fields).takes_pictures
    budget = {"kind": "qwen", "factor": 32, "min_pixels": 65536, "max_pixels": 262144}
    with pytest.raises(ValueError, match="box_convention is missing: say unit, thousand or pixels"):
        CatalogueEntry.model_validate({**fields, "visual_budget": budget})


@pytest.mark.engine
@pytest.mark.timeout(600)
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
async def test_it_is_served(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat is answered, and the same chat again finds its prefix."""
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB; a checkpoint in a folder would have 4
    entry = resolve_model(str(checkpoint), {}).model_copy(
        update={"max_model_len": 2048, "engine": {"dtype": "float32", "block_size": 32, "max_num_seqs": 4}}
    )
    engine = VllmEngine(entry, str(checkpoint))
    await engine.start()
    try:
        chat = [
            Message("system", ("Sum up in five sentences.",)),
            Message("user", ("Norrland Works makes cranes. " * 9,)),
        ]
        sampling = Sampling(temperature=0.0, max_tokens=8)
        first, second = [await engine.generate(chat, sampling, name) for name in ("one", "two")]
        assert first.text and first.text == second.text
        assert (first.usage.visual_tokens, second.usage.cached_tokens >= 32) == ((), True)
    finally:
        await engine.stop()
