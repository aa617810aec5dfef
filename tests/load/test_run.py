"""Figures of a service whose delays are known: bounds, since no machine keeps time exactly."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gigavqa.load import run as run_module
from gigavqa.load.errors import ServiceRefusedError
from gigavqa.load.notes import notes
from gigavqa.load.prompts import Picture, QuestionPrompts, RegionOptions, TextPrompts, name_region, questions_about
from gigavqa.load.run import Load, Run
from gigavqa.load.service import MeasuredService, chat_address
from gigavqa.load.tally import Tally
from gigavqa.tiling.errors import ImageNotFoundError
from gigavqa.tiling.geometry import Region, Size
from tests.load.streaming_server import FIRST, GAP, PROMPT_TOKENS, TOKENS, StreamingServer, streaming_server

MS = 1000
SLACK = 400.0
"""Milliseconds by which a busy machine may be late; a figure that holds something else misses its bounds by more."""


@pytest.fixture(scope="module")
def there() -> Iterator[StreamingServer]:
    """One server for all tests."""
    with streaming_server() as server:
        yield server


async def measured(
    there: StreamingServer, model: str, load: Load, *, patience: float = 60.0, stop_after: float | None = None,
    checked: bool = True, **objectives: float,
) -> tuple[Run, dict[str, Any]]:  # fmt: skip
    """A finished run against the model, and its figures."""
    there.chats.clear()
    there.most_open = 0
    async with httpx.AsyncClient(trust_env=False) as client:
        service = MeasuredService(client, chat_address(there.url), model, {"max_tokens": 5}, patience)
        run = Run(load, service, TextPrompts(8, load.seed), Tally(objectives))
        if checked:
            await run.check()
        if stop_after is not None:
            asyncio.get_running_loop().call_later(stop_after, run.stop.set)
        await run.measure()
    return run, run.tally.figures()


async def test_times_are_those_of_the_service(there: StreamingServer) -> None:
    """Of the first token, between tokens, of each further token, and of the whole."""
    _, figures = await measured(there, "steady", Load(users=2, requests=6))
    bounds = {
        "ttft": FIRST * MS,
        "itl": GAP * MS,
        "tpot": GAP * MS,
        "e2el": (FIRST + (TOKENS - 1) * GAP) * MS,
    }
    for name, least in bounds.items():
        assert 0.9 * least <= figures[f"median_{name}_ms"] <= least + SLACK, name
        assert figures[f"median_{name}_ms"] <= figures[f"p90_{name}_ms"] <= figures[f"p99_{name}_ms"]


async def test_requests_and_tokens_are_counted(there: StreamingServer) -> None:
    """By the service's own counts, over the time from the first request's start to the last one's end."""
    run, figures = await measured(there, "steady", Load(users=3, requests=7))
    assert (figures["completed"], figures["failed"]) == (7, 0)
    assert figures["total_output_tokens"] == 7 * TOKENS
    assert figures["total_input_tokens"] == 7 * PROMPT_TOKENS
    assert figures["output_throughput"] == pytest.approx(7 * TOKENS / figures["duration"])
    assert figures["request_throughput"] == pytest.approx(7 / figures["duration"])
    assert (there.most_open, run.most_open) == (3, 3)


async def test_warm_up_is_left_out_and_said(there: StreamingServer) -> None:
    """With the request that is sent before all others."""
    run, figures = await measured(there, "steady", Load(users=2, requests=3, warmup=4))
    assert (figures["completed"], len(there.chats)) == (3, 8)
    assert notes(run)[0] == "left out: the request before all others and 4 requests of warm-up"


async def test_each_chat_is_another_and_the_same_seed_asks_the_same(there: StreamingServer) -> None:
    """So that no cache answers, and a measurement can be repeated."""
    asked = []
    for _ in range(2):
        await measured(there, "steady", Load(users=2, requests=4, seed=3))
        asked.append(sorted(chat["messages"][0]["content"] for chat in there.chats))
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == 5


@pytest.mark.parametrize(("model", "told"), [("uncounted", "refuses `stream_options"), ("silent", "sent no counts")])
async def test_tokens_without_counts_are_chunks_and_that_is_said(there: StreamingServer, model: str, told: str) -> None:
    """One token a chunk; tokens of the prompt are then unknown."""
    run, figures = await measured(there, model, Load(users=1, requests=2))
    assert figures["total_output_tokens"] == 2 * TOKENS
    assert (figures["total_input_tokens"], figures["total_token_throughput"]) == (None, None)
    assert any("counted by chunks" in note and told in note for note in notes(run))


async def test_chunks_of_several_tokens_count_as_the_service_counts_them(there: StreamingServer) -> None:
    """The time of each further token is the whole wait, divided among all of them."""
    _, figures = await measured(there, "bursts", Load(users=1, requests=2))
    assert figures["total_output_tokens"] == 2 * TOKENS
    assert figures["median_tpot_ms"] < figures["median_itl_ms"]


async def test_a_thought_is_a_first_token(there: StreamingServer) -> None:
    """Whoever waits for the first sign of life sees it."""
    _, figures = await measured(there, "thinking", Load(users=1, requests=1))
    assert figures["total_output_tokens"] == TOKENS
    assert figures["mean_ttft_ms"] < figures["mean_e2el_ms"] - 2 * GAP * MS


