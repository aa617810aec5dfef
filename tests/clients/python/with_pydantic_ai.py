"""pydantic-ai's OpenAIChatModel and OpenAIResponsesModel."""

import asyncio

from checks import (
    DATA_URL,
    HAS_LOGPROBS,
    KEY,
    LIMITED_KEY,
    MODEL,
    QUESTION,
    SECONDS,
    SHOWN,
    SLOW_MODEL,
    URL,
    WRONG_KEY,
    Finding,
    absent,
    error_of,
    tried,
)
from openai import AsyncOpenAI
from pydantic_ai import Agent, BinaryContent, ImageUrl, NativeOutput
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

EXACT = {"temperature": 0, "max_tokens": 200}
model = OpenAIChatModel(MODEL)


def asker(name: str, key: str = KEY) -> Agent:
    client = AsyncOpenAI(base_url=URL, api_key=key, max_retries=0)
    return Agent(OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client)))


@tried("chat")
def chat() -> None:
    run = Agent(model).run_sync(QUESTION)
    assert run.output and run.usage.output_tokens
    assert Agent(model).run_sync(QUESTION, message_history=run.all_messages()).output


@tried("data URL")
def data_url() -> None:
    assert Agent(model).run_sync([BinaryContent.from_data_uri(DATA_URL), QUESTION]).output


@tried("gigavqa:")
def reference() -> None:
    assert Agent(model).run_sync([ImageUrl(SHOWN), QUESTION]).output


@tried("stream, usage")
async def stream() -> None:
    async with Agent(model).run_stream(QUESTION) as run:
        assert [text async for text in run.stream_text(debounce_by=None)]
        assert run.usage.output_tokens


@tried("JSON schema")
def schema() -> None:
    found = Agent(model, output_type=NativeOutput(Finding), model_settings=EXACT).run_sync(QUESTION).output
    assert isinstance(found, Finding)
    return "`NativeOutput`"


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    seeded = {"seed": 5}
    whole = Agent(model).run_sync(QUESTION, model_settings=seeded).output
    cut = Agent(model).run_sync(QUESTION, model_settings={**seeded, "stop_sequences": [whole[2:4]]}).output
    assert cut == whole[: whole.find(whole[2:4])]
    told = Agent(model).run_sync(QUESTION, model_settings={"openai_logprobs": True}).response.provider_details
    assert not HAS_LOGPROBS or told["logprobs"]


@tried("async")
async def many() -> None:
    agent = Agent(model)
    assert all(run.output for run in await asyncio.gather(*(agent.run(QUESTION) for _ in range(8))))


@tried("timeout")
def timeout() -> None:
    run = asker(SLOW_MODEL).run_sync
    error_of(run, ModelAPIError, user_prompt=QUESTION, model_settings={"timeout": SECONDS})


@tried("401, 404, 429")
def errors() -> None:
    assert error_of(asker(MODEL, WRONG_KEY).run_sync, ModelHTTPError, user_prompt=QUESTION).status_code == 401
    assert error_of(asker("nobody").run_sync, ModelHTTPError, user_prompt=QUESTION).status_code == 404
    limited = asker(MODEL, LIMITED_KEY).run_sync
    assert error_of(limited, ModelHTTPError, times=2, user_prompt=QUESTION).status_code == 429


@tried("tools")
def tools() -> None:
    assert isinstance(Agent(model, output_type=Finding, model_settings=EXACT).run_sync(QUESTION).output, Finding)
    agent = Agent(model)

    @agent.tool_plain
    def look(near: bool) -> str:
        return "a crane"

    assert agent.run_sync(QUESTION).output


@tried("responses")
def responses() -> None:
    other = OpenAIResponsesModel(MODEL)
    assert Agent(other).run_sync([ImageUrl(SHOWN), QUESTION]).output
    assert isinstance(Agent(other, output_type=Finding, model_settings=EXACT).run_sync(QUESTION).output, Finding)


absent("files, batches", "none")
