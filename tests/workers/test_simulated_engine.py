"""What the simulated engine promises to the tests that rely on it."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from jobs.models import Sampling
from tests.workers.examples import ENTRY
from workers.engines.engine import EngineDeadError, EngineError, Message, PromptRaster
from workers.engines.simulated_engine import Roofline, SimulatedEngine

QUESTION = "How many?\nA. one\nB. two\nC. three"


@pytest.fixture
async def engine() -> AsyncIterator[SimulatedEngine]:
    """An engine that takes no time."""
    made = SimulatedEngine(ENTRY, speed=0)
    await made.start()
    yield made
    await made.stop()


def question(key: str, text: str = QUESTION) -> list[Message]:
    """A chat about one raster of 256 visual tokens."""
    return [Message("user", (PromptRaster(key, np.zeros((512, 512, 3), np.uint8)), text))]


async def test_text_is_a_function_of_seed_and_prompt(engine: SimulatedEngine) -> None:
    """The same question with the same seed is answered alike; over many seeds, every option occurs."""
    texts = [(await engine.generate(question("k"), Sampling(seed=1), f"r{n}")).text for n in range(2)]
    assert texts[0] == texts[1]
    answers = {(await engine.generate(question("k"), Sampling(seed=seed), "r")).text for seed in range(30)}
    assert answers == {f"The answer is {letter}." for letter in "ABC"}


async def test_a_repeated_prefix_is_cached(engine: SimulatedEngine) -> None:
    """A second question about a raster prefills only what comes after it, and encodes nothing."""
    first = await engine.generate(question("k", "First?"), Sampling(), "1")
    second = await engine.generate(question("k", "Second?"), Sampling(), "2")
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens == 256
    assert (await engine.stats()).processed_rasters == 1


async def test_visual_tokens_are_those_of_the_budget(engine: SimulatedEngine) -> None:
    """A raster adds exactly its visual tokens to the prompt."""
    with_raster = await engine.generate(question("k"), Sampling(), "1")
    without = await engine.generate([Message("user", (QUESTION,))], Sampling(), "2")
    assert with_raster.usage.prompt_tokens - without.usage.prompt_tokens == 256


async def test_a_long_prompt_is_refused_with_counts(engine: SimulatedEngine) -> None:
    """The error names the prompt's tokens and the context."""
    with pytest.raises(EngineError, match=r"\d+ tokens; the context holds 8192"):
        await engine.generate([Message("user", ("word " * 10000,))], Sampling(), "1")


async def test_a_stopped_engine_is_dead(engine: SimulatedEngine) -> None:
    """Whoever asks it learns so."""
    await engine.stop()
    with pytest.raises(EngineDeadError):
        await engine.generate(question("k"), Sampling(), "1")


async def test_cancelling_a_request_frees_its_place() -> None:
    """A cancelled request is neither running nor waiting any more."""
    engine = SimulatedEngine(ENTRY, speed=1e-6)
    await engine.start()
    task = asyncio.create_task(engine.generate(question("k"), Sampling(), "1"))
    await asyncio.wait([task], timeout=0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    stats = await engine.stats()
    await engine.stop()
    assert stats.running + stats.waiting == 0


def test_decode_is_bound_by_memory_and_prefill_by_arithmetic() -> None:
    """One token costs a read of all weights; eight thousand cost their operations."""
    roofline = Roofline()
    assert roofline.step_seconds(0, 1, 100, 0) == pytest.approx(16e9 / 3.35e12, rel=0.01)
    assert roofline.step_seconds(8192, 0, 8192, 0) == pytest.approx(8192 * 16e9 / 9.9e14, rel=0.01)