@pytest.mark.parametrize(
    ("model", "kind", "told"),
    [
        ("busy", "status 429", "too many chats"),
        ("breaks", "broken stream", ""),
        ("ends", "broken stream", "without `finish_reason`"),
        ("whole", "no stream", "came whole"),
        ("refuses", "error in the stream", "the engine is gone"),
        ("empty", "no text", "without any text"),
        ("hangs", "timeout", "within 0.2 s"),
    ],
)
async def test_what_fails_is_told_by_its_kind(there: StreamingServer, model: str, kind: str, told: str) -> None:
    """And what the service said of it; nothing of it counts as an answer."""
    _, figures = await measured(there, model, Load(users=2, requests=2), patience=0.2, checked=False)
    assert figures["failed_by_kind"] == {kind: 2}
    assert told in figures["failed_told"][kind]
    assert (figures["completed"], figures["total_output_tokens"], figures["mean_ttft_ms"]) == (0, 0, None)


async def test_a_service_that_is_not_there_is_a_failed_connection(there: StreamingServer) -> None:
    """Whatever the address."""
    gone = StreamingServer(url="http://127.0.0.1:1")
    _, figures = await measured(gone, "steady", Load(users=1, requests=1), checked=False)
    assert figures["failed_by_kind"] == {"connection": 1}


async def test_failures_lower_no_time_of_the_answers(there: StreamingServer) -> None:
    """Half the chats are refused at once."""
    _, figures = await measured(there, "falters", Load(users=1, requests=6))
    assert (figures["completed"], figures["failed_by_kind"]) == (3, {"status 503": 3})
    assert figures["median_ttft_ms"] >= 0.9 * FIRST * MS


async def test_a_service_that_refuses_the_first_request_is_not_loaded(there: StreamingServer) -> None:
    """The sentence has what it said, and the models that it has."""
    with pytest.raises(ServiceRefusedError, match=r"status 404 \(no such model\).*it lists steady, busy"):
        await measured(there, "nowhere", Load(users=50, requests=50))
    assert len(there.chats) == 1


async def test_goodput_counts_answers_within_every_objective(there: StreamingServer) -> None:
    """None within half the time of the first token, all within a minute."""
    _, strict = await measured(there, "steady", Load(users=1, requests=2), ttft=FIRST / 2, tpot=60.0)
    _, lenient = await measured(there, "steady", Load(users=1, requests=2), ttft=60.0, tpot=60.0)
    assert (strict["request_goodput"], lenient["request_goodput"]) == (0, lenient["request_throughput"])


async def test_a_rate_does_not_wait_for_answers(there: StreamingServer) -> None:
    """Ten arrivals within some hundredths of a second are open together, and their moments are the seed's."""
    run, figures = await measured(there, "steady", Load(rate=500.0, requests=10, seed=1))
    assert figures["completed"] == 10
    assert run.most_open > 2
    assert run.sending_late.count == 10


async def test_a_time_ends_the_sending_and_not_what_is_open(there: StreamingServer) -> None:
    """Every chat that was sent is answered and counted."""
    _, figures = await measured(there, "steady", Load(users=4, seconds=0.2))
    assert figures["completed"] == len(there.chats) - 1
    assert figures["duration"] >= 0.2


async def test_what_is_interrupted_tells_what_was_measured(there: StreamingServer) -> None:
    """Open requests are left out, and neither answers nor failures."""
    run, figures = await measured(there, "steady", Load(users=2, seconds=600.0), stop_after=0.6)
    assert figures["completed"] >= 2
    assert figures["failed"] == 0
    assert any(note.startswith("interrupted: ") for note in notes(run))


async def test_arrivals_beyond_what_may_be_open_are_counted_and_not_sent(
    there: StreamingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a service which answers nothing takes no more memory than that."""
    monkeypatch.setattr(run_module, "MOST_OPEN", 2)
    run, figures = await measured(there, "hangs", Load(rate=500.0, requests=9, seed=1), patience=0.5, checked=False)
    assert figures["failed_by_kind"] == {"not sent": 7, "timeout": 2}
    assert any("slower than the rate" in note for note in notes(run))


async def test_an_error_of_cutting_pictures_ends_the_measurement(there: StreamingServer) -> None:
    """As itself, whichever of the users met it."""

    def broken(picture: Picture, region: Region) -> str:
        raise ImageNotFoundError(f"{picture.name} is gone")

    questions = questions_about([Picture("a.png", "", Size(400, 400))])
    async with httpx.AsyncClient(trust_env=False) as client:
        service = MeasuredService(client, chat_address(there.url), "steady", {}, 60.0)
        run = Run(
            Load(users=3, requests=9), service, QuestionPrompts(questions, RegionOptions(1, 64), 0, broken), Tally()
        )
        with pytest.raises(ImageNotFoundError, match=r"a\.png is gone"):
            await run.measure()


async def test_a_measurement_ends_when_every_region_was_sent(there: StreamingServer) -> None:
    """And says how to go on."""
    questions = questions_about([Picture("a.png", "", Size(66, 64))])
    async with httpx.AsyncClient(trust_env=False) as client:
        service = MeasuredService(client, chat_address(there.url), "steady", {}, 60.0)
        prompts = QuestionPrompts(questions, RegionOptions(1, 64), 0, name_region)
        run = Run(Load(users=2, seconds=600.0), service, prompts, Tally())
        await run.check()
        await run.measure()
    assert run.tally.completed == 2
    assert any(note.startswith("ended early: all 3 chats") for note in notes(run))
