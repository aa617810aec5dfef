"""LangChain's ChatOpenAI."""

import asyncio

import openai
from checks import (
    DATA_URL,
    HAS_LOGPROBS,
    LIMITED_KEY,
    MODEL,
    QUESTION,
    SECONDS,
    SHOWN,
    SLOW_MODEL,
    TOOL,
    WRONG_KEY,
    Finding,
    absent,
    error_of,
    showing,
    tried,
)
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model=MODEL, max_retries=0)
exact = ChatOpenAI(model=MODEL, max_retries=0, max_tokens=200, temperature=0)


@tried("chat")
def chat() -> None:
    answer = model.invoke(QUESTION)
    assert answer.content and answer.usage_metadata["output_tokens"]


@tried("data URL")
def data_url() -> None:
    assert model.invoke(showing(DATA_URL)).text
    shown = {"type": "image", "base64": DATA_URL.partition(",")[2], "mime_type": "image/png"}
    assert model.invoke([HumanMessage(content=[shown, {"type": "text", "text": QUESTION}])]).text


@tried("gigavqa:")
def reference() -> None:
    assert model.invoke(showing(SHOWN)).text
    shown = {"type": "image", "url": SHOWN}
    assert model.invoke([HumanMessage(content=[shown, {"type": "text", "text": QUESTION}])]).text


@tried("stream, usage")
def stream() -> None:
    chunks = list(ChatOpenAI(model=MODEL, seed=1, stream_usage=True).stream(QUESTION))
    assert "".join(chunk.text for chunk in chunks) == ChatOpenAI(model=MODEL, seed=1).invoke(QUESTION).text
    assert any(chunk.usage_metadata for chunk in chunks)


@tried("JSON schema")
def schema() -> None:
    assert isinstance(exact.with_structured_output(Finding).invoke(QUESTION), Finding)


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    seeded = ChatOpenAI(model=MODEL, seed=5, max_retries=0)
    assert len(ChatOpenAI(model=MODEL, seed=5, n=2).generate([[HumanMessage(QUESTION)]]).generations[0]) == 2
    whole = seeded.invoke(QUESTION).text
    assert seeded.invoke(QUESTION, stop=[whole[2:4]]).text == whole[: whole.find(whole[2:4])]
    told = ChatOpenAI(model=MODEL, logprobs=True).invoke(QUESTION).response_metadata["logprobs"]
    assert not HAS_LOGPROBS or told["content"]


@tried("async")
async def many() -> None:
    assert all(answer.text for answer in await asyncio.gather(*(model.ainvoke(QUESTION) for _ in range(8))))
    assert len(await model.abatch([QUESTION] * 3)) == 3


@tried("timeout")
def timeout() -> None:
    slow = ChatOpenAI(model=SLOW_MODEL, timeout=SECONDS, max_retries=0)
    error_of(slow.invoke, openai.APITimeoutError, input=QUESTION)


@tried("401, 404, 429")
def errors() -> None:
    def asking(kind: type[Exception], times: int = 1, **given: str) -> None:
        client = ChatOpenAI(max_retries=0, **{"model": MODEL, **given})
        error_of(client.invoke, kind, times=times, input=QUESTION)

    asking(openai.AuthenticationError, api_key=WRONG_KEY)
    asking(openai.NotFoundError, model="nobody")
    asking(openai.RateLimitError, 2, api_key=LIMITED_KEY)


@tried("tools")
def tools() -> None:
    found = exact.with_structured_output(Finding, method="function_calling").invoke(QUESTION)
    assert isinstance(found, Finding)
    said = exact.bind_tools([TOOL], tool_choice="required").invoke(QUESTION)
    call = said.tool_calls[0]
    history = [HumanMessage(QUESTION), said, ToolMessage("a crane", tool_call_id=call["id"])]
    assert model.bind_tools([TOOL]).invoke(history).text


@tried("responses")
def responses() -> None:
    other = ChatOpenAI(model=MODEL, use_responses_api=True, max_retries=0, max_tokens=200, temperature=0)
    assert other.invoke(showing(SHOWN)).text
    assert "".join(chunk.text for chunk in other.stream(QUESTION))
    assert isinstance(other.with_structured_output(Finding).invoke(QUESTION), Finding)
    assert other.bind_tools([TOOL], tool_choice="required").invoke(QUESTION).tool_calls[0]["name"] == "look"


absent("files, batches", "none")
