"""The suite of engines: each of its checks finds the engine that breaks its rule."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar

import pytest

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, OnTokens, TurnResponse, Usage
from gigavqa.testing.engines import EngineSuite
from gigavqa.workers.engines.engine import Engine, EngineDeadError, EngineStats, Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.workers.examples import ENTRY


class Sound(SimulatedEngine):
    """Breaks no rule; `asks` and `told` are what others do to a question and to its answer."""

    def __init__(self) -> None:
        super().__init__(ENTRY, speed=1)
        self.was_stopped = False

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Ask what `asks` makes of it."""
        chat, sampling, grow = self.asks(chat, sampling, grow)
        return self.told(await super().generate(chat, sampling, request_id, priority, grow))

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Change nothing."""
        return chat, sampling, grow

    def told(self, turn: TurnResponse) -> TurnResponse:
        """Change nothing."""
        return turn

    async def stop(self) -> None:
        """Remember it."""
        await super().stop()
        self.was_stopped = True


class Anonymous(Sound):
    """Has no name."""

    @property
    def info(self) -> EngineInfo:
        """All but the name."""
        return super().info.model_copy(update={"name": ""})


class Unwell(Sound):
    """Is never healthy."""

    async def healthy(self) -> bool:
        """Never."""
        return False


class Uncounting(Sound):
    """Tells no tokens."""

    def told(self, turn: TurnResponse) -> TurnResponse:
        """Without its counts."""
        return turn.model_copy(update={"usage": Usage()})


class Forgetful(Sound):
    """Knows the last message alone."""

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Drop the others."""
        return chat[-1:], sampling, grow


class Blind(Sound):
    """Sees the first raster in the place of every one."""

    first: Any = None

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Replace the others."""
        for raster in (raster for message in chat for raster in message.rasters):
            self.first = self.first or raster
        seen = [
            replace(message, parts=tuple(part if isinstance(part, str) else self.first for part in message.parts))
            for message in chat
        ]
        return seen, sampling, grow


class Fickle(Sound):
    """Draws by a seed of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.seeds = count(2)

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Take the next one."""
        return chat, sampling.model_copy(update={"seed": next(self.seeds)}), grow


class Retelling(Sound):
    """Begins anew with every piece."""

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Tell all that there is by now."""
        said: list[str] = []

        def tell(at: int, text: str, logprobs: Any) -> None:
            said.append(text)
            if grow:
                grow(0, "".join(said), logprobs)

        return chat, sampling, tell if grow else None


class Hasty(Sound):
    """Streams no more than two tokens."""

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Limit what is streamed."""
        return chat, sampling.model_copy(update={"max_tokens": 2}) if grow else sampling, grow


class Endless(Sound):
    """Knows no limit, and nothing that stops it or that it is held to."""

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Take the seed alone."""
        return chat, Sampling(seed=sampling.seed), grow


class Mixing(Sound):
    """Answers what was asked last."""

    latest: Sequence[Message] = ()

    async def generate(self, chat: Sequence[Message], *asked: Any, **more: Any) -> TurnResponse:
        """Wait until others have asked."""
        self.latest = chat
        await asyncio.sleep(0)
        return await super().generate(self.latest, *asked, **more)


class Silent(Sound):
    """Has no counters."""

    async def stats(self) -> EngineStats:
        """Nothing."""
        return EngineStats()


class Stubborn(Sound):
    """Answers what was cancelled."""

    async def generate(self, *asked: Any, **more: Any) -> TurnResponse:
        """Go on."""
        answering = asyncio.ensure_future(super().generate(*asked, **more))
        try:
            return await asyncio.shield(answering)
        except asyncio.CancelledError:
            return await answering


