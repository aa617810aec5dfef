"""Chats as people read them: who was asked how, each round in a few lines, and what came of it."""

from collections.abc import Iterator

from gigavqa.answers.text import thoughts_apart
from gigavqa.contract.responses import Response, TurnResponse, UnreadableResponse
from gigavqa.contract.tool_loops import ToolCall
from gigavqa.evaluation.score_frame import CellKey

_LONGEST = 300
"""Characters of a thought, a call or a result; answers are written in full."""


def chat_lines(response: Response | UnreadableResponse) -> Iterator[str]:
    """Yield the lines that tell of a response."""
    if isinstance(response, UnreadableResponse):
        yield f"{response.sample_id}  {response.request_id}"
        yield f"  cannot be read now: {response.unreadable}"
        return
    cell = CellKey(response.model, response.protocol, response.condition, response.max_rounds or 0)
    yield _plain(f"{response.sample_id}  {cell}" + (f"  repeat {response.repeat}" if response.repeat else ""))
    looped = response.max_rounds or response.stop
    for number, turn in enumerate(response.turns, start=1):
        name = f"round {number}" if looped else turn.asks or f"turn {number}"
        yield from (f"  {line}" for line in _turn(turn, _plain(name), response))
    if looped and response.stop:
        limit = f" of at most {response.max_rounds}" if response.max_rounds else ""
        yield f"  ended after {len(response.turns)}{limit} rounds: {response.stop}"
    if response.failure:
        yield _plain(f"  failed: {response.failure.type}: {response.failure.message}")


def _turn(turn: TurnResponse, name: str, response: Response) -> Iterator[str]:
    thought, said = thoughts_apart(turn.text)
    yield f"{name}: {_short(thought)}".rstrip()
    if turn.call:
        yield from (f"  {line}" for line in _call(turn.call, response))
    if turn.call is None or turn.call.status == "malformed":
        yield from (f"  {_plain(line)}" for line in (said or "").strip().splitlines())


def _call(call: ToolCall, response: Response) -> Iterator[str]:
    yield _short(f"{call.name} {call.arguments}".strip()) + f"  [{call.status}]"
    for number in call.rasters:
        if number < len(response.rasters):
            raster = response.rasters[number]
            yield _plain(f"[IMAGE {number}]: {raster.view.image} {raster.region}")
    if call.result:
        yield f"-> {_short(call.result)}"


def _short(text: str) -> str:
    line = _plain(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _plain(text: str) -> str:
    """Nothing that a terminal obeys."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
