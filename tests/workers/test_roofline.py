"""Seconds of an evaluation by arithmetic: what takes longer of computing and reading, phase by phase and mixed."""

from dataclasses import replace

import numpy as np
import pytest

from gigavqa.catalogue.gpus import GPU_CARDS
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.quantization import Quantization
from gigavqa.catalogue.shape_configs import SHAPES, shape_of
from gigavqa.catalogue.shapes import ModelShape
from gigavqa.workers.engines.vllm.roofline import EngineRoom, Work, speed_range

CATALOGUE = load_catalogue()
H100 = GPU_CARDS["h100"]
SHAPES_OF = {
    entry.id: shape_of(entry)
    for entry in CATALOGUE.values()
    if (SHAPES / f"{entry.weights.replace('/', '--')}.toml").is_file()
}
PLAIN = SHAPES_OF["qwen3-vl-8b"]
LAYERS, HEAD = 6_945_767_424, 151936 * 4096  # weights of its layers, and of its head


def room(**changes: float) -> EngineRoom:
    """One H100 that answers one chat at a time."""
    return replace(EngineRoom(H100, 1, chats=1, batched=32768), **changes)


@pytest.mark.parametrize("model", SHAPES_OF)
def test_a_range_is_a_range(model: str) -> None:
    """Whatever is asked of whichever card: nothing is faster than its roofline, and the best is not above the worst."""
    draw = np.random.default_rng(len(model))
    for card in GPU_CARDS.values():
        amounts = [int(10**power) for power in draw.uniform(0, 9, 6)]
        encoder = tuple(draw.uniform(0, 1e15, 2))
        work = Work(amounts[0], (encoder[0], encoder[1]), *amounts[1:5])
        engine = EngineRoom(
            card, int(2 ** draw.integers(0, 4)), int(draw.integers(1, 64)), int(draw.integers(64, 40000))
        )
        found = speed_range(SHAPES_OF[model], work, engine)
        assert 0 < found.least <= found.best <= found.worst, (card.title, work, engine)


def test_a_prompt_takes_its_flops_and_not_the_weights_on_top() -> None:
    """32,768 tokens through 6.9 billion weights, and half as many pairs of tokens in 36 layers of 32 heads."""
    tokens = 32768
    pairs = tokens * tokens // 2
    flops = 2 * LAYERS * tokens + 4 * 36 * 32 * 128 * pairs
    found = speed_range(PLAIN, Work(prefilled=tokens, prefill_context=pairs), room())
    assert found.least == pytest.approx(flops / H100.flops, rel=1e-6)
    assert found.worst == pytest.approx(flops / H100.flops / 0.55 / 0.6, rel=1e-6)


def test_a_short_prompt_takes_as_long_as_the_weights_are_read() -> None:
    """In steps of one token, which no engine makes of choice."""
    found = speed_range(PLAIN, Work(prefilled=10, prefill_context=55), room(batched=1))
    assert found.least == pytest.approx(10 * 2 * (LAYERS + HEAD) / H100.bandwidth, rel=0.001)


def test_an_answer_takes_the_bytes_of_weights_and_of_its_context() -> None:
    """Of 147,456 bytes a token; its FLOPs run beside."""
    work = Work(generated=512, decode_context=512 * 1000)
    read = 512 * (2 * (LAYERS + HEAD) + 1000 * 147_456)
    assert speed_range(PLAIN, work, room()).least == pytest.approx(read / H100.bandwidth, rel=1e-6)


def test_many_chats_at_once_are_bound_by_flops_at_last() -> None:
    """2,000 of short contexts: 2 FLOPs of a weight each, where one reads two bytes for all of them."""
    work = Work(generated=2000 * 512, decode_context=0)
    flops = 2 * (LAYERS + HEAD) * work.generated
    assert speed_range(PLAIN, work, room(chats=2000)).least == pytest.approx(flops / H100.flops, rel=1e-6)


def test_prompts_and_answers_in_one_step_read_the_weights_once() -> None:
    """What answers read of them is there already; apart it takes as long as both."""
    prompts = Work(prefilled=32768 * 100, prefill_context=32768 * 100)
    answers = Work(generated=100)
    apart = [speed_range(PLAIN, each, room()) for each in (prompts, answers)]
    mixed = speed_range(PLAIN, prompts + answers, room())
    assert mixed.best == pytest.approx(apart[0].best, rel=0.001)
    assert mixed.worst == pytest.approx(apart[0].worst + apart[1].worst, rel=1e-6)
    assert mixed.best < apart[0].best + apart[1].best


def test_small_rasters_take_as_long_as_the_encoders_weights_are_read() -> None:
    """One at a time at worst, and all of a step at once at best."""
    work = Work(rasters=64, encoder=(1e9, 0), prefilled=64 * 64)
    assert PLAIN.vision
    read = 64 * 2 * PLAIN.vision.parameters / H100.bandwidth / 0.67
    found, prompts = (
        speed_range(PLAIN, work, room()),
        speed_range(PLAIN, replace(work, rasters=0, encoder=(0, 0)), room()),
    )
    assert found.worst - prompts.worst == pytest.approx(read / 0.6, rel=1e-6)
    assert found.best - prompts.best == pytest.approx(read / 64 * 64 * 64 / 32768, rel=1e-3)


def test_layers_with_a_window_read_no_more_than_their_window() -> None:
    """Of Gemma's 30 layers five see a context of 100,000 tokens, and 25 the last 1,024 of them."""
    gemma = SHAPES_OF["gemma-4-26b"]
    long, short = (
        speed_range(gemma, Work(generated=1, decode_context=context), room()).least for context in (100_000, 1024)
    )
    assert (long - short) * H100.bandwidth == pytest.approx((100_000 - 1024) * 5 * 2 * 2 * 512 * 2, rel=1e-6)


def test_a_card_that_computes_in_the_quantized_type_is_twice_as_fast() -> None:
    """In matrices, at best; one that has no such units, and the worst case, are as before."""
    quantized: ModelShape = replace(PLAIN, quantization=Quantization("FP8", 8, 75, 89))
    work = Work(prefilled=32768)
    plain, fast = (speed_range(shape, work, room()) for shape in (PLAIN, quantized))
    old = speed_range(quantized, work, room(card=GPU_CARDS["a100-80"]))
    assert (fast.least, fast.best) == (pytest.approx(plain.least / 2), pytest.approx(plain.best / 2, rel=0.01))
    assert fast.worst == pytest.approx(plain.worst)
    assert old.least == pytest.approx(2 * LAYERS * 32768 / GPU_CARDS["a100-80"].flops, rel=1e-6)
