"""Calls are asked once each, whatever the model server does; what cannot be read is asked again, and then dropped."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gigavqa.construction.calls.budgets import CallBudget, Money
from gigavqa.construction.calls.call_desk import CallDesk, CallReading, DroppedCall, OpenCall
from gigavqa.construction.calls.delivery import MOST_CHATS
from gigavqa.construction.calls.errors import BatchRefusedError, BudgetInvalidError, CallInvalidError
from gigavqa.construction.calls.model_call import CallPicture, CallSampling
from tests.construction.calls.asking import call
from tests.construction.calls.conftest import Service, priced
from tests.construction.calls.model_server import plain
from tests.service.openai.pictures import png
from tests.workers.remote_server import Mood

Desk = Callable[..., CallDesk]
FEW, MANY = MOST_CHATS, MOST_CHATS + 8
LOST = Mood(drops=True)


def batches(service: Service) -> int:
    """How many batches the gateway knows of."""
    return len(service.gateway.client.get("/v1/batches", params={"limit": 100}).json()["data"])


@pytest.mark.parametrize("number", [FEW, MANY])
def test_each_call_is_asked_once_as_chats_where_they_are_few_and_as_a_batch_where_they_are_many(
    service: Service, open_desk: Desk, number: int
) -> None:
    """The readings come in the calls' order; the same again, by another desk, asks nothing."""
    calls, before = [call(each) for each in range(number)], batches(service)
    readings = list(open_desk().ask(calls))
    assert [each.value for each in readings if isinstance(each, CallReading)] == [
        {"about": f"e{each}", "score": 0.5} for each in range(number)
    ]
    assert list(open_desk().ask([*calls, calls[0]])) == [*readings, readings[0]]
    assert service.server.asked == {(f"e{each}", 0): 1 for each in range(number)}
    assert batches(service) - before == (number > FEW)


@pytest.mark.parametrize("number", [24, MANY])
def test_nothing_is_answered_twice_where_a_third_is_lost_or_malformed(
    service: Service, open_desk: Desk, number: int
) -> None:
    """Lost answers are asked for again, malformed ones as calls of their own, and each is answered once in full."""

    def answer(about: str, before: int) -> str | Mood:
        kind = int(about[1:]) % 6
        return LOST if kind == 0 and not before else "no idea" if kind == 1 else plain(about, before)

    service.server.begin(answer)
    outcomes = list(open_desk().ask(call(each) for each in range(number)))
    wrong = [each for each in range(number) if each % 6 == 1]
    assert [each for each, one in enumerate(outcomes) if isinstance(one, DroppedCall)] == wrong
    assert sum(isinstance(each, CallReading) for each in outcomes) == number - len(wrong)
    assert set(service.server.told.values()) == {1}, "no answer was asked for a second time"
    assert Counter(about for about, _ in service.server.told) == {
        f"e{each}": 3 if each in wrong else 1 for each in range(number)
    }
    lost = sum(each % 6 == 0 for each in range(number))
    assert service.server.asked.total() == service.server.told.total() + lost


