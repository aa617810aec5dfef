"""What a chat may ask of its worker is data, which is checked when it is declared."""

from typing import Any

import pytest
from pydantic import ValidationError

from gigavqa.contract.jobs import Cell
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle, InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import Failure, Response, TurnResponse
from gigavqa.contract.schema_versions import read_bundle, read_response
from gigavqa.contract.tool_loops import FixedTool, NamedCall, SearchTool, ToolCall, ToolErrors, ToolLoop, ZoomTool
from gigavqa.tiling.views import View
from tests.store.examples import NOW

SHOWN = View(image="demo/harbour.tif")
ERRORS = ToolErrors(arguments="not so", unknown="no {name}", box="no box", query="no query")
CLOSER = ZoomTool(name="closer", sizing="fit:32:65536:8294400:28", before="Look:", after="")
LOOK_UP = SearchTool(
    name="look_up", source="demo/corpus", source_version="d1", found="{query}: {result}", nothing="nothing of {query}"
)
ALIKE = FixedTool(name="alike", parts=("Quay 4\n", View(image="demo/thumbs/quay4.jpg")))
LOOP = ToolLoop(tools=(CLOSER, LOOK_UP, ALIKE), errors=ERRORS, max_rounds=10)


def request_of(**changes: Any) -> InferenceRequest:
    """A request with a loop."""
    fields: dict[str, Any] = {
        "request_id": "r",
        "sample_id": "s",
        "model": "m",
        "protocol": "search",
        "condition": "V2",
        "turns": (Turn(parts=(SHOWN, "Whose crane is it?")),),
        "loop": LOOP,
        "sampling": Sampling(seed=1),
    }
    return InferenceRequest.model_validate(fields | changes)


def test_a_bundle_brings_its_loops_to_the_worker() -> None:
    """Every tool, text, mark and form of writing comes back as it was declared."""
    kimi = LOOP.model_copy(update={"call": NamedCall(mark="|", prefix="functions.", number_mark=":")})
    requests = (request_of(), request_of(request_id="k", loop=kimi), request_of(request_id="n", loop=None))
    bundle = Bundle(id="b", job_id="j", model="m", image=SHOWN.image, requests=requests)
    assert read_bundle(bundle.model_dump_json().encode()) == bundle


def test_a_response_tells_its_calls_and_why_it_ended() -> None:
    """Those of chats without a loop tell nothing of it, as before."""
    call = ToolCall(name="look_up", arguments='{"query": "cranes"}', status="ok", documents=("d-1",), cached=True)
    turn = TurnResponse(text="...", finish_reason="stop", call=call)
    told: dict[str, Any] = dict(request_of().labels) | {"job_id": "j", "sampling": {}, "worker": "w", "created_at": NOW}
    response = read_response(_written(told | {"turns": [turn.model_dump()], "stop": "rounds", "max_rounds": 10}))
    assert (response.turns[0].call, response.stop, response.max_rounds) == (call, "rounds", 10)
    assert read_response(response.model_dump_json()) == response
    plain = read_response(_written(told | {"turns": [{"text": "B", "finish_reason": "stop"}]})).model_dump()
    assert not {"stop", "max_rounds"} & plain.keys()
    assert "call" not in plain["turns"][0]


def _written(fields: dict[str, Any]) -> str:
    return Response.model_validate(fields).model_dump_json()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"tools": (CLOSER, LOOK_UP.model_copy(update={"name": "closer"}))}, "more than one tool is called closer"),
        ({"tools": ()}, "tools"),
        ({"max_rounds": 65}, "less than or equal to 64"),
        ({"opening": ""}, "opening"),
        ({"call": {"form": "verse"}}, "call"),
        ({"tools": ({**CLOSER.model_dump(), "sizing": "fit:32:9:8"},)}, "sizing 'fit:32:9:8' is none of"),
        ({"tools": ({**LOOK_UP.model_dump(), "top_k": 21},)}, "top_k"),
    ],
)
def test_a_loop_that_cannot_be_played_is_refused(changes: dict[str, Any], told: str) -> None:
    """When it is declared, by the field that is wrong."""
    with pytest.raises(ValidationError, match=told):
        ToolLoop.model_validate(LOOP.model_dump() | changes)


def test_a_loop_needs_an_answer_and_a_picture_to_go_on_from() -> None:
    """The last turn's answer is the model's own, and what is looked at closer is shown."""
    with pytest.raises(ValidationError, match="which is given"):
        request_of(turns=(Turn(parts=(SHOWN, "Whose?"), given="Mine."),))
    with pytest.raises(ValidationError, match=r"closer: the chat has 0 view\(s\)"):
        request_of(turns=(Turn(parts=("Whose?",)),))


def test_a_cell_without_rounds_is_written_as_before() -> None:
    """So that stored specifications stay what they are."""
    assert Cell(protocol="direct", condition="V2").model_dump() == {"protocol": "direct", "condition": "V2"}
    assert Cell(protocol="search", condition="V2", rounds=10).model_dump()["rounds"] == 10


def test_every_response_to_a_loop_tells_its_rounds() -> None:
    """Also one of a chat that nobody could play, so that it counts where it was asked."""
    requests = (request_of(), request_of(request_id="n", loop=None))
    bundle = Bundle(id="b", job_id="j", model="m", image=SHOWN.image, requests=requests)
    lease = Lease(bundle, 2, False, 0.0, "w", "stream", "0-1", 2)
    failure = Failure(type="WorkerCrashedError", message="gone")
    assert [lease.respond(one, failure=failure).max_rounds for one in requests] == [10, None]
