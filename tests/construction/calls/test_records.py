"""The record of calls: torn lines, damage, and what a dry run says before and after anything is asked."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gigavqa.construction.build_summary import BuildSummary
from gigavqa.construction.calls.accounts import FORECAST_COLUMNS, CallAccount, call_accounts, forecast_rows
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.construction.calls.call_log import CallLog, RecordedReply, ReplyUsage, Spending
from gigavqa.construction.calls.errors import CallLogError, ReplyFaultError
from gigavqa.construction.calls.estimates import StageForecast, Workload
from gigavqa.construction.calls.model_call import CallPicture
from gigavqa.construction.calls.replies import read_reply
from gigavqa.construction.page import render_page
from gigavqa.tiling.geometry import Size
from tests.construction.calls.asking import SCHEMA, call
from tests.construction.calls.conftest import Service, priced
from tests.service.openai.pictures import png
from tests.workers.examples import ENTRY

Desk = Callable[..., CallDesk]
LIST = {"type": "array", "items": {"type": "object", "required": ["about"]}}


def written(path: Path) -> CallLog:
    """A record of two calls, one of them answered."""
    log = CallLog(path)
    log.add_calls([call(1), call(2)])
    log.ask({call(1).id: 0.5, call(2).id: 0.25})
    log.add_results([RecordedReply(call(1).id, "the answer", "stop", ReplyUsage(10, 4, 2, 0.125))])
    log.close()
    return log


def test_a_torn_line_is_cut_off_wherever_it_is_torn(tmp_path: Path) -> None:
    """Of every beginning of a record, what is whole is read, and what comes next is read behind it."""
    path = tmp_path / "whole.jsonl"
    written(path)
    content = path.read_bytes()
    for size in [*range(0, len(content), 61), len(content) - 1, len(content)]:
        torn = tmp_path / "torn.jsonl"
        torn.write_bytes(content[:size])
        log = CallLog(torn)
        log.add_calls([call(1)])
        log.add_results([RecordedReply(call(1).id, "late", "stop", ReplyUsage(1, 0, 1, None))])
        log.close()
        found = CallLog(torn).reply(call(1).id)
        assert found is not None and found.text == ("the answer" if size == len(content) else "late")


def test_what_is_owed_is_known_until_it_is_settled(tmp_path: Path) -> None:
    """An answered call costs what it cost, one that is out what it may cost, and one asked again both."""
    (spent,) = written(tmp_path / "a.jsonl").spending.values()
    assert (spent.asked, spent.answered, spent.dollars, spent.at_most) == (2, 1, 0.125, 0.25)
    again = CallLog(tmp_path / "a.jsonl")
    again.ask({call(2).id: 0.25})
    (spent,) = again.spending.values()
    assert spent.at_most == 0.5


def test_a_damaged_record_is_named_by_its_line(tmp_path: Path) -> None:
    """Nothing is asked on top of it."""
    path = tmp_path / "a.jsonl"
    written(path)
    path.write_bytes(path.read_bytes().replace(b'{"event":"asked"', b'{"event":"asked', 1))
    with pytest.raises(CallLogError, match=r"a.jsonl:3 is no event of a record of calls; put the file aside"):
        CallLog(path)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"about": "e1", "score": 1}', {"about": "e1", "score": 1}),
        ('Sure.\n```json\n{"about": "e1", "score": 1}\n```\nDone.', {"about": "e1", "score": 1}),
        ("<think>{\"about\": 1}</think> {'about': 'e1', 'score': 0.5,}", {"about": "e1", "score": 0.5}),
        ('Like {"about": "?"}: {"about": "e1", "score": 0}', {"about": "e1", "score": 0}),
        ('{"about": "e1", "score": 2}', "schema"),
        ('{"about": "\\ud800", "score": 1}', "no-json"),
        ('{"about": "e1", "score": NaN}', "no-json"),
        ('{"about": "e1"', "unfinished"),
        ("It is rather well known.", "no-json"),
        ("<think>hm", "unfinished"),
        ("[" * 5000, "no-json"),
        ("I cannot assist with that.", "refused"),
    ],
)
def test_replies_are_read_loosely_and_then_held_to_the_schema(reply: str, value: object) -> None:
    """The last value that fits is the reply; else there is a reason."""
    try:
        assert read_reply(reply, "stop", SCHEMA) == value
    except ReplyFaultError as fault:
        assert fault.reason == value


def test_lists_and_texts_are_replies_too() -> None:
    """A list amid prose; and of a call without a schema the text, without thoughts."""
    assert read_reply('Here: [{"about": "a"}, {"about": "b"}] [1]', "stop", LIST) == [{"about": "a"}, {"about": "b"}]
    assert read_reply("<think>well</think>\nEiffel Tower\nRoute 66", "stop", None, str.splitlines) == [
        "Eiffel Tower",
        "Route 66",
    ]


def test_a_dry_run_tells_calls_tokens_and_money_and_asks_nothing(
    service: Service, open_desk: Desk, tmp_path: Path
) -> None:
    """Hours are unknown until something was measured; afterwards said and spent stand beside each other."""
    (tmp_path / "a.png").write_bytes(png(1, (640, 512)))
    calls = [call(each, pictures=(CallPicture.of(tmp_path / "a.png"),)) for each in range(4)]
    later = StageForecast("relations", ENTRY.id, None, None, after="familiarity")
    desk = open_desk(priced)
    (told, _) = desk.forecast([*calls, calls[0]], [later])
    assert told.left is not None and told.left == told.whole
    text, visual = told.left.text_tokens, told.left.visual_tokens
    assert visual == 4 * ENTRY.visual_budget.plan(Size(640, 512)).visual_tokens
    assert told.left.completion_tokens == 200 and told.left.hours is None
    assert told.left.dollars == pytest.approx((text + visual) / 1000 + 0.4)
    first, second = forecast_rows([told, later])
    assert dict(zip(FORECAST_COLUMNS, first, strict=True))["hours"] == "unknown"
    assert second[2:4] == ("known after familiarity", "unknown")
    assert not service.server.asked and not (desk.folder.path / "calls/familiarity.jsonl").exists()

    assert len(list(desk.ask(calls[:3]))) == 3
    (again,) = open_desk(priced).forecast(calls)
    assert again.left is not None and again.left.calls == 1 and again.left.hours is not None
    assert again.left.completion_tokens == 10, "what answers had on average"
    account, unasked = call_accounts(desk.folder)
    assert (account.spent.answered, account.spent.completion_tokens, account.outcome["read"]) == (3, 30, 3)
    assert account.spent.dollars == pytest.approx(3 * 0.12)
    assert (unasked.stage, unasked.forecast, unasked.spent.asked) == ("relations", None, 0)
    assert json.loads(json.dumps(account.document()))["forecast"]["calls"] == 4


def test_the_page_of_a_build_names_the_models_that_took_part_and_what_they_took() -> None:
    """Said beside spent; without calls it says that no model took part."""
    made = BuildSummary(
        "chains", "COCO", 1, 1, {}, {"counts": {}, "sentences": []}, (), {"after": []}, 0, "questions", "x"
    )
    spent = Spending(asked=7, answered=6, failed=1, prompt_tokens=4321, dollars=1.25)
    account = CallAccount("relations", "big-model", Workload(calls=6, dollars=2.5), spent, {"dropped": {"schema": 2}})
    page = render_page(made, [], lambda _: b"", [account])
    assert "Models took part: big-model." in page
    for told in ("4,321", "2.50", "1.25", "2 schema"):
        assert told in page
    assert "No model took part" in render_page(made, [], lambda _: b"")
