"""Whatever a server elsewhere sends: an answer is what it said to that question, once, and everything else is told."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gigavqa.contract.requests import GenerationConstraints, Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.workers.engines.engine import EngineError, Message
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.engine import RemoteEngine
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY
from tests.workers.misbehaving import KEY, USAGE, Manners, Misbehaving, answer, http, misbehaving, said
from tests.workers.server_faults import REPLIES, STREAMS
from tests.workers.test_remote_streaming import Heard

MOST = 6
"""Asks of one request in these tests."""
ENDLESS = ("hangs", "drips-for-ever", "keep-alive-for-ever", "open-after-its-end")
PATIENCE: dict[str, Any] = {"answer_seconds": 1.0, "most_asks": 2}
"""With replies that never end; all others are waited for as long as a busy machine may take."""
SAMPLING = Sampling(seed=1, max_tokens=50)


@pytest.fixture(scope="module")
def there() -> Iterator[Misbehaving]:
    """The server of all tests here: each asks other questions."""
    with misbehaving(REPLIES, STREAMS) as there:
        yield there


@asynccontextmanager
async def asking(there: Misbehaving, **settings: Any) -> AsyncIterator[RemoteEngine]:
    """An engine that has met the server, and is quick to ask again."""
    quick = {"key": KEY, "key_name": "K", "backoff_seconds": 1e-6, "answer_seconds": 30.0, "most_asks": MOST}
    engine = RemoteEngine(ENTRY, RemoteSettings(there.url, **{**quick, **settings}))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


async def ask(
    engine: RemoteEngine, question: str, grow: OnTokens | None = None, sampling: Sampling = SAMPLING
) -> TurnResponse:
    """Ask one question of texts alone."""
    return await engine.generate([Message("user", (question,))], sampling, question, grow=grow)


async def outcome(engine: RemoteEngine, question: str, grow: OnTokens | None = None) -> str:
    """What becomes of a question, in one line."""
    try:
        turn = await ask(engine, question, grow)
    except EngineError as error:
        return f"{type(error).__name__}: {error}"
    return f"{turn.text}|{turn.finish_reason}"


LOST, NO_JSON, NO_TEXT = "the connection was lost", "an answer is no JSON", "the content of an answer is no text"
FAILED = {
    **{str(status): f"{status}: trouble Bearer [key]" for status in (408, 409, 425, 500, 502, 503, 504, 529)},
    "404": "404: no such route Bearer [key]",
    "404-model-of-one": "404: The model does not exist Bearer [key]",
    **dict.fromkeys(("reset", "half-headers", "cut", "not-http", "bad-gzip"), LOST),
    **dict.fromkeys(("hangs", "drips-for-ever"), "no answer came within 1 s"),
    **dict.fromkeys(("html", "empty", "two-objects", "latin-1", "deep", "cut-without-length"), NO_JSON),
    **dict.fromkeys(("list", "number", "null", "empty-object"), "there is no answer: "),
    "huge-number": "an answer's choices are no list of objects",
    "string": "there is no answer: A",
    "error-in-200": "502: upstream is away",
    "error-in-200-text": "there is no answer: overloaded",
    "deep-error": "500: ",
}
"""Modes that end as a failure of the server, asked as often as may be, with its words or ours."""

BILLED = {
    **dict.fromkeys(("choices-empty", "choices-null"), "there is no answer: "),
    **dict.fromkeys(("choices-object", "choices-of-null"), "an answer's choices are no list of objects"),
    **dict.fromkeys(("content-true", "content-an-object"), NO_TEXT),
    "content-of-numbers": "a part of an answer is neither a text nor an object",
    "thought-an-object": "the thought of an answer is no text",
    "message-a-text": "an answer's message is no object",
    **dict.fromkeys(("message-missing", "text-in-place-of-message"), "an answer has no message"),
    "content-null": "an answer has no text",
    "error-in-200-billed": "there is no answer: Provider returned error",
    **dict.fromkeys(("error-beside-choices", "error-in-choice"), "502: upstream is away"),
    "abort": "the server aborted the request",
}
"""The same, with tokens counted each time: asked less often, and told with what they cost."""

ENDED = {
    "reason-error": "the answer ended as 'error'",
    "reason-unknown": "the answer ended as 'insufficient_system_resource'",
    "reason-number": "the answer ended as '7'",
    "reason-surrogate": "the answer ended as '\ufffd'",
    "malformed-call": "the answer ended as 'malformed_function_call'",
    "reason-missing": "the answer does not say why it ended",
    **dict.fromkeys(("tool-calls", "tool-calls-stop"), "the model called a tool in place of an answer"),
}
"""Modes that end as a failure of the generation."""

REFUSED = {
    **{str(status): f"{status}: flagged Bearer [key]" for status in (401, 402, 403)},
    "301": "301",
    "403-in-200": "403: flagged",
    "quota": "429: You exceeded your current quota",
}
WRONG = {
    **{str(status): f"{status}: wrong Bearer [key]" for status in (400, 405, 413, 418, 422, 451)},
    "204": "204",
    "400-bad-gzip": "400",
    "413-page": "413: Too Large",
    "400-html": "400: <html>Bad Request</html>",
    "400-in-200": "400: wrong",
    "400-surrogate": "400: wrong \ufffd",
    "400-key-escaped": '400: {"key": "[key]"}',
    "429-too-large": "429: Request too large",
}
"""What is wrong with a request, and is asked once."""

ANSWERED = {
    "normal": "A cat|stop",
    **dict.fromkeys(("content-filter", "recitation", "refusal-reason"), "A|content_filter"),
    **dict.fromkeys(("content-filter-empty", "content-filter-without-message", "safety"), "|content_filter"),
    "text-and-refusal": "A\nNo.|content_filter",
    "refusal-field": "I cannot help with A.|content_filter",
    **dict.fromkeys(("length", "max-tokens"), "A|length"),
    "content-empty": "|stop",
    "parts": "A cat|stop",
    **dict.fromkeys(("parts-with-thought", "reasoning"), "<think>hm</think>A|stop"),
    "surrogate": "A \ufffd|stop",
    "emoji-in-halves": "\U0001f600|stop",
    "nul": "A\0|stop",
    "key-in-text": "A [key]|stop",
}
"""Modes with an answer at once; those that stand in no table are answered with A."""

STREAMED = {
    **dict.fromkeys(("cut", "cut-cleanly"), ("A cat|stop", 2)),
    **dict.fromkeys(("cut-for-ever", "empty"), ("ServerFailedError: {6 times: an answer was cut off", MOST)),
    "error": ("ServerFailedError: {6 times: 500: boom", MOST),
    "error-400": ("EngineError: 400: wrong", 1),
    "error-event": ("ServerFailedError: {6 times: there is no answer: boom", MOST),
    "error-beside-choices": ("ServerFailedError: {6 times: 502: boom", MOST),
    "error-reason": ("GenerationFailedError: the server was asked 4 times: the answer ended as 'error'", 4),
    "done-without-reason": ("GenerationFailedError: the server was asked 4 times: the answer does not say why", 4),
    "content-filter": ("A|content_filter", 1),
    "text-and-refusal": ("A\nNo cat.|content_filter", 1),
    "refusal": ("No A.|content_filter", 1),
    "content-a-number": (f"ServerFailedError: {{6 times: {NO_TEXT}", MOST),
    "choices-of-null": ("ServerFailedError: {6 times: an answer's choices are no list of objects", MOST),
    "chunk-no-json": (f"ServerFailedError: {{6 times: {NO_JSON}", MOST),
    "chunk-a-list": ("ServerFailedError: {6 times: there is no answer: 1", MOST),
    "keep-alive-for-ever": ("ServerFailedError: {6 times: no answer came within 1 s", PATIENCE["most_asks"]),
    "emoji-in-halves": ("\U0001f600|stop", 1),
    "half-an-emoji": ("A \ufffd|stop", 1),
    "thought": ("<think>hm</think>A cat|stop", 1),
    "thought-after-text": ("<think>hm</think>A<think>oh</think> cat|stop", 1),
    "thought-alone": ("<think>hm</think>|length", 1),
    "key-in-pieces": ("A [key] cat|stop", 1),
}
"""What becomes of streams, and how often they are asked for; those that stand here not are `A cat`, at once."""


def expected(mode: str, endless: int = PATIENCE["most_asks"]) -> tuple[str, int]:
    """How the outcome of a whole reply begins, and how often it is asked for: `endless` times if it never ends."""
    if mode in FAILED:
        most = endless if mode in ENDLESS else MOST
        return f"ServerFailedError: the server failed at this request {most} times: {FAILED[mode]}", most
    if mode in BILLED:
        return f"ServerFailedError: the server failed at this request 4 times: {BILLED[mode]}", 4
    if mode in ENDED:
        return f"GenerationFailedError: the server was asked 4 times: {ENDED[mode]}", 4
    if mode in REFUSED:
        return f"RequestRefusedError: {REFUSED[mode]}", 1
    if mode in WRONG:
        return f"EngineError: {WRONG[mode]}", 1
    return ANSWERED.get(mode, "A|stop"), 2 if mode.startswith(("once-", "retry-after")) else 1


@pytest.mark.parametrize("mode", REPLIES)
async def test_a_reply_is_recorded_as_what_it_was_and_others_are_answered_once(there: Misbehaving, mode: str) -> None:
    """Asked a bounded number of times, alone or beside others; what is no answer is a failure that says so."""
    wanted, times = expected(mode)
    there.asked.clear()
    async with asking(there, **PATIENCE if mode in ENDLESS else {}) as engine:
        questions = ("normal 1", mode, "normal 2")
        first, found, second = await asyncio.gather(*(outcome(engine, question) for question in questions))
        alone = await outcome(engine, f"{mode} alone")
        stats, phase = await engine.stats(), engine.phase
    assert first == second == "A cat|stop"
    assert (found[: len(wanted)], there.asked[mode]) == (wanted, times)
    assert (alone[: len(wanted)], there.asked[f"{mode} alone"]) == (wanted, times)
    assert "|" not in wanted or found == wanted
    assert {question: there.asked[question] for question in ("normal 1", "normal 2")} == {"normal 1": 1, "normal 2": 1}
    assert ("tokens of prompts" in found) == (times == 4)
    assert phase is None
    assert stats.retries == 2 * (times - 1)
    assert KEY not in found


@pytest.mark.parametrize("mode", STREAMS)
async def test_what_is_told_of_a_stream_is_what_is_recorded(there: Misbehaving, mode: str) -> None:
    """Of the first choice up to its end, however the events are written, cut, or left open."""
    wanted, times = STREAMED.get(mode, ("A cat|stop", 1))
    wanted = wanted.replace("{6 times", f"the server failed at this request {times} times")
    there.asked.clear()
    heard = Heard()
    async with asking(there, **PATIENCE if mode in ENDLESS else {}) as engine:
        found = await outcome(engine, mode, heard)
    assert (found[: len(wanted)], there.asked[mode]) == (wanted, times)
    if "|" in wanted:
        assert found == wanted
        assert heard.text == found.rpartition("|")[0]


COUNTS = {
    "usage-huge": (0, 5),
    "usage-of-many-digits": (0, 5),
    "usage-list": (0, 0),
    "usage-null": (0, 0),
    "usage-negative": (0, 0),
    "usage-as-texts": (100, 5),
}


@pytest.mark.parametrize("mode", COUNTS)
async def test_what_is_no_count_of_tokens_counts_nothing(there: Misbehaving, mode: str) -> None:
    """Nothing but counts from nought to some thousand millions gets into sums."""
    async with asking(there) as engine:
        usage = (await ask(engine, mode)).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == COUNTS[mode]


@pytest.mark.parametrize(
    ("mode", "logprob"),
    [("logprob-nan", -9999.0), ("logprob-infinite", -9999.0), ("logprob-text", None), ("logprob-of-texts", None)],
)
async def test_logprobs_are_read_where_they_were_asked_for_and_are_numbers(
    there: Misbehaving, mode: str, logprob: float | None
) -> None:
    """What has no number is told as none of them."""
    async with asking(there) as engine:
        unasked = await ask(engine, mode)
        asked = await ask(
            engine, mode, sampling=Sampling(seed=1, max_tokens=5, steering=GenerationConstraints(logprobs=0))
        )
    assert unasked.logprobs is None
    assert (asked.logprobs[0].logprob if asked.logprobs else None) == logprob


async def test_the_name_of_the_model_tells_no_key(there: Misbehaving) -> None:
    """Nor halves of letters."""
    async with asking(there) as engine:
        assert (await ask(engine, "key-in-model")).served_as == "echo Bearer [key]"
        assert (await ask(engine, "surrogate-in-model")).served_as == "\ufffd"


async def test_many_refusals_in_a_row_are_not_the_requests_own(there: Misbehaving) -> None:
    """Some list their models to anybody: eight requests fail, the others wait with a sentence."""
    async with asking(there, backoff_seconds=0.05) as engine:
        asked = [asyncio.ensure_future(outcome(engine, f"402 {number}")) for number in range(12)]

        async def waits() -> bool:
            return sum(each.done() for each in asked) == 8 and engine.phase is not None

        await async_wait_until(waits)
        assert engine.phase and engine.phase.name.startswith("waits: payment required (402)")
        assert not await engine.healthy()
        assert await outcome(engine, "normal after") == "A cat|stop"
        assert engine.phase is None
        for each in asked:
            each.cancel()


async def test_a_pause_that_one_request_is_told_is_kept_by_all(there: Misbehaving) -> None:
    """Of many that wait for room, none asks before the time that the server said."""
    async with asking(there) as engine:
        there.asked.clear()
        first = asyncio.ensure_future(outcome(engine, "retry-after-second"))

        async def waits() -> bool:
            return engine.phase is not None and "429: slow" in engine.phase.name

        await async_wait_until(waits)
        began = time.monotonic()
        assert await outcome(engine, "normal meanwhile") == "A cat|stop"
        assert time.monotonic() - began > 0.1
        assert await first == "A|stop"
        assert engine.phase is None


HARMFUL: Manners = {
    **REPLIES,
    "always-busy": http({"error": "slow"}, 429, retry_after_ms="50"),
    "billed-busy": http({"error": {"message": "slow", "code": 429}, "usage": USAGE}),
    "sets-cookie": http(answer("A"), set_cookie="session=one; Path=/"),
    "huge-count": said(usage={"prompt_tokens": 10**9, "completion_tokens": 10**9}),
    "endless-text": said("word " * 2**15),
}
"""Replies that once harmed whoever asked next."""


@pytest.fixture(scope="module")
def harmful() -> Iterator[Misbehaving]:
    """A server of these."""
    with misbehaving(HARMFUL, STREAMS) as there:
        yield there


@pytest.mark.slow
async def test_a_request_that_is_passed_over_waits_by_itself(harmful: Misbehaving) -> None:
    """Others are answered meanwhile, and it is asked for a bounded time."""
    async with asking(harmful, longest_seconds=1.0, backoff_seconds=0.01) as engine:
        busy = asyncio.ensure_future(outcome(engine, "always-busy"))
        for number in range(20):
            assert await outcome(engine, f"normal {number}") == "A cat|stop"
            await asyncio.sleep(0.1)
        assert (await busy).startswith("ServerFailedError: the server failed at this request for")


async def test_a_reply_that_says_too_busy_and_counts_tokens_is_one_of_four(harmful: Misbehaving) -> None:
    """Each of them is billed."""
    harmful.asked.clear()
    async with asking(harmful) as engine:
        assert (await outcome(engine, "billed-busy")).startswith("ServerFailedError")
    assert harmful.asked["billed-busy"] == 4


async def test_what_one_reply_sets_is_not_sent_with_the_next_request(harmful: Misbehaving) -> None:
    """Cookies."""
    async with asking(harmful) as engine:
        for question in ("sets-cookie", "normal"):
            await ask(engine, question)
    assert not any("cookie:" in head.lower() for head in harmful.heads)


async def test_a_count_beyond_the_context_holds_up_nobody(harmful: Misbehaving) -> None:
    """Where tokens a minute are bounded."""
    async with asking(harmful, tokens_a_minute=60_000_000) as engine:
        await ask(engine, "huge-count")
        async with asyncio.timeout(5):
            assert await outcome(engine, "normal") == "A cat|stop"


async def test_a_text_beyond_what_was_asked_for_is_no_answer(harmful: Misbehaving) -> None:
    """Characters are bounded by the tokens that it may have."""
    async with asking(harmful) as engine:
        assert "an answer is longer than" in await outcome(engine, "endless-text")
