"""How a chat is played: what the engine is asked, and in which order."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gigavqa.contract.requests import InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import TurnResponse, Usage
from gigavqa.contract.schema_versions import read_bundle
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer, Generate
from gigavqa.workers.engines.engine import ChatOverflowError, ContextExceededError, EngineError, Message
from gigavqa.workers.script import FixedTurns
from tests.workers.examples import make_request
from tests.workers.rasters import raster_of


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


def player_of(request: InferenceRequest, generate: Generate) -> ChatPlayer:
    """A player of a request's own turns, which show nothing."""
    return ChatPlayer(request, FixedTurns(request.turns), [], generate)


async def test_history_carries_the_models_own_answers() -> None:
    """Each turn is asked with all that was asked and answered before it."""
    recorder = Recorder()
    request = make_request("r", None, system="Be brief.", turns=(Turn(parts=("one",)), Turn(parts=("two",), asks="s2")))
    answers = await player_of(request, recorder).play()
    assert recorder.chats[1] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "re: one"),
        ("user", "two"),
    ]
    assert [(answer.text, answer.asks) for answer in answers] == [("re: one", None), ("re: two", "s2")]


async def test_given_answers_take_the_place_of_the_models_own() -> None:
    """The history holds what was given, not what was answered."""
    recorder = Recorder()
    request = make_request("r", None, turns=(Turn(parts=("one",), given="truth"), Turn(parts=("two",))))
    await player_of(request, recorder).play()
    assert ("assistant", "truth") in max(recorder.chats, key=len)


async def test_turns_with_given_answers_go_out_at_once() -> None:
    """All turns are with the engine before any of them is answered."""
    turns = (Turn(parts=("one",), given="1"), Turn(parts=("two",), given="2"), Turn(parts=("three",)))
    asked = 0
    all_asked = asyncio.Event()

    async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        nonlocal asked
        asked += 1
        if asked == len(turns):
            all_asked.set()
        await asyncio.wait_for(all_asked.wait(), 5)
        return TurnResponse(text=chat[-1].text, finish_reason="stop")

    answers = await player_of(make_request("r", None, turns=turns), generate).play()
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

    request = make_request("r", None, turns=(Turn(parts=("one",), given=given), Turn(parts=("two",))))
    with pytest.raises((ContextExceededError, ChatOverflowError)) as caught:
        await player_of(request, generate).play()
    assert caught.type is error


async def test_answers_before_a_failing_turn_are_kept() -> None:
    """What was answered before the failure can still be recorded."""
    player = player_of(make_request("r", None, turns=(Turn(parts=("one",)), Turn(parts=("fail",)))), Recorder())
    with pytest.raises(EngineError):
        await player.play()
    assert [answer.text for answer in player.answers] == ["re: one"]


ONE, TWO = View(image="demo/images/1.png"), View(image="demo/images/2.png")


class Keeper:
    """Answers the number of the turn, and keeps every chat as roles, texts and keys of rasters in order."""

    def __init__(self) -> None:
        self.chats: list[list[tuple[str, list[str]]]] = []

    async def __call__(self, chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        """Keep and answer."""
        shown = [[part if isinstance(part, str) else part.key for part in message.parts] for message in chat]
        self.chats.append(list(zip([message.role for message in chat], shown, strict=True)))
        return TurnResponse(text=str(len(self.chats)), finish_reason="stop")


async def test_texts_and_rasters_reach_the_engine_in_their_order() -> None:
    """Also those of a later turn; what an earlier one has shown stays in the history."""
    keeper = Keeper()
    turns = (Turn(parts=(ONE, "Look. ", TWO, "How many?")), Turn(parts=("And in the first?", ONE)))
    request = make_request("r", None, turns=turns)
    await ChatPlayer(request, FixedTurns(turns), list(map(raster_of, (ONE, TWO))), keeper).play()
    first = ("user", [ONE.image, "Look. ", TWO.image, "How many?"])
    assert keeper.chats == [[first], [first, ("assistant", ["1"]), ("user", ["And in the first?", ONE.image])]]


async def test_a_script_may_go_on_by_what_was_answered() -> None:
    """It is asked after every answer, and shows more until it has told all."""

    class UntilThree:
        def turns(self, answers: Mapping[int, TurnResponse]) -> list[Turn]:
            more = [Turn(parts=(f"You said {answers[number].text}", TWO)) for number in sorted(answers)[:2]]
            return [Turn(parts=(ONE, "How many?")), *more]

    keeper = Keeper()
    answers = await ChatPlayer(make_request("r", None), UntilThree(), list(map(raster_of, (ONE, TWO))), keeper).play()
    assert [answer.text for answer in answers] == ["1", "2", "3"]
    assert keeper.chats[-1][-1] == ("user", ["You said 2", TWO.image])


async def test_a_prompt_that_was_queued_in_the_first_form_is_what_it_was() -> None:
    """All five views of its V4, full image first, and then the one text that it had."""
    queued = (Path(__file__).parents[1] / "store" / "form_1" / "bundle.json").read_bytes()
    old = json.loads(queued)["requests"][0]
    request, keeper = read_bundle(queued).requests[0], Keeper()
    await ChatPlayer(request, FixedTurns(request.turns), list(map(raster_of, request.views)), keeper).play()
    shown = [raster_of(View.model_validate(view)).key for view in old["views"]]
    assert len(set(shown)) == 5
    assert keeper.chats == [[("user", [*shown, old["turns"][0]["text"]])]]
