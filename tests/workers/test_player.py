"""How a chat is played: what the engine is asked, and in which order."""

import asyncio
from collections.abc import Sequence

import pytest

from jobs.models import Sampling, Turn, TurnResponse, Usage
from tests.workers.examples import make_request
from workers.engines.engine import ChatOverflowError, ContextExceededError, EngineError, Message
from workers.player import Player


class Recorder:
    """Answers `re: TEXT`, and keeps the chats that it was asked, in order."""

    def __init__(self) -> None:
        self.chats: list[list[tuple[str, str]]] = []

    async def __call__(self, chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        """Record and answer."""
        self.chats.append([(message.role, message.text) for message in chat])
        if "fail" in chat[-1].text:
            raise EngineError("as asked")
        return TurnResponse(text=f"re: {chat[-1].text}", finish_reason="stop")


async def test_history_carries_the_models_own_answers() -> None:
    """Each turn is asked with all that was asked and answered before it."""
    recorder = Recorder()
    request = make_request("r", None, system="Be brief.", turns=(Turn(text="one"), Turn(text="two", step_id="s2")))
    answers = await Player(request, [], recorder).play()
    assert recorder.chats[1] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "re: one"),
        ("user", "two"),
    ]
    assert [(answer.text, answer.step_id) for answer in answers] == [("re: one", None), ("re: two", "s2")]


async def test_given_answers_take_the_place_of_the_models_own() -> None:
    """The history holds what was given, not what was answered."""
    recorder = Recorder()
    request = make_request("r", None, turns=(Turn(text="one", given="truth"), Turn(text="two")))
    await Player(request, [], recorder).play()
    assert ("assistant", "truth") in max(recorder.chats, key=len)


async def test_turns_with_given_answers_go_out_at_once() -> None:
    """All turns are with the engine before any of them is answered."""
    turns = (Turn(text="one", given="1"), Turn(text="two", given="2"), Turn(text="three"))
    asked = 0
    all_asked = asyncio.Event()

    async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        nonlocal asked
        asked += 1
        if asked == len(turns):
            all_asked.set()
        await asyncio.wait_for(all_asked.wait(), 5)
        return TurnResponse(text=chat[-1].text, finish_reason="stop")

    answers = await Player(make_request("r", None, turns=turns), [], generate).play()
    assert [answer.text for answer in answers] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("given", "excess", "error"),
    [
        (None, None, ChatOverflowError),
        (None, 10, ChatOverflowError),
        (None, 11, ContextExceededError),
        ("yes", 1, ContextExceededError),
        ("yes", None, ContextExceededError),
    ],
)
async def test_a_chat_too_long_is_laid_to_who_wrote_it(given: str | None, excess: int | None, error: type) -> None:
    """Ten tokens of the model's own stand before the second turn: without them, up to ten too many would fit."""

    async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        if chat[-1].text == "two":
            raise ContextExceededError("too long", excess)
        return TurnResponse(text="words", finish_reason="stop", usage=Usage(completion_tokens=10))

    request = make_request("r", None, turns=(Turn(text="one", given=given), Turn(text="two")))
    with pytest.raises((ContextExceededError, ChatOverflowError)) as caught:
        await Player(request, [], generate).play()
    assert caught.type is error


async def test_answers_before_a_failing_turn_are_kept() -> None:
    """What was answered before the failure can still be recorded."""
    player = Player(make_request("r", None, turns=(Turn(text="one"), Turn(text="fail"))), [], Recorder())
    with pytest.raises(EngineError):
        await player.play()
    assert [answer.text for answer in player.answers] == ["re: one"]
