"""Conformance of engines, for authors of one: answers, their growth and their counts, how they end and fail.

    from gigavqa.testing.engines import EngineSuite

    class TestMine(EngineSuite):
        @contextmanager
        def engine(self) -> Iterator[Engine]:
            yield MyEngine(entry)                # not started yet; what it needs runs for as long as the block lasts

pytest runs them, all on one engine until one of them stops it. No model needs to know anything: texts are compared.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar
from unittest import SkipTest

from gigavqa.contract.requests import GenerationConstraints
from gigavqa.contract.responses import EngineInfo, TurnResponse
from gigavqa.testing.chats import QUESTION, STRUCTURES, keeps_to, question, raster, sampling
from gigavqa.testing.running_engine import RunningEngine, on_engine
from gigavqa.workers.engines.engine import ContextExceededError, Engine, EngineDeadError, Message

_CROWD = 16


class EngineSuite(RunningEngine):
    """Check what holds of every engine that `engine` makes."""

    context: ClassVar[int] = 8192
    """Tokens of the model's context: a prompt of so many words is refused."""
    structures: ClassVar[frozenset[str]] = frozenset()
    """Fields of `StructuredOutput` that the engine holds answers to: of choice, regex and json_schema."""
    is_repeatable: ClassVar[bool] = True
    """Whether the same seed draws the same answer."""

    @on_engine
    async def test_it_says_what_it_is(self, engine: Engine) -> None:
        """By a name and a version that stay, as responses record them."""
        before = engine.info
        assert before.name and before.version, f"it has no name or no version: {before}"
        await engine.generate(question(), sampling(), "info")
        assert engine.info == before, f"it was {before}, and is {engine.info} after an answer"
        assert EngineInfo.model_validate_json(before.model_dump_json()) == before, (
            f"it is recorded as another: {before}"
        )

    @on_engine
    async def test_a_started_engine_can_answer(self, engine: Engine) -> None:
        """It is healthy, and in no phase of a start."""
        assert await engine.healthy(), "it has started, and is not healthy"
        assert engine.phase is None, f"it has started, and is in the phase {engine.phase}"

    @on_engine
    async def test_an_answer_is_counted(self, engine: Engine) -> None:
        """With the tokens and seconds that it took, of each raster or of none, and for the reason of its end."""
        shown = (raster(1), raster(2))
        turn = await engine.generate(question(*shown), sampling(), "counted")
        usage, timings = turn.usage, turn.timings
        assert turn.text, "the answer has no text"
        assert turn.finish_reason in {"stop", "length"}, f"the answer ended by '{turn.finish_reason}'"
        assert 0 < usage.completion_tokens <= sampling().max_tokens, f"{usage.completion_tokens} tokens were written"
        assert 0 <= usage.cached_tokens <= usage.prompt_tokens, f"more is cached than asked: {usage}"
        assert len(usage.visual_tokens) in {0, 2}, f"of 2 rasters, {len(usage.visual_tokens)} are counted"
        assert sum(usage.visual_tokens) < usage.prompt_tokens, f"rasters have more tokens than the prompt: {usage}"
        seconds = (timings.queued, timings.prefill, timings.decode)
        assert min(seconds) >= 0 and sum(seconds) > 0, f"the answer took {timings}"

    @on_engine
    async def test_all_that_is_asked_reaches_the_prompt(self, engine: Engine) -> None:
        """Each text, each raster, the system's words and earlier turns make it longer."""
        first = question()
        chats = {
            "a question": first,
            "a raster before it": question(raster(1)),
            "another raster": question(raster(1), raster(2)),
            "the system's words": [Message("system", ("You are precise.",)), *question(raster(1), raster(2))],
        }
        chats["an earlier turn"] = [*chats["the system's words"], Message("assistant", ("A lake.",)), *question()]
        tokens = 0
        for added, chat in chats.items():
            found = (await engine.generate(chat, sampling(), added)).usage.prompt_tokens
            assert found > tokens, f"{added} makes a prompt of {tokens} tokens one of {found}"
            tokens = found

    @on_engine
    async def test_rasters_are_seen(self, engine: Engine) -> None:
        """Not every one of twelve is answered alike."""
        texts = {(await engine.generate(question(raster(n)), sampling(), f"seen-{n}")).text for n in range(12)}
        assert len(texts) > 1, f"twelve rasters are all answered by '{texts.pop()}'"

    @on_engine
    async def test_a_seed_makes_draws_repeatable(self, engine: Engine) -> None:
        """The same draws the same, and not every one of twelve does."""
        self.require_repeatable()
        drawn = [(await engine.generate(question(), sampling(seed), f"{seed}")).text for seed in (*range(12), 0)]
        assert drawn[0] == drawn[-1], f"one seed draws '{drawn[0]}' and '{drawn[-1]}'"
        assert len({*drawn}) > 1, f"twelve seeds all draw '{drawn[0]}'"

    @on_engine
    async def test_a_streamed_text_only_grows_and_is_the_answer(self, engine: Engine) -> None:
        """Each piece stands where the one before ended, in whole characters, and nothing comes after the answer."""
        told: list[tuple[int, str]] = []
        turn = await engine.generate(
            question(raster(1)), sampling(), "grown", grow=lambda at, text, _: told.append((at, text))
        )
        pieces = [*told]
        text = ""
        for at, piece in pieces:
            assert at == len(text), f"behind '{text}', '{piece}' is told at {at}"
            text += piece
        assert text == turn.text, f"'{text}' is told of the answer '{turn.text}'"
        await asyncio.sleep(0)
        assert told == pieces, f"behind the answer, {told[len(pieces) :]} is told"

    @on_engine
    async def test_a_streamed_answer_is_what_a_whole_one_is(self, engine: Engine) -> None:
        """Its text, its end and its counts."""
        whole = await engine.generate(question(raster(1)), sampling(), "whole")
        grown = await engine.generate(question(raster(1)), sampling(), "grown", grow=lambda *_: None)
        one, other = map(_told, (whole, grown))
        assert one[1:] == other[1:] and (not self.is_repeatable or one == other), f"{one} is streamed as {other}"

    @on_engine
    async def test_an_answer_ends_at_its_limit(self, engine: Engine) -> None:
        """Of two tokens, and says so."""
        turn = await engine.generate(question(), sampling(max_tokens=2), "limit")
        assert turn.usage.completion_tokens <= 2, f"of 2 tokens, {turn.usage.completion_tokens} are written"
        assert turn.finish_reason == "length", f"an answer of 2 tokens ended by '{turn.finish_reason}'"

    @on_engine
    async def test_an_answer_ends_before_a_text_that_stops_it(self, engine: Engine) -> None:
        """And says that it stopped."""
        self.require_repeatable()
        free = (await engine.generate(question(), sampling(), "free")).text
        stop = free[len(free) // 2 :][:2]
        turn = await engine.generate(question(), sampling(steering=GenerationConstraints(stop=(stop,))), "stopped")
        assert turn.text == free.partition(stop)[0], f"'{free}' ends as '{turn.text}' where '{stop}' stops it"
        assert turn.finish_reason == "stop", f"an answer that was stopped ended by '{turn.finish_reason}'"

    @on_engine
    async def test_an_answer_keeps_to_its_structure(self, engine: Engine) -> None:
        """To each of those that the engine says it can, whatever is drawn."""
        if not self.structures:
            raise SkipTest("the engine holds answers to no structure")
        for name, seed in ((name, seed) for name in sorted(self.structures) for seed in range(3)):
            steering = GenerationConstraints(structure=STRUCTURES[name])
            turn = await engine.generate(
                question(), sampling(seed, max_tokens=200, steering=steering), f"{name}-{seed}"
            )
            assert keeps_to(name, turn.text), f"an answer held to {STRUCTURES[name]} is '{turn.text}'"

    @on_engine
    async def test_many_are_answered_at_once(self, engine: Engine) -> None:
        """Each by its own answer, of the prompt that it has alone."""
        chats = [question(raster(n % 3), text=QUESTION + " Look. " * (n + 1)) for n in range(_CROWD)]
        alone = [await engine.generate(chat, sampling(), f"alone-{n}") for n, chat in enumerate(chats)]
        asked = [engine.generate(chat, sampling(), f"crowd-{n}") for n, chat in enumerate(chats)]
        crowd = await self.soon(asyncio.gather(*asked), f"{_CROWD} answers at once")
        tokens = [[turn.usage.prompt_tokens for turn in turns] for turns in (alone, crowd)]
        assert tokens[0] == tokens[1], f"prompts of {tokens[0]} tokens have {tokens[1]} when asked at once"

    @on_engine
    async def test_its_counters_count_what_it_answers(self, engine: Engine) -> None:
        """All of it, and when all is answered nothing runs or waits."""
        before = await engine.stats()
        chats = [question(raster(n), text=f"{n}? {QUESTION}") for n in range(40, 44)]
        turns = await asyncio.gather(*(engine.generate(chat, sampling(), f"n{n}") for n, chat in enumerate(chats)))
        after = await engine.stats()
        for counter, told in (("prompt_tokens", "prompt_tokens"), ("generated_tokens", "completion_tokens")):
            counted = getattr(after, counter) - getattr(before, counter)
            answered = sum(getattr(turn.usage, told) for turn in turns)
            assert counted >= answered, f"of {answered} {told}, {counted} are counted"
        await self.until_idle(engine)

    @on_engine
    async def test_what_is_cancelled_ends_and_leaves_its_place(self, engine: Engine) -> None:
        """As many as there can be, promptly; as many others are answered after them."""
        for _ in range(2):
            tasks = [asyncio.ensure_future(self.ask_long(engine, f"cancelled-{n}")) for n in range(_CROWD)]
            await self.until_busy(engine, tasks)
            for task in tasks:
                task.cancel()
            ended = await self.soon(asyncio.gather(*tasks, return_exceptions=True), "the end of what was cancelled")
            wrong = [each for each in ended if not isinstance(each, asyncio.CancelledError)]
            assert not wrong, f"what was cancelled ended as {wrong[0]!r}"
        others = [engine.generate(question(), sampling(), f"other-{n}") for n in range(_CROWD)]
        await self.soon(asyncio.gather(*others), "an answer after others were cancelled")
        await self.until_idle(engine)

    @on_engine
    async def test_a_prompt_too_long_is_refused_alone(self, engine: Engine) -> None:
        """By the error that says so, with a sentence; another one is answered."""
        chat = [Message("user", ("how many people " * self.context,))]
        try:
            turn = await self.soon(engine.generate(chat, sampling(), "long"), "a refusal")
        except ContextExceededError as error:
            assert str(error), "a prompt too long is refused without a word"
            assert error.excess is None or error.excess > 0, f"a prompt too long has {error.excess} tokens too many"
        else:
            raise AssertionError(f"a prompt of {self.context} times three words is answered by '{turn.text}'")
        await engine.generate(question(), sampling(), "after")

    @on_engine
    async def test_it_answers_after_it_slept(self, engine: Engine) -> None:
        """Or says that it does not sleep; in no host memory it never does."""
        assert await engine.sleep(0) == 0, "it keeps its weights in no memory"
        if await engine.sleep(2**50):
            await engine.wake()
        await engine.generate(question(), sampling(), "awake")

    @on_engine
    async def test_nobody_waits_for_a_stopped_engine(self, engine: Engine) -> None:
        """Requests are answered still, or ends by the error that lets another engine be started."""
        asked = asyncio.ensure_future(self.ask_long(engine, "waiting"))
        await self.until_busy(engine, [asked])
        await self.stopped(engine)
        with suppress(EngineDeadError):
            await self.soon(asked, "the end of what a stopped engine was asked")

    @on_engine
    async def test_it_can_be_stopped_twice_and_answers_no_more(self, engine: Engine) -> None:
        """It is not healthy then."""
        await self.stopped(engine)
        await self.stopped(engine)
        assert not await engine.healthy(), "it was stopped, and is healthy"
        try:
            turn = await self.soon(engine.generate(question(), sampling(), "late"), "an error of a stopped engine")
        except EngineDeadError as error:
            assert str(error), "it ended without a word"
        else:
            raise AssertionError(f"a stopped engine answers '{turn.text}'")

    def require_repeatable(self) -> None:
        """Skip what can only be told of draws that are the same."""
        if not self.is_repeatable:
            raise SkipTest("the engine draws anew whatever the seed")

    async def ask_long(self, engine: Engine, request_id: str) -> TurnResponse:
        """Ask what takes long enough to be met while it is answered: a prompt of a quarter of the context."""
        text = "Go on and on. " * (self.context // 16)
        long = sampling(max_tokens=self.context // 2, steering=GenerationConstraints(ignore_eos=True))
        return await engine.generate([Message("user", (f"{request_id}: {text}",))], long, request_id)


def _told(turn: TurnResponse) -> Sequence[object]:
    return turn.text, turn.finish_reason, turn.usage.prompt_tokens, turn.usage.visual_tokens, turn.served_as
