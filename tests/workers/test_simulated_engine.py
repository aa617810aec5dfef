"""What the simulated engine promises to the tests that rely on it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.models import Sampling
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.workers.engines.engine import EngineDeadError, EngineError, Message, PromptRaster, with_cache_salt
from gigavqa.workers.engines.simulation.answer_script import read_answer_script
from gigavqa.workers.engines.simulation.engine import SimulatedEngine, roofline_of
from tests.workers.examples import ENTRY

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


async def test_a_prefix_is_shared_under_its_salt_alone(engine: SimulatedEngine) -> None:
    """Of texts and of rasters, in later turns, too; answers are the same under every salt."""
    found: dict[str, list[int]] = {"": [], "a": [], "b": []}
    texts = set()
    for salt in ("", "a", "b", "a", "b", ""):
        answer = await engine.generate(with_cache_salt(question("k", "Look. " * 200), salt), Sampling(seed=1), salt)
        found[salt].append(answer.usage.cached_tokens)
        texts.add(answer.text)
    assert [first for first, _ in found.values()] == [0, 0, 0]
    assert all(again > 256 for _, again in found.values())
    assert len(texts) == 1


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


async def test_the_prompt_of_a_later_turn_reuses_what_was_answered(engine: SimulatedEngine) -> None:
    """Question and answer of the turn before are in the prefix cache, but for the end of the last block."""
    asked = question("k", "Which of these? " * 40)
    first = await engine.generate(asked, Sampling(), "1")
    said = Message("assistant", (first.text,))
    second = await engine.generate([*asked, said, Message("user", ("Why?",))], Sampling(), "2")
    assert first.usage.prompt_tokens + first.usage.completion_tokens - second.usage.cached_tokens <= 16


async def test_thoughts_are_counted_and_not_told() -> None:
    """They take tokens of the answer, up to its limit, and none of its text."""
    engine = SimulatedEngine(ENTRY, speed=0, thought_tokens=1000)
    await engine.start()
    answered = [await engine.generate(question("k"), Sampling(max_tokens=most), str(most)) for most in (2000, 500)]
    await engine.stop()
    assert [each.usage.completion_tokens for each in answered] == [1005, 500]
    assert {each.text[:14] for each in answered} == {"The answer is "}


async def test_a_simulated_second_takes_its_part_of_a_real_one() -> None:
    """The clock of the responses is that of the model, divided by the speed."""
    engine = SimulatedEngine(ENTRY, speed=10, thought_tokens=300)
    await engine.start()
    answer = await engine.generate(question("k"), Sampling(max_tokens=2000), "1")
    seconds = engine.counts.busy_seconds
    await engine.stop()
    assert answer.timings.prefill + answer.timings.decode >= seconds / 10 - 0.002


async def test_a_hybrid_model_finds_a_prefix_from_the_first_question_on() -> None:
    """What questions on one picture share is asked for once, before them, and all of them find it."""
    entry = load_catalogue()["qwen3.5-27b"]
    engine = SimulatedEngine(entry, speed=0)
    await engine.start()
    picture = PromptRaster("k", np.broadcast_to(np.uint8(0), (2048, 2048, 3)))
    chats = [[Message("user", (picture, f"{number}: which? " * 300))] for number in range(3)]
    answers = await asyncio.gather(*(engine.generate(chat, Sampling(), "r") for chat in chats))
    stats = await engine.stats()
    await engine.stop()
    assert [answer.usage.cached_tokens for answer in answers] == [4097 // 16 * 16] * 3
    assert (stats.primers, stats.encoder_runs) == (1, 1)


async def test_chats_that_begin_with_more_than_a_step_prefill_it_once() -> None:
    """Five views of 16384 tokens, asked about by three chats at once, take three steps and more."""
    entry = load_catalogue()["qwen3-vl-8b"]
    engine = SimulatedEngine(entry, speed=0)
    await engine.start()
    views = [PromptRaster(f"k{number}", np.broadcast_to(np.uint8(0), (4096, 4096, 3))) for number in range(5)]
    chats = [[Message("user", (*views, f"{number}: which? "))] for number in range(3)]
    answers = await asyncio.gather(*(engine.generate(chat, Sampling(), "r") for chat in chats))
    stats = await engine.stats()
    await engine.stop()
    assert [answer.usage.cached_tokens for answer in answers] == [5 * 16384] * 3
    assert (stats.primers, stats.encoder_runs) == (1, 5)


async def test_a_hybrid_model_has_places_for_chats_by_its_kv_cache() -> None:
    """Seventeen about one view of the largest size; a model without recurrent states has as many as anybody asks."""
    entries = load_catalogue()
    hybrid, other = (SimulatedEngine(entries[name], speed=0) for name in ("qwen3.5-27b", "qwen3-vl-8b"))
    assert other.places is None
    room = hybrid.places
    assert room is not None
    async with AsyncExitStack() as stack:
        for _ in range(17):
            await stack.enter_async_context(room.hold({"k": 16384}))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(room.hold({"k": 16384}).__aenter__(), 0.01)


async def test_a_hybrid_family_is_simulated_as_one() -> None:
    """An entry whose family has recurrent states gets the blocks and the costs of such a model."""
    hybrid, other = (roofline_of(load_catalogue()[name]) for name in ("qwen3.5-27b", "qwen3-vl-8b"))
    assert hybrid.model.state_blocks > 0
    assert other.model.state_blocks == 0
    assert hybrid.batched_tokens == 32_768


async def test_a_scripted_engine_says_what_was_declared(tmp_path: Path) -> None:
    """Each chat goes through one list in order, by its first question alone, and the engine is called scripted."""
    file = tmp_path / "script.json"
    file.write_text('[["one {chat}", "two"], ["eins {chat}", "zwei"]]')
    engine = SimulatedEngine(ENTRY, speed=0, script=read_answer_script(file))
    await engine.start()
    said = set()
    for number in range(20):
        chat = question("k", f"Which? {number}")
        for _ in range(3):
            answer = await engine.generate(chat, Sampling(seed=number), "r")
            chat = [*chat, Message("assistant", (answer.text,)), Message("user", ("Go on.",))]
        first, *others = [message.text for message in chat if message.role == "assistant"]
        said.add((first.partition(" ")[0], *others))
    await engine.stop()
    assert said == {("one", "two", "two"), ("eins", "zwei", "zwei")}
    assert (engine.info.name, engine.info.simulated) == ("scripted", True)


@pytest.mark.parametrize("text", ["", "[]", "[[]]", '["one"]', '{"a": 1}'])
def test_what_is_no_script_is_refused(tmp_path: Path, text: str) -> None:
    """With the name of the file; so is one that is not there."""
    file = tmp_path / "script.json"
    file.write_text(text)
    for path in (file, tmp_path / "other.json"):
        with pytest.raises(SettingsInvalidError, match=f"the script {path}"):
            read_answer_script(path)