def test_a_malformed_reply_is_shown_again_with_what_is_wrong_with_it(service: Service, open_desk: Desk) -> None:
    """The second answer is read; both prompts and both replies stay in the build's folder."""
    service.server.begin(lambda about, _: '{"about": "e1", "score": 7}')
    desk = open_desk()
    asked = list(desk.ask([call(1)]))
    assert asked == [DroppedCall(call(1), "schema")]
    last = service.server.chats[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert "score: 7 is greater than the maximum of 1" in str(last[-1]["content"])
    lines = [json.loads(line) for line in desk.folder.file("calls/familiarity.jsonl").read_text().splitlines()]
    assert Counter(line["event"] for line in lines) == {"call": 3, "asked": 3, "answered": 3, "ended": 3}
    assert desk.folder.read_json("calls/outcomes.json") == {
        "familiarity": {"read": 0, "dropped": {"schema": 1}, "open": {}}
    }


@pytest.mark.parametrize(
    ("reply", "finish", "reason"),
    [
        ("x" * 1_000_000, "stop", "long"),
        ("", "stop", "empty"),
        ('{"about": "e1", "sc', "length", "unfinished"),
        ("I'm sorry, but I can't identify people.", "stop", "refused"),
        ("", "content_filter", "refused"),
    ],
)
def test_replies_that_are_none_are_dropped_by_reason(
    service: Service, open_desk: Desk, reply: str, finish: str, reason: str
) -> None:
    """Of a megabyte, empty, cut off, refused: who refuses is not asked again, the others twice."""
    service.server.begin(lambda *_: reply, finish=finish)
    asked = call(1, sampling=CallSampling(max_tokens=30_000))
    assert list(open_desk().ask([asked])) == [DroppedCall(asked, reason)]
    assert service.server.asked.total() == (1 if reason == "refused" else 3)


def test_a_request_that_fails_is_no_rejection_and_is_asked_by_a_later_run(service: Service, open_desk: Desk) -> None:
    """It stays open with what was said of it."""
    service.server.begin(lambda about, before: Mood(500, {"error": {"message": "CUDA error"}}))
    (left,) = open_desk().ask([call(1)])
    assert isinstance(left, OpenCall) and "failed" in left.why
    service.server.begin(plain)
    (read,) = open_desk().ask([call(1)])
    assert isinstance(read, CallReading)
    assert service.server.asked.total() == 1


def test_a_bound_on_calls_is_kept_over_runs_complaints_included(service: Service, open_desk: Desk) -> None:
    """Five of seven are asked, whatever is asked for again; a larger bound goes on where that one stopped."""
    calls = [call(each) for each in range(7)]
    for _ in range(2):
        outcomes = list(open_desk(budget=CallBudget(calls=5)).ask(calls))
        assert [type(each) for each in outcomes] == [CallReading] * 5 + [OpenCall] * 2
        assert outcomes[-1].why == "5 of --at-most-calls 5 are asked"  # type: ignore[union-attr]
        assert service.server.asked.total() == 5
    assert {type(each) for each in open_desk(budget=CallBudget(calls=7)).ask(calls)} == {CallReading}
    assert service.server.asked.total() == 7


def test_a_bound_on_money_is_kept_by_what_calls_may_cost_at_most(service: Service, open_desk: Desk) -> None:
    """A call costs 0.12 dollars, and more at most before anybody knows: of a dollar eight calls at most are paid."""
    budget = CallBudget(money=Money.parse("0.8 EUR", {"EUR": 1.25}))
    desk = open_desk(priced, budget=budget)
    outcomes = list(desk.ask(call(each) for each in range(20)))
    assert 0 < sum(isinstance(each, CallReading) for each in outcomes) < 9
    (spent,) = desk.spending.values()
    assert spent.dollars == pytest.approx(0.12 * spent.answered) and spent.at_most == pytest.approx(0)
    assert spent.dollars <= budget.money.dollars  # type: ignore[union-attr]
    why = outcomes[-1].why  # type: ignore[union-attr]
    assert f"{spent.dollars / 1.25:.2f} EUR of --at-most '0.8 EUR' are spent" in why


def test_money_without_prices_or_a_rate_is_refused(service: Service, open_desk: Desk) -> None:
    """Before anything is asked, and with what helps."""
    with pytest.raises(BudgetInvalidError, match=r"states no prices.*\[remote.prices\].*--at-most-calls"):
        list(open_desk(budget=CallBudget(money=Money.parse("1 usd", {}))).ask([call(1)]))
    with pytest.raises(BudgetInvalidError, match="no rate of EUR is known; say --rate EUR=DOLLARS"):
        Money.parse("20 EUR", {})
    with pytest.raises(BudgetInvalidError, match="'lots' is no amount of money"):
        Money.parse("lots", {})
    assert not service.server.asked


def test_pictures_are_uploaded_once_and_an_answer_hangs_on_their_content_alone(
    service: Service, open_desk: Desk, tmp_path: Path
) -> None:
    """Two calls about one picture and a region of it upload it once, as does a later run; another content asks anew."""
    path, moved = tmp_path / "a.png", tmp_path / "b.png"
    path.write_bytes(png(1))
    moved.write_bytes(png(1))
    shown = [CallPicture.of(path), CallPicture.of(path, region="pct:0,0,50,50")]
    calls = [call(number, pictures=(picture,)) for number, picture in enumerate(shown)]
    before = len(service.gateway.client.get("/v1/files", params={"purpose": "vision"}).json()["data"])
    assert {type(each) for each in open_desk().ask(calls)} == {CallReading}
    assert {type(each) for each in open_desk().ask([call(7, pictures=(CallPicture.of(moved),))])} == {CallReading}
    after = len(service.gateway.client.get("/v1/files", params={"purpose": "vision"}).json()["data"])
    assert after - before == 1
    assert call(0, pictures=(CallPicture.of(moved),)).id == calls[0].id
    assert len(service.server.pictures) >= 2, "whole and region are two pictures"
    path.write_bytes(png(2))
    with pytest.raises(CallInvalidError, match="changed since the call was made"):
        list(open_desk().ask([call(8, pictures=(CallPicture(path, "0" * 64),))]))


def test_a_model_that_there_is_not_stops_the_run_with_what_the_gateway_says(service: Service, open_desk: Desk) -> None:
    """As a batch is refused; nothing was asked, and no call is dropped."""
    desk = open_desk()
    with pytest.raises(BatchRefusedError, match=r"refused 40 calls: .*no-such-model"):
        list(desk.ask(call(each, model="no-such-model") for each in range(MANY)))
    assert not service.server.asked
    assert not desk._logs["familiarity"].open_batches


def test_calls_of_two_stages_and_calls_that_ask_nothing_are_refused(open_desk: Desk) -> None:
    """By a sentence."""
    with pytest.raises(CallInvalidError, match="stage other are asked among those of stage familiarity"):
        list(open_desk().ask([call(1), call(2, stage="other")]))
    with pytest.raises(CallInvalidError, match="its text is empty"):
        call(1, text=" ")
    with pytest.raises(CallInvalidError, match="write small letters"):
        call(1, stage="../x")
