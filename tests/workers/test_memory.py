"""What a model takes of GPU memory: against vLLM's own figures, and against sums by hand."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.gpus import GPU_CARDS
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.shape_configs import shape_of
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.engines.vllm.kv_layout import kv_layout
from gigavqa.workers.engines.vllm.memory import GIB, fits, least_gpus, shortage
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY

CATALOGUE = load_catalogue()
PAGE = Path(__file__).parents[2] / "docs" / "plan.md"


def changed(entry: CatalogueEntry, context: int | None = None, **engine: object) -> CatalogueEntry:
    """The entry with another context and other arguments."""
    return entry.model_copy(
        update={"engine": {**entry.engine, **engine}, "max_model_len": context or entry.max_model_len}
    )


@pytest.mark.parametrize("model", [entry.id for entry in CATALOGUE.values() if entry.gpus])
def test_an_entry_names_the_least_gpus_that_hold_it(model: str) -> None:
    """Of those that `gigavqa plan` knows, with its whole context."""
    assert CATALOGUE[model].gpus == least_gpus(CATALOGUE[model])


def test_a_driver_tells_more_memory_than_cuda_shows() -> None:
    """81,559 MiB are an H100, 46,068 an L40S and 24,564 a GeForce: to a tenth of a GiB."""
    shown = {81559: "h100", 46068: "l40s", 40960: "a100-40", 24564: "rtx4090"}
    entry = CATALOGUE["qwen3-vl-8b"]
    for mib, card in shown.items():
        told, counted = shortage(entry, [mib << 20]), fits(entry, GPU_CARDS[card].memory_bytes).lack()
        assert (told is None) == (counted is None), card
        contexts = [re.findall(r"--context (\d+)", text) for text in (told or "", counted or "")]
        assert len(contexts[0]) == len(contexts[1])
        assert all(abs(int(a) - int(b)) <= 1024 for a, b in zip(*contexts, strict=True)), card


def test_a_model_of_unknown_shape_is_judged_by_the_gpus_that_its_entry_names() -> None:
    """And one whose layers are spread over machines; where nothing is known, nothing is refused."""
    entry = CATALOGUE["qwen3-vl-8b"].model_copy(update={"weights": "somebody/else"})
    assert "'qwen3-vl-8b' wants 80 GiB of GPU memory" in str(shortage(entry, [46068 << 20]))
    spread = changed(CATALOGUE["qwen3-vl-8b"], pipeline_parallel_size=2)
    assert shortage(spread, [46068 << 20] * 2) is None
    assert shortage(entry.model_copy(update={"gpus": None}), [1]) is None


def test_the_kv_cache_of_one_h100_is_what_vllm_logged_of_it() -> None:
    """Qwen2.5-VL-7B under vLLM 0.8.2: 905,648 tokens, and weights of 15.63 GiB (QwenLM/Qwen3-VL issue 1057)."""
    entry = changed(CATALOGUE["qwen2.5-vl-7b"], gpu_memory_utilization=0.9, max_num_batched_tokens=16384)
    fit = fits(entry, GPU_CARDS["h100"].memory_bytes)
    assert fit.weights / GIB == pytest.approx(15.63, rel=0.02)
    assert fit.kv_tokens == pytest.approx(905_648, rel=0.1)


def test_the_kv_cache_of_experts_on_one_a100_is_what_vllm_logged_of_it() -> None:
    """Gemma-4-26B-A4B under vLLM 0.19: weights of 48.5 GiB, and 21.5 are left (myoceane.fr, ai-vllm-a100-gemma-4)."""
    served = {"gpu_memory_utilization": 0.9, "max_num_batched_tokens": 8192}
    fit = fits(changed(CATALOGUE["gemma-4-26b-published"], **served), GPU_CARDS["a100-80"].memory_bytes)
    assert fit.weights / GIB == pytest.approx(48.5, rel=0.02)
    assert fit.kv_bytes / GIB == pytest.approx(21.5, rel=0.2)


def test_the_kv_cache_of_a_hybrid_is_what_vllm_logged_of_it() -> None:
    """Qwen3.8-27B, of the same shape, in FP8 over two GPUs: 4.99 GiB of each are 302,921 tokens, and blocks have 1568
    (mitchross/talos-argocd-proxmox PR 1995).
    """
    layout = kv_layout(shape_of(CATALOGUE["qwen3.5-27b"]).language, 2, 1)
    assert layout.block == 1568
    assert 4.99 * GIB / layout.request_bytes(131072, 8192) * 131072 == pytest.approx(302_921, rel=0.01)


def test_a_window_bounds_a_request_and_not_what_is_kept() -> None:
    """Gemma: 25 of 30 layers see 1024 tokens; what is kept of a picture is kept in all layers."""
    layout = kv_layout(shape_of(CATALOGUE["gemma-4-26b"]).language, 1, 2)
    assert layout.full_token == 5 * 2 * 2 * 512 * 2
    assert layout.window_token == 25 * 2 * 8 * 256 * 2
    grown = layout.request_bytes(131072, 16384) - layout.request_bytes(65536, 16384)
    assert grown == 65536 * layout.full_token
    assert layout.kept_bytes(1120) == 1120 * (layout.full_token + layout.window_token)


def test_heads_are_divided_and_latent_vectors_are_not() -> None:
    """GLM's 8 heads over 16 GPUs take one each; Kimi's vector of 576 numbers lies on every GPU."""
    glm, kimi = (shape_of(CATALOGUE[model]).language for model in ("glm-4.5v", "kimi-vl-a3b-thinking"))
    assert kv_layout(glm, 16, 2).full_token == kv_layout(glm, 8, 2).full_token == 46 * 2 * 128 * 2
    assert kv_layout(kimi, 4, 2) == kv_layout(kimi, 1, 2)
    assert kv_layout(kimi, 1, 2).full_token == 27 * 576 * 2


@pytest.mark.parametrize(
    ("model", "number"), [("phi-4-reasoning-vision-15b", 4), ("qwen2.5-vl-7b", 8), ("qwen3-vl-8b", 3)]
)
def test_gpus_among_which_vllm_cannot_divide_the_heads_do_not_hold_a_model(model: str, number: int) -> None:
    """10 KV heads over 4, 28 query heads over 8, 32 over 3: each of them has memory enough."""
    spread = changed(CATALOGUE[model], tensor_parallel_size=number)
    fit = fits(spread, GPU_CARDS["h200"].memory_bytes)
    assert (fit.holds, fit.kv_bytes > fit.longest_request) == (False, True)
    told = f"'{model}' cannot be spread over {number} GPUs"
    assert all(told in str(lack) for lack in (fit.lack(), shortage(spread, [143771 << 20] * number)))
    assert least_gpus(spread) is None


def test_a_context_that_holds_no_picture_and_answer_is_not_advised() -> None:
    """Qwen2-VL-7B on a GeForce has room for 2,048 tokens, and its picture takes 16,384."""
    fit = fits(CATALOGUE["qwen2-vl-7b"], GPU_CARDS["rtx4090"].memory_bytes)
    assert 0 < fit.longest_context < fit.visual_tokens
    assert "spread it over more GPUs" in str(fit.lack())
    assert "--context" not in str(fit.lack())


def test_what_does_not_fit_is_told_with_a_context_that_does() -> None:
    """The longest one, by which the same model fits."""
    entry, gpu = CATALOGUE["qwen3-vl-8b"], GPU_CARDS["a100-40"].memory_bytes
    fit = fits(entry, gpu)
    assert f"`gigavqa models add qwen3-vl-8b --context {fit.longest_context}`" in str(fit.lack())
    assert fits(changed(entry, fit.longest_context), gpu).lack() is None


def test_quantized_weights_are_counted_by_their_bits(tmp_path: Path) -> None:
    """Layers in 8 bits, tables and encoder as they are."""
    config = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    plain, quantized = tmp_path / "plain", tmp_path / "fp8"
    for folder, more in ((plain, {}), (quantized, {"quantization_config": {"quant_method": "fp8"}})):
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 1000} | more))
    sizes = [
        shape_of(CATALOGUE["qwen3-32b"].model_copy(update={"weights": str(folder)})).weight_bytes(2)
        for folder in (plain, quantized)
    ]
    layers = 2 * (4 * 64 * 64 + 3 * 64 * 128)
    assert sizes == [2 * (layers + 2 * 64000), layers + 2 * 2 * 64000]


BY_HAND = {
    # billions of weights as published, bytes of a token in the KV cache of one GPU
    "qwen3-vl-8b": (8.767, 36 * 2 * 8 * 128 * 2),
    "qwen2.5-vl-7b": (8.292, 28 * 2 * 4 * 128 * 2),
    "qwen3.5-27b": (27.36, 16 * 2 * 4 * 256 * 2),
    "minicpm-v-4.5": (8.696, 36 * 2 * 8 * 128 * 2),
    "phi-4-reasoning-vision-15b": (15.1, 40 * 2 * 10 * 128 * 2),
    "kimi-vl-a3b-thinking": (16.41, 27 * (512 + 64) * 2),
}


def test_the_table_of_the_page_is_right() -> None:
    """Six models on three cards: weights and tokens from published numbers, the rest from the row's own cells."""
    rows = [re.split(r" *\| *", line.strip("| \n")) for line in PAGE.read_text().splitlines() if "| 1 x " in line]
    assert len(rows) == 18
    for model, card, usable, weights, cache, step, context, left, token, tokens in rows:
        billions, token_bytes = BY_HAND[model]
        number = {cell: float(cell.replace(",", "")) for cell in (usable, weights, cache, step, context, left)}
        memory = {"1 x h100": 79.1, "1 x l40s": 44.4, "1 x a100-40": 39.4}[card]
        assert number[usable] == pytest.approx(0.92 * memory, abs=0.06)
        assert number[weights] == pytest.approx(2 * billions * 1e9 / GIB, rel=0.01)
        taken = sum(number[cell] for cell in (weights, cache, step, context))
        assert number[left] == pytest.approx(number[usable] - taken, abs=0.26)
        assert int(token.replace(",", "")) == token_bytes
        fit = fits(CATALOGUE[model], GPU_CARDS[card.removeprefix("1 x ")].memory_bytes)
        assert f"{fit.kv_tokens:,}" == tokens
        states = fit.layout.states  # Qwen3.5's, for which two of each are kept a request
        per_request = CATALOGUE[model].max_model_len * token_bytes + 2 * states
        by_hand = max(0, number[left]) * GIB / per_request * CATALOGUE[model].max_model_len
        assert fit.kv_tokens == pytest.approx(by_hand, rel=0.03, abs=2000)


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
async def test_a_small_model_takes_what_vllm_says(tmp_path: Path) -> None:
    """Its weights are those of its file, and 1 GiB of KV cache has as many tokens as vLLM tells."""
    folder = Path(ensure_checkpoint(ENTRY.weights, tmp_path))
    shape = shape_of(ENTRY.model_copy(update={"weights": str(folder)}))
    engine = VllmEngine(ENTRY, str(folder))
    await engine.start()
    try:
        cache = engine._llm.vllm_config.cache_config
        tokens = int(cache.num_gpu_blocks) * int(cache.block_size)
    finally:
        await engine.stop()
    assert shape.weight_bytes(4) == pytest.approx((folder / "model.safetensors").stat().st_size, rel=0.2)
    assert GIB / kv_layout(shape.language, 1, 4).full_token == pytest.approx(tokens, rel=0.01)