class Clogging(Sound):
    """Gives no place back that was cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.places_left = asyncio.Semaphore(32)

    async def generate(self, *asked: Any, **more: Any) -> TurnResponse:
        """Take a place, and give it back behind the answer."""
        await self.places_left.acquire()
        turn = await super().generate(*asked, **more)
        self.places_left.release()
        return turn


class Cutting(Sound):
    """Answers the first words of whatever is too long."""

    def asks(self, chat: Sequence[Message], sampling: Sampling, grow: OnTokens | None) -> tuple[Any, Any, Any]:
        """Cut the text."""
        return [Message("user", (chat[-1].text[:1000],))], sampling, grow


class Drowsy(Sound):
    """Does not wake."""

    async def wake(self) -> None:
        """Sleep on."""


class Abandoning(Sound):
    """Lets wait for ever who waits for it."""

    async def generate(self, *asked: Any, **more: Any) -> TurnResponse:
        """Never end by an error."""
        try:
            return await super().generate(*asked, **more)
        except EngineDeadError:
            await asyncio.Event().wait()
            raise


class Undying(Sound):
    """Starts again when it is asked."""

    async def generate(self, *asked: Any, **more: Any) -> TurnResponse:
        """Start, and answer."""
        if self.was_stopped:
            await self.start()
        return await super().generate(*asked, **more)


class Brittle(Sound):
    """Can be stopped once."""

    async def stop(self) -> None:
        """Fail the second time."""
        assert not self.was_stopped, "it is stopped already"
        await super().stop()


BROKEN: list[tuple[str, type[Sound], str]] = [
    ("test_it_says_what_it_is", Anonymous, "no name"),
    ("test_a_started_engine_can_answer", Unwell, "is not healthy"),
    ("test_an_answer_is_counted", Uncounting, "0 tokens were written"),
    ("test_all_that_is_asked_reaches_the_prompt", Forgetful, "the system's words makes a prompt"),
    ("test_rasters_are_seen", Blind, "twelve rasters are all answered by"),
    ("test_a_seed_makes_draws_repeatable", Fickle, "one seed draws"),
    ("test_a_streamed_text_only_grows_and_is_the_answer", Retelling, "is told at 0"),
    ("test_a_streamed_answer_is_what_a_whole_one_is", Hasty, "is streamed as"),
    ("test_an_answer_ends_at_its_limit", Endless, "of 2 tokens"),
    ("test_an_answer_ends_before_a_text_that_stops_it", Endless, "stops it"),
    ("test_an_answer_keeps_to_its_structure", Endless, "an answer held to"),
    ("test_many_are_answered_at_once", Mixing, "when asked at once"),
    ("test_its_counters_count_what_it_answers", Silent, "0 are counted"),
    ("test_what_is_cancelled_ends_and_leaves_its_place", Stubborn, "what was cancelled ended as TurnResponse"),
    ("test_what_is_cancelled_ends_and_leaves_its_place", Clogging, "an answer after others were cancelled"),
    ("test_a_prompt_too_long_is_refused_alone", Cutting, "is answered by"),
    ("test_it_answers_after_it_slept", Drowsy, "not running"),
    ("test_nobody_waits_for_a_stopped_engine", Abandoning, "the end of what a stopped engine was asked"),
    ("test_it_can_be_stopped_twice_and_answers_no_more", Undying, "a stopped engine answers"),
    ("test_it_can_be_stopped_twice_and_answers_no_more", Brittle, "it is stopped already"),
]


class Suite(EngineSuite):
    """The suite of an engine that claims all that it can."""

    patience = 2
    structures = frozenset({"choice"})
    made: ClassVar[type[Sound]] = Sound

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Make it."""
        yield self.made()


def run(check: str, engine: type[Sound]) -> None:
    """Run one check on an engine of its own."""
    suite = type("Broken", (Suite,), {"made": engine})
    suite.setup_class()
    try:
        getattr(suite(), check)()
    finally:
        suite.teardown_class()


@pytest.mark.parametrize(("check", "engine", "words"), BROKEN)
def test_an_engine_that_breaks_a_rule_is_told_of(check: str, engine: type[Sound], words: str) -> None:
    """In words that say what was found."""
    with pytest.raises((AssertionError, EngineDeadError), match=words):
        run(check, engine)


@pytest.mark.parametrize("check", sorted({check for check, _, _ in BROKEN}))
def test_an_engine_that_breaks_none_passes(check: str) -> None:
    """Made in the same way, so that it is the breach that is told of."""
    run(check, Sound)


def test_every_check_can_fail() -> None:
    """There is an engine here that breaks its rule."""
    assert {name for name in dir(EngineSuite) if name.startswith("test_")} == {check for check, _, _ in BROKEN}
