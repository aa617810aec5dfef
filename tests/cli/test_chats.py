"""Chats at the terminal: every round in a few lines, and nothing that the terminal obeys."""

from gigavqa.cli.chats import chat_lines
from gigavqa.contract.responses import Failure, UnreadableResponse
from tests.evaluation.responses import MODEL, response
from tests.reports.chats import ZOOMS, call, chat, turn
from tests.reports.pages import raster


def test_each_round_tells_thought_call_pictures_and_result() -> None:
    """In their order, with the answer in full and why the chat ended."""
    lines = [*chat_lines(chat())]
    image = raster().view.image
    assert lines[:4] == [
        f"c1  {MODEL} S0 V2 n10",
        "  round 1: It is small.",
        "    zoom {}  [ok]",
        f"    [IMAGE 1]: {image} {ZOOMS['c' * 32]}",
    ]
    assert lines[4] == "    -> <r>[IMAGE 1]</r>"
    assert "    zoom {}  [bad_box]" in lines
    assert lines[-3:] == ["  round 5: Two.", "    Final answer: B", "  ended after 5 of at most 10 rounds: answered"]
    assert max(map(len, lines)) < 320


def test_a_chat_tells_how_it_failed() -> None:
    """Behind the rounds that it had, or alone; so does one that cannot be read."""
    failure = Failure(type="SearchDownError", message="no page")
    assert [*chat_lines(chat(7, None, failure=failure, repeat=1))][-1] == "  failed: SearchDownError: no page"
    assert [*chat_lines(response("c2", None))] == [f"c2  {MODEL} S0 V2", "  failed: EngineDiedError: gone"]
    gone = UnreadableResponse(
        job_id="j", request_id="r", sample_id="c3", recorded="completed", part=None, unreadable="its part is gone"
    )
    assert [*chat_lines(gone)] == ["c3  r", "  cannot be read now: its part is gone"]


def test_a_terminal_obeys_nothing_that_a_model_wrote() -> None:
    """Neither in a thought, a call, a result nor an answer."""
    bad = "\x1b]0;owned\x07\x9b31m"
    made = call("zoom" + bad, arguments=bad, result=bad)
    lines = [*chat_lines(chat(turns=(turn(f"<think>{bad}</think>", made), turn(f"x{bad}"))))]
    assert len(lines) == 7
    assert all(line.isprintable() for line in lines)
