"""What servers say instead of an answer, in the shapes of each of them."""

import pytest

from gigavqa.workers.engines.engine import ContextExceededError, EngineError
from gigavqa.workers.engines.remote.error_replies import (
    RetryLaterError,
    error_for_reply,
    parse_error,
    retry_after_seconds,
)
from gigavqa.workers.engines.remote.redaction import redact, redact_line

CONTEXT = 8192
KEY = "sk-secret-0123456789"
TOO_LONG = {
    "vLLM": b'{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, your prompt contains '
    b'9000 input tokens","type":"BadRequestError","param":"input_tokens","code":400}}',
    "vLLM, with pictures": b'{"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model '
    b'length of 8192","type":"BadRequestError","code":400}}',
    "OpenAI": b'{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_'
    b'exceeded","type":"invalid_request_error"}}',
    "SGLang": b'{"object":"error","message":"The input (9000 tokens) is longer than the model\'s context length (8192 '
    b'tokens).","type":"BadRequestError","param":null,"code":400}',
    "Anthropic": b'{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens '
    b'> 8192 maximum"}}',
    "Google": b'[{"error":{"code":400,"message":"The input token count (9000) exceeds the maximum number of tokens '
    b'allowed (8192).","status":"INVALID_ARGUMENT"}}]',
}


@pytest.mark.parametrize("server", TOO_LONG)
def test_a_prompt_that_is_too_long_is_told_with_what_is_too_much(server: str) -> None:
    """As the engine of this process tells it, so that a chat that outgrew its context is known for one."""
    error = error_for_reply(400, {}, parse_error(TOO_LONG[server], None), CONTEXT)
    assert isinstance(error, ContextExceededError)
    assert error.excess == (None if server == "OpenAI" else 9000 - CONTEXT + 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"error":{"message":"no such picture","type":"x","param":null,"code":400}}', "no such picture"),
        (b'{"object":"error","message":"no such picture","code":400}', "no such picture"),
        (b'{"message":"no such picture","type":"x","details":{}}', "no such picture"),
        (b'{"error":"no such picture"}', "no such picture"),
        (b'{"detail":"no such picture"}', "no such picture"),
        (b'"no such picture"', "no such picture"),
        (b"no such\n picture", "no such picture"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_errors_of_any_shape_are_read(content: bytes, message: str) -> None:
    """Nested, flat, a text, a string, or nothing at all."""
    assert parse_error(content, None).message == message


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_is_wrong_with_a_request_is_its_failure(status: int) -> None:
    """It is not asked again."""
    error = error_for_reply(status, {}, parse_error(b'{"error":{"message":"bad picture"}}', None), CONTEXT)
    assert type(error) is EngineError
    assert str(error).startswith(f"{status}: bad picture")
    assert ("--remote-pictures jpeg" in str(error)) == (status == 413)
    assert not error.is_retryable


@pytest.mark.parametrize(
    ("status", "body", "trouble"),
    [
        (429, b"busy", "busy"),
        (429, b'{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}', "unpaid"),
        *((status, b"busy", "failed") for status in (404, 408, 409, 425, 500, 502, 503, 504, 529)),
        (404, b'{"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}', "gone"),
        (402, b"pay", "unpaid"),
        *((status, b"no", "refused") for status in (401, 403)),
        *((status, b"", "moved") for status in (301, 307)),
    ],
)
def test_what_may_pass_is_told_from_what_is_wrong_with_the_request(status: int, body: bytes, trouble: str) -> None:
    """Each kind of trouble has its own way of waiting; how long the server asks to be left alone is kept."""
    error = error_for_reply(status, {"retry-after": "7"}, parse_error(body, None), CONTEXT)
    assert isinstance(error, RetryLaterError)
    assert (error.seconds, error.trouble, error.status) == (7.0, trouble, status)


def test_a_request_beyond_what_a_minute_may_have_is_not_asked_again() -> None:
    """OpenAI says so with the status of too many requests, and would for ever."""
    said = parse_error(b'{"error": {"message": "Request too large for gpt-4o: limit 30000, requested 45000"}}', None)
    assert type(error_for_reply(429, {}, said, CONTEXT)) is EngineError


def test_texts_are_cut_and_the_key_is_put_out_of_sight() -> None:
    """A server that repeats the request fills no log; one that repeats the key shows it to nobody."""
    said = parse_error(b'{"error":{"message":"%s %s"}}' % (KEY.encode(), b"A" * 100_000), KEY)
    assert said.message.startswith("[key] AAA")
    assert len(said.message) < 500


@pytest.mark.parametrize(
    "spelling", [KEY, KEY.replace("-", "\\u002d"), KEY.replace("-", "\\\\u002D"), KEY.replace("-", "%2d")]
)
def test_a_key_with_escaped_letters_is_put_out_of_sight(spelling: str) -> None:
    """Servers quote requests within JSON within JSON."""
    assert redact_line(f"you sent {spelling}!", KEY) == "you sent [key]!"


def test_a_word_that_stands_for_no_key_is_no_secret() -> None:
    """Servers without keys are given one such as EMPTY, which an answer may say."""
    assert redact("The glass is EMPTY.", "EMPTY") == "The glass is EMPTY."


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "86400"}, 120.0),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, 0.0),
    ],
    ids=str,
)
def test_retry_after_is_obeyed_within_bounds(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds or a date; two minutes at most, and nonsense is none."""
    assert retry_after_seconds(headers) == seconds
