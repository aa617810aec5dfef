"""Chats that went on in rounds, as a worker records them: zooms, a search, an error, and an answer or none."""

from typing import Any

from gigavqa.contract.responses import RasterRecord, Response, TurnResponse
from gigavqa.contract.tool_loops import ToolCall
from tests.evaluation.responses import MODEL, response
from tests.reports.pages import HOSTILE, KEY, raster

ZOOMS = {"c" * 32: "1000,600,2000,1200", "d" * 32: "1400,900,500,300"}
"""Rasters of the zooms of a chat, and their regions."""
PAGES = "What the pages say. " * 100
"""What a search found: more than is shown at once."""


def call(name: str, status: str = "ok", **changes: Any) -> ToolCall:
    """The record of a call."""
    return ToolCall.model_validate({"name": name, "arguments": "{}", "status": status, **changes})


def turn(text: str, made: ToolCall | None = None) -> TurnResponse:
    """One round."""
    return TurnResponse(text=text, finish_reason="stop", call=made)


def shown() -> tuple[RasterRecord, ...]:
    """The full picture, then a zoom in the first round and another in the second one."""
    later = (raster(key, region).model_copy(update={"turn": at}) for at, (key, region) in enumerate(ZOOMS.items(), 1))
    return (raster(KEY), *later)


def rounds() -> tuple[TurnResponse, ...]:
    """Two zooms, a search whose pages and query try to break out, and a box that is none."""
    return (
        turn("<think>It is small.</think><call>", call("zoom", result="<r>[IMAGE 1]</r>", rasters=(1,), seconds=0.25)),
        turn("<call>", call("zoom", arguments='{"box": [1, 2]}', result="[IMAGE 2] is closer", rasters=(2,))),
        turn(
            f"<think>{HOSTILE}</think><call>",
            call("search", arguments=HOSTILE, result=f"{HOSTILE} {PAGES}", documents=("d-1", "d-2"), cached=True),
        ),
        turn("<call>", call("zoom", "bad_box", result="Error: no box")),
    )


def chat(limit: int = 10, stop: str | None = "answered", answer: str = "Final answer: B", **changes: Any) -> Response:
    """A chat about c1 with at most so many rounds: those above, then an answer, a call that was not run, or nothing."""
    last = {"answered": (turn(f"<think>Two.</think>{answer}"),), "rounds": (turn("<call>", call("zoom", "not_run")),)}
    repeat = changes.setdefault("repeat", 0)
    changes.setdefault("request_id", f"c1:S0-V2-n{limit}:{MODEL}:{repeat}")
    played = (*rounds(), *last.get(stop or "", ()))
    return response("c1", "", **{"turns": played, "stop": stop, "max_rounds": limit, "rasters": shown()} | changes)
