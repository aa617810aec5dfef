"""The edge to servers elsewhere: any bytes are an answer that can be recorded, or an error that is expected."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gigavqa.contract.codec import pack
from gigavqa.contract.responses import FINISH_REASONS, TurnResponse, Usage
from gigavqa.contract.schema_versions import unpack_response
from gigavqa.workers.engines.engine import EngineError, GenerationFailedError
from gigavqa.workers.engines.remote.answers import RemoteAnswer
from gigavqa.workers.engines.remote.error_replies import RetryLaterError, ServerFailedError
from gigavqa.workers.engines.remote.retry_budget import RetryBudget
from gigavqa.workers.engines.remote.streaming import EventStreamParser
from tests.store.examples import answer, make_request
from tests.workers.examples import ENTRY
from tests.workers.test_remote_streaming import Heard

KEY = "sk-test-4f1d0c9b8a7e6f5d4c3b2a19"
NAMES = (
    *("choices", "index", "message", "delta", "content", "text", "type", "thinking", "reasoning", "refusal", "error"),
    *("finish_reason", "usage", "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens"),
    *("logprobs", "token", "logprob", "bytes", "top_logprobs", "model", "code", "tool_calls"),
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.integers(min_value=2**62)
    | st.floats()
    | st.sampled_from(["stop", "length", "A", "", "\ud83d", "\ude00", "error", "502", "1", KEY, KEY[:9], KEY[9:]])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
)
TEXTS = st.sampled_from(["A", " cat", "\ud83d", "\ude00", KEY, KEY[:9], KEY[9:], ""])
PARTS = st.lists(TEXTS | st.fixed_dictionaries({"text": TEXTS}) | VALUES, max_size=3)
MESSAGES = st.fixed_dictionaries(
    {"content": TEXTS | TEXTS | PARTS}, optional={"reasoning": TEXTS, "refusal": TEXTS, "tool_calls": VALUES}
)
REASONS = st.sampled_from(["stop", "stop", "length", "SAFETY", None, "error", 7])
LOGPROBS = st.fixed_dictionaries(
    {"content": st.lists(st.fixed_dictionaries({"token": TEXTS, "logprob": st.floats()}), max_size=2) | VALUES}
)
CHOICES = st.fixed_dictionaries(
    {"message": MESSAGES, "delta": MESSAGES, "finish_reason": REASONS},
    optional={"logprobs": LOGPROBS, "index": st.sampled_from([0, 0, 1, None])},
)
GROWING = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"delta": MESSAGES}), min_size=1, max_size=1)}
)
USAGES = st.fixed_dictionaries({"prompt_tokens": LEAVES, "completion_tokens": LEAVES}) | VALUES
USUAL = st.fixed_dictionaries(
    {"choices": st.lists(CHOICES, min_size=1, max_size=2)}, optional={"usage": USAGES, "model": LEAVES}
)
COMPLETIONS = USUAL | USUAL | VALUES | st.fixed_dictionaries({"choices": VALUES, "error": VALUES})
QUICKLY = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def check(turn: TurnResponse) -> None:
    """An answer is recorded as it is, ended as answers end, and tells no key."""
    response = answer("job", make_request(1)).model_copy(update={"turns": (turn,)})
    assert unpack_response(pack(response)) == response
    assert turn.finish_reason in FINISH_REASONS
    assert 0 <= turn.usage.prompt_tokens <= 10**9
    assert KEY not in turn.model_dump_json()


@pytest.mark.slow
@QUICKLY
@given(found=COMPLETIONS)
def test_any_json_is_an_answer_or_an_expected_error(found: Any) -> None:
    """Whatever stands where, and however deep."""
    made = RemoteAnswer(ENTRY, KEY, num_rasters=1, wants_logprobs=True)
    with suppress(RetryLaterError, EngineError):
        made.take_whole(json.dumps(found).encode())
        check(made.turn())


@pytest.mark.slow
@QUICKLY
@given(
    growing=st.lists(GROWING, max_size=4),
    last=USUAL | COMPLETIONS,
    end=st.sampled_from(["\n\n", "\r\n\r\n", "\r\r"]),
    step=st.integers(1, 40),
)
def test_any_stream_is_an_answer_or_an_expected_error_and_is_told_as_it_is_recorded(
    growing: list[Any], last: Any, end: str, step: int
) -> None:
    """Wherever the bytes are cut."""
    heard = Heard()
    made = RemoteAnswer(ENTRY, KEY, wants_logprobs=True, grow=heard)
    events = EventStreamParser(made)
    sent = "".join(f"data: {json.dumps(chunk)}{end}" for chunk in [*growing, last]).encode()
    with suppress(RetryLaterError, EngineError):
        for start in range(0, len(sent), step):
            events.take(sent[start : start + step])
        events.end()
        turn = made.turn()
        check(turn)
        assert heard.text == turn.text


@QUICKLY
@given(content=st.binary(max_size=200))
def test_any_bytes_are_an_expected_error(content: bytes) -> None:
    """As a whole answer and as a stream."""
    whole, streamed = RemoteAnswer(ENTRY, KEY), RemoteAnswer(ENTRY, KEY)
    events = EventStreamParser(streamed)
    with pytest.raises((RetryLaterError, EngineError)):
        whole.take_whole(content)
        whole.turn()
    with pytest.raises((RetryLaterError, EngineError)):
        events.take(content)
        events.end()
        streamed.turn()


def test_asks_end_with_their_number_and_with_their_time() -> None:
    """What was paid for ends sooner, and is told; time at which the server was not there is none of it."""
    failed = RetryLaterError("500: no GPU")
    asks = RetryBudget(16, 3600)
    for _ in range(15):
        asks.count(failed)
    with pytest.raises(ServerFailedError, match=r"16 times: 500: no GPU$"):
        asks.count(failed)
    with pytest.raises(ServerFailedError, match=r"once: 500: no GPU$"):
        RetryBudget(16, 0).count(failed)
    paid = RetryLaterError("the answer ended as 'error'", "ended")
    paid.paid = Usage(prompt_tokens=100, completion_tokens=5, dollars=0.25)
    asks = RetryBudget(16, 3600)
    for _ in range(3):
        asks.count(paid)
    with pytest.raises(GenerationFailedError, match=r"4 times.* 400 tokens of prompts and 20 of answers, 1.000000 US"):
        asks.count(paid)
