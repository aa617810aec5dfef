"""Dialogues beside each other: what they ask goes out together by stage; who has no answer yet stays open."""

from typing import Any

import pytest

from gigavqa.construction.calls.call_desk import DroppedCall, OpenCall
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.vistahop import dialogues
from gigavqa.construction.vistahop.chain_questions import FamiliarityQuestion, HopQuestion
from gigavqa.construction.vistahop.dialogues import Dialogue, OpenDialogue, asked, play_dialogues
from tests.construction.vistahop.scripted import ScriptedDesk, entity


def scores(name: str, steps: int) -> Dialogue[list[Any]]:
    """Ask for a score several times, and once for a choice; return all answers."""
    found = []
    for step in range(steps):
        found += [(yield from asked(FamiliarityQuestion((entity(f"{name}{step}"),))))]
    found += yield HopQuestion(entity(name), (), (), 1), FamiliarityQuestion((entity(f"{name}-end"),))
    return found


def reply(call: ModelCall) -> Any:
    """Score each entity 0.2; choose none."""
    if call.stage == "3-next_hops":
        return {"indices": []}
    name = call.schema["properties"]["familiarity_scores"]["items"]["properties"]["entity"]["enum"][0]  # type: ignore[index]
    if name == "b1":
        return OpenCall(call, "2 of --at-most-calls 2 are asked")
    return DroppedCall(call, "schema") if name == "c0" else {"familiarity_scores": [{"entity": name, "score": 0.2}]}


def test_what_all_ask_next_goes_out_together_stage_by_stage() -> None:
    """Three dialogues of one and two steps take three rounds of calls; each is told its own answers."""
    desk = ScriptedDesk(reply)
    work = [(name, scores(name, steps)) for name, steps in (("a", 1), ("b", 2), ("c", 1))]
    found = dict(play_dialogues(desk, work, lambda _: "m"))
    assert [sorted(call.stage for call in calls) for calls in desk.asked] == [
        ["3-familiarity"] * 3,
        ["3-familiarity"] * 3,
        ["3-next_hops"] * 2,
    ]
    assert found["a"] == [(0.2,), (), (0.2,)]
    assert found["b"] == OpenDialogue("2 of --at-most-calls 2 are asked"), "a later run goes on from there"
    assert found["c"] == [None, (), (0.2,)], "a reply that could not be read is no answer"


def test_a_run_holds_so_many_at_once_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that ask nothing end at once, and others take their place."""
    monkeypatch.setattr(dialogues, "MOST_TOGETHER", 3)
    desk = ScriptedDesk(reply)

    def idle() -> Dialogue[list[Any]]:
        return []
        yield ()

    work = ((f"x{each}", scores(f"x{each}", 1) if each % 2 else idle()) for each in range(14))
    assert len(dict(play_dialogues(desk, work, lambda _: "m"))) == 14
    assert max(len(calls) for calls in desk.asked) == 3
