"""Answers of a server elsewhere that grow: told as they come, and recorded as if they had come whole."""

import json
from typing import Any

import pytest

from gigavqa.contract.requests import Sampling
from gigavqa.workers.engines.remote.answers import RemoteAnswer
from gigavqa.workers.engines.remote.error_replies import RetryLaterError
from gigavqa.workers.engines.remote.streaming import EventStreamParser
from tests.workers.examples import ENTRY
from tests.workers.remote_server import Elsewhere, Mood, serving
from tests.workers.test_remote_engine import ask_about, asking

SAMPLING = Sampling(seed=1, max_tokens=50)


class Heard:
    """What was told of one answer."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, str]] = []

    def __call__(self, at: int, text: str, logprobs: object) -> None:
        """Hear a piece."""
        self.pieces.append((at, text))

    @property
    def text(self) -> str:
        """All of it; each piece stands where the one before ended."""
        text = ""
        for at, piece in self.pieces:
            assert at in (0, len(text))  # 0 begins anew
            text = text[:at] + piece
        return text


def chunk(**delta: Any) -> bytes:
    """One chunk of a stream, as bytes."""
    reason = delta.pop("finish_reason", None)
    told = {"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return f"data: {json.dumps(told)}\n\n".encode()


async def test_an_answer_is_streamed_for_who_listens() -> None:
    """It comes in several pieces; without anybody who listens nothing is streamed."""
    heard = Heard()
    with serving(Elsewhere()) as there:
        async with asking(there) as engine:
            await engine.generate(ask_about(), SAMPLING, "r")
            await engine.generate(ask_about(), SAMPLING, "r", grow=heard)
    assert [body.get("stream", False) for body in there.chats] == [False, True]
    assert len(heard.pieces) > 1


async def test_a_stream_that_is_cut_off_is_asked_for_again_from_its_beginning() -> None:
    """What was told of it is told anew, and one answer is returned."""
    heard = Heard()
    cut = Mood(body=chunk(content="Some of").decode(), headers={"content-type": "text/event-stream"})
    with serving(Elsewhere(moods=[cut])) as there:
        async with asking(there) as engine:
            turn = await engine.generate(ask_about(), SAMPLING, "r", grow=heard)
    assert len(there.chats) == 2
    assert heard.pieces[0] == (0, "Some of")
    assert heard.text == turn.text


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_a_thought_that_is_streamed_apart_stands_within_its_marks(name: str) -> None:
    """What is told is how the answer begins that is recorded, wherever the bytes are cut."""
    heard = Heard()
    answer = RemoteAnswer(ENTRY, None, grow=heard)
    events = EventStreamParser(answer)
    sent = b"".join(
        [
            chunk(role="assistant", content=""),
            chunk(**{name: "Is it B"}),
            chunk(**{name: "? Yes."}),
            chunk(content="B"),
            chunk(content="."),
            chunk(finish_reason="stop"),
            b": a comment\n\ndata: [DONE]\n\n",
        ]
    )
    for start in range(0, len(sent), 7):
        events.take(sent[start : start + 7])
    events.end()
    turn = answer.turn()
    assert turn.text == heard.text
    assert turn.text.endswith("B.")
    assert "Is it B? Yes." in turn.text
    assert turn.finish_reason == "stop"


def test_an_error_within_a_stream_is_an_error() -> None:
    """Servers tell of it with status 200, since the stream has begun."""
    answer = RemoteAnswer(ENTRY, None, grow=Heard())
    EventStreamParser(answer).take(chunk(content="B") + b'data: {"error": {"message": "overloaded", "code": 503}}\n\n')
    with pytest.raises(RetryLaterError, match="overloaded"):
        answer.turn()
