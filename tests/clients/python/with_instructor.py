"""instructor over the `openai` SDK."""

import asyncio
from collections.abc import Iterable

import instructor
import openai
from checks import (
    ASKED,
    DATA_URL,
    LIMITED_KEY,
    MODEL,
    QUESTION,
    SECONDS,
    SHOWN,
    SLOW_MODEL,
    WRONG_KEY,
    Finding,
    absent,
    error_of,
    showing,
    tried,
)
from instructor import Mode
from instructor.core import InstructorRetryException

EXACT = {"model": MODEL, "response_model": Finding, "max_retries": 0, "max_tokens": 200, "temperature": 0}


def chats(mode: Mode = Mode.TOOLS, **given: object) -> instructor.Instructor:
    return instructor.from_openai(openai.OpenAI(**{"max_retries": 0, **given}), mode=mode).chat.completions


def is_finding(found: object) -> bool:
    return Finding.model_validate(found.model_dump()) is not None  # the class is instructor's own


@tried("chat")
def chat() -> None:
    assert chats().create(model=MODEL, response_model=None, messages=ASKED).choices[0].message.content


@tried("data URL")
def data_url() -> None:
    shown = [{"role": "user", "content": [QUESTION, instructor.Image.from_base64(DATA_URL)]}]
    assert is_finding(chats().create(**EXACT, messages=shown))


@tried("gigavqa:")
def reference() -> None:
    assert is_finding(chats().create(**EXACT, messages=showing(SHOWN)))
    return "parts `image_url`, not `instructor.Image`"


@tried("stream, usage")
def stream() -> None:
    found = list(chats().create_partial(**EXACT, messages=ASKED))
    assert is_finding(found[-1])
    _, answer = chats().create_with_completion(**EXACT, messages=ASKED)
    assert answer.usage.completion_tokens


@tried("JSON schema")
def schema() -> None:
    for mode in (Mode.JSON_SCHEMA, Mode.TOOLS, Mode.TOOLS_STRICT):
        assert is_finding(chats(mode).create(**EXACT, messages=ASKED)), mode


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    assert is_finding(chats().create(**EXACT, seed=5, messages=ASKED))


@tried("async")
async def many() -> None:
    create = instructor.from_openai(openai.AsyncOpenAI(), mode=Mode.TOOLS).chat.completions.create
    assert all(map(is_finding, await asyncio.gather(*(create(**EXACT, messages=ASKED) for _ in range(8)))))


@tried("timeout")
def timeout() -> None:
    asked = {**EXACT, "model": SLOW_MODEL, "messages": ASKED}
    error_of(chats(timeout=SECONDS).create, openai.APITimeoutError, InstructorRetryException, **asked)


@tried("401, 404, 429")
def errors() -> None:
    def asking(kind: type[Exception], times: int = 1, model: str = MODEL, **given: str) -> None:
        asked = {**EXACT, "model": model, "messages": ASKED}
        error = error_of(chats(**given).create, kind, InstructorRetryException, times=times, **asked)
        assert isinstance(error, kind) or kind.__name__ in repr(error.__cause__), repr(error.__cause__)

    asking(openai.AuthenticationError, api_key=WRONG_KEY)
    asking(openai.NotFoundError, model="nobody")
    asking(openai.RateLimitError, 2, api_key=LIMITED_KEY)


@tried("tools")
def tools() -> None:
    asked = {**EXACT, "response_model": Iterable[Finding]}
    assert all(map(is_finding, chats(Mode.TOOLS).create(**asked, messages=ASKED)))


@tried("responses")
def responses() -> None:
    other = instructor.from_openai(openai.OpenAI(), mode=Mode.RESPONSES_TOOLS)
    asked = {"model": MODEL, "response_model": Finding, "max_retries": 0, "max_output_tokens": 200, "temperature": 0}
    assert is_finding(other.responses.create(**asked, input=QUESTION))


absent("files, batches", "none")
