"""What the simulated engine promises to the tests that rely on it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gigavqa.contract.requests import Sampling
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.workers.engines.engine import EngineDeadError, EngineError, Message, PromptRaster, with_cache_salt
from gigavqa.workers.engines.simulation.answers import read_answer_script
from gigavqa.workers.engines.simulation.engine import SLOTS_ARGUMENT, WEIGHT_BYTES, Latencies, SimulatedEngine
from gigavqa.workers.engines.simulation.prompts import SeenKeys
from tests.waiting import async_wait_until
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


async def started(*, slots: int = 8, **options: Any) -> SimulatedEngine:
    """An engine of so many slots that takes no time, if nothing else is said."""
    entry = ENTRY.model_copy(update={"engine": {SLOTS_ARGUMENT: slots}})
    engine = SimulatedEngine(entry, **{"speed": 0, **options})
    await engine.start()
    return engine


async def counted(engine: SimulatedEngine, *, running: int, waiting: int) -> bool:
    """Whether so many answers are written, and so many wait for a slot."""
    stats = await engine.stats()
    return (stats.running, stats.waiting) == (running, waiting)


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
    assert second.usage.cached_tokens == 1 + 256  # the mark of the user's role is before it
    stats = await engine.stats()
    assert (stats.processed_rasters, stats.encoder_runs) == (1, 1)
    assert stats.prompt_tokens == first.usage.prompt_tokens + second.usage.prompt_tokens
    assert stats.cached_prompt_tokens == 257
    assert stats.generated_tokens == first.usage.completion_tokens + second.usage.completion_tokens


async def test_prompts_that_come_together_share_a_prefix(engine: SimulatedEngine) -> None:
    """The first to begin pays for all."""
    asked = [engine.generate(question("k", f"{number}: which?"), Sampling(), "r") for number in range(8)]
    answers = await asyncio.gather(*asked)
    assert sorted(answer.usage.cached_tokens for answer in answers) == [0] + [257] * 7
    assert (await engine.stats()).encoder_runs == 1


async def test_all_but_the_last_token_of_a_prompt_may_be_cached(engine: SimulatedEngine) -> None:
    """As in every engine: something is computed of each prompt."""
    first, again = [await engine.generate(question("k"), Sampling(), "r") for _ in range(2)]
    assert (first.usage.cached_tokens, again.usage.cached_tokens) == (0, first.usage.prompt_tokens - 1)


def test_caches_are_bounded_and_the_oldest_goes_first() -> None:
    """What is seen again is young again."""
    seen = SeenKeys(most=2)
    assert [seen.see(key) for key in "abacba"] == [False, False, True, False, False, False]


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


async def test_a_stopped_engine_takes_with_it_what_it_was_asked() -> None:
    """What is written and what waits for a slot."""
    engine = await started(speed=1e-6, slots=1)
    asked = [asyncio.create_task(engine.generate(question(key), Sampling(), key)) for key in "ab"]
    await async_wait_until(lambda: counted(engine, running=1, waiting=1), what="one answer begun and one that waits")
    await engine.stop()
    assert {type(each) for each in await asyncio.gather(*asked, return_exceptions=True)} == {EngineDeadError}
    assert await counted(engine, running=0, waiting=0)
    assert not await engine.healthy()


async def test_an_engine_that_slept_has_empty_caches() -> None:
    """It sleeps where its weights have room, and answers when it is awake."""
    engine = await started()
    await engine.generate(question("k"), Sampling(), "1")
    assert await engine.sleep(WEIGHT_BYTES - 1) == 0
    assert await engine.healthy()
    assert await engine.sleep(WEIGHT_BYTES) == WEIGHT_BYTES
    with pytest.raises(EngineDeadError):
        await engine.generate(question("k"), Sampling(), "2")
    await engine.wake()
    assert (await engine.generate(question("k"), Sampling(), "3")).usage.cached_tokens == 0
    assert (await engine.stats()).encoder_runs == 2


async def test_cancelling_a_request_frees_its_place() -> None:
    """Of two that are given up, one that was being written and one that waited, nothing is left; a third is begun."""
    engine = await started(speed=1e-6, slots=1)
    tasks = [asyncio.create_task(engine.generate(question("k"), Sampling(), str(number))) for number in range(3)]
    await async_wait_until(lambda: counted(engine, running=1, waiting=2), what="one answer begun and two that wait")
    for task in tasks[:2]:
        task.cancel()
    await asyncio.gather(*tasks[:2], return_exceptions=True)
    assert await counted(engine, running=1, waiting=0)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await counted(engine, running=0, waiting=0)


async def test_slots_are_given_by_priority_and_then_in_order() -> None:
    """As in vLLM: of those that wait the lower one first, and never in place of what is being written."""
    engine = await started(slots=1, speed=1, latencies=Latencies(prompt=0.1, prompt_token=0.0, output_token=0.0))
    ended = list[str]()

    async def ask(name: str, priority: int) -> None:
        await engine.generate(question(name), Sampling(), name, priority)
        ended.append(name)

    async def is_running() -> bool:
        return (await engine.stats()).running == 1

    first = asyncio.create_task(ask("a", 1))
    await async_wait_until(is_running, what="the first one")
    await asyncio.gather(first, *(ask(name, priority) for name, priority in (("b", 1), ("c", 0), ("d", 1))))
    assert ended == ["a", "c", "b", "d"]


async def test_the_prompt_of_a_later_turn_reuses_what_was_answered(engine: SimulatedEngine) -> None:
    """Question and answer of the turn before are in the prefix cache."""
    asked = question("k", "Which of these? " * 40)
    first = await engine.generate(asked, Sampling(), "1")
    said = Message("assistant", (first.text,))
    second = await engine.generate([*asked, said, Message("user", ("Why?",))], Sampling(), "2")
    assert second.usage.cached_tokens == first.usage.prompt_tokens + first.usage.completion_tokens


async def test_an_answer_takes_the_declared_times_divided_by_the_speed() -> None:
    """Before the first token by what is new of the prompt, and for each token behind it; so do its timings say."""
    engine = await started(speed=10, latencies=Latencies(prompt=0.1, prompt_token=0.001, output_token=0.05))
    cold, warm = [await engine.generate(question("k"), Sampling(), "r") for _ in range(2)]
    assert cold.timings.prefill == pytest.approx(0.01 + cold.usage.prompt_tokens * 0.0001)
    assert warm.timings.prefill == pytest.approx(0.01 + 0.0001)
    assert all(answer.timings.decode >= 4 * 0.005 - 1e-3 for answer in (cold, warm))


async def test_answers_are_written_beside_each_other() -> None:
    """As many as there are slots take no longer than one of them; the next one waits for all of that."""
    engine = await started(speed=1, slots=4, latencies=Latencies(prompt=0.2, prompt_token=0, output_token=0))
    answers = await asyncio.gather(*(engine.generate(question("k"), Sampling(), str(n)) for n in range(5)))
    assert [answer.timings.queued >= 0.2 - 1e-3 for answer in answers] == [False] * 4 + [True]


@pytest.mark.parametrize("speed", [0, 100])
async def test_a_text_grows_token_by_token(speed: float) -> None:
    """Joined, the pieces are the answer; a limit and a stop end both."""
    engine, told = await started(speed=speed), list[tuple[int, str]]()
    answer = await engine.generate(
        question("k"), Sampling(max_tokens=4), "r", grow=lambda at, text, _: told.append((at, text))
    )
    assert [text for _, text in told] == ["The", " answ", "er", " is"]
    assert [at for at, _ in told] == [0, 3, 8, 10]
    assert (answer.text, answer.finish_reason, answer.usage.completion_tokens) == ("The answer is", "length", 4)


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
