"""A model whose numbers are none writes tokens all the same; they are no answer."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from gigavqa.contract.requests import Sampling
from gigavqa.workers.engines.engine import GenerationFailedError, Message
from gigavqa.workers.engines.vllm.engine import VllmEngine
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.asyncio
async def test_tokens_of_what_is_no_number_are_no_answer(tmp_path: Path) -> None:
    """One NaN among the weights of the head, as a broken checkpoint or an overflow has it."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(ensure_checkpoint(ENTRY.weights, tmp_path / "whole"), folder := tmp_path / "broken")
    (file,) = folder.glob("*.safetensors")
    weights = load_file(file)
    head = next(name for name in ("lm_head.weight", "model.language_model.embed_tokens.weight") if name in weights)
    weights[head][7, 7] = float("nan")
    save_file(weights, file, {"format": "pt"})

    engine = VllmEngine(ENTRY, str(folder))
    await engine.start()
    try:
        with pytest.raises(GenerationFailedError, match=r"no numbers \(NaN\)"):
            await engine.generate([Message("user", ("How many?",))], Sampling(temperature=0.0, max_tokens=4), "asked")
    finally:
        await engine.stop()
