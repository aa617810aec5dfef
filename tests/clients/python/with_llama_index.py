"""LlamaIndex's OpenAILike."""

import asyncio

import openai
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
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses


def model(**given: object) -> OpenAILike:
    asked = {"model": MODEL, "api_base": URL, "api_key": KEY, "is_chat_model": True, "max_retries": 0, **given}
    return OpenAILike(**asked)


def exact(**given: object) -> OpenAILike:
    return model(max_tokens=200, temperature=0, is_function_calling_model=True, **given)


ASKED = [ChatMessage(QUESTION)]


def showing(**block: object) -> list[ChatMessage]:
    return [ChatMessage(blocks=[ImageBlock(**block), TextBlock(text=QUESTION)])]


@tried("chat")
def chat() -> None:
    assert model().chat(ASKED).message.content
    assert model().complete(QUESTION).text
    return "`is_chat_model=True`"


@tried("data URL")
def data_url() -> None:
    assert model().chat(showing(url=DATA_URL)).message.content


@tried("gigavqa:")
def reference() -> None:
    assert model().chat(showing(url=SHOWN)).message.content


@tried("stream, usage")
def stream() -> None:
    whole = model(additional_kwargs={"seed": 1}).chat(ASKED)
    assert whole.raw.usage.completion_tokens
    assert [*model(additional_kwargs={"seed": 1}).stream_chat(ASKED)][-1].message.content == whole.message.content


@tried("JSON schema")
def schema() -> None:
    found = exact(should_use_structured_outputs=True).as_structured_llm(Finding).chat(ASKED).raw
    assert isinstance(found, Finding)
    return "`should_use_structured_outputs=True`"


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    whole = model().chat(ASKED, seed=5).message.content
    assert model().chat(ASKED, seed=5, stop=[whole[2:4]]).message.content == whole[: whole.find(whole[2:4])]
    assert not HAS_LOGPROBS or model(logprobs=True, top_logprobs=2).chat(ASKED).logprobs


@tried("async")
async def many() -> None:
    other = model()
    assert all(answer.message.content for answer in await asyncio.gather(*(other.achat(ASKED) for _ in range(8))))


@tried("timeout")
def timeout() -> None:
    error_of(model(model=SLOW_MODEL, timeout=SECONDS).chat, openai.APITimeoutError, messages=ASKED)


@tried("401, 404, 429")
def errors() -> None:
    error_of(model(api_key=WRONG_KEY).chat, openai.AuthenticationError, messages=ASKED)
    error_of(model(model="nobody").chat, openai.NotFoundError, messages=ASKED)
    error_of(model(api_key=LIMITED_KEY).chat, openai.RateLimitError, times=2, messages=ASKED)


@tried("tools")
def tools() -> None:
    def look(near: bool) -> str:
        """Look closer."""
        return "a crane"

    answer = exact().chat_with_tools([FunctionTool.from_defaults(look)], user_msg=QUESTION, tool_required=True)
    (call,) = exact().get_tool_calls_from_response(answer)
    assert (call.tool_name, set(call.tool_kwargs)) == ("look", {"near"})
    assert isinstance(exact().as_structured_llm(Finding).chat(ASKED).raw, Finding)
    return "`is_function_calling_model=True`"


@tried("responses")
def responses() -> None:
    other = OpenAILikeResponses(model=MODEL, api_base=URL, api_key=KEY, is_chat_model=True, max_retries=0)
    assert other.chat(ASKED).message.blocks
    return "`OpenAILikeResponses`"


absent("files, batches", "none")
