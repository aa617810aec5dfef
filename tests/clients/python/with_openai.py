"""The `openai` SDK."""

import asyncio
import io
import json
import time

import openai
from checks import (
    ASKED,
    DATA_URL,
    ENDS,
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
    error_of,
    showing,
    tried,
)

client = openai.OpenAI(max_retries=0)
chats = client.chat.completions


@tried("chat")
def chat() -> None:
    answer = chats.create(model=MODEL, messages=ASKED)
    said = answer.choices[0].message
    assert said.content and answer.usage.completion_tokens
    assert chats.create(model=MODEL, messages=[*ASKED, said.model_dump(), *ASKED]).choices[0].message.content
    assert client.models.list().data[0].id == MODEL
    assert client.models.retrieve(MODEL).id == MODEL


@tried("data URL")
def data_url() -> None:
    assert chats.create(model=MODEL, messages=showing(DATA_URL)).usage.prompt_tokens > 50


@tried("gigavqa:")
def reference() -> None:
    assert chats.create(model=MODEL, messages=showing(SHOWN)).usage.prompt_tokens > 50


@tried("stream, usage")
def stream() -> None:
    asked = {"model": MODEL, "messages": ASKED, "seed": 1}
    chunks = list(chats.create(**asked, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == chats.create(**asked).choices[0].message.content
    assert chunks[-1].usage.completion_tokens
    with chats.stream(**asked) as events:
        events.until_done()
        assert events.current_completion_snapshot.choices[0].message.content == text


@tried("JSON schema")
def schema() -> None:
    parsed = chats.parse(model=MODEL, messages=ASKED, response_format=Finding, max_tokens=200, temperature=0)
    assert isinstance(parsed.choices[0].message.parsed, Finding)


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    asked = {"model": MODEL, "messages": ASKED, "seed": 5, "logprobs": True, "top_logprobs": 2, "n": 2}
    first, second = (chats.create(**asked) for _ in range(2))
    texts = [choice.message.content for choice in first.choices]
    assert len(texts) == 2
    assert texts == [choice.message.content for choice in second.choices]
    whole = chats.create(model=MODEL, messages=ASKED, seed=5).choices[0].message.content
    cut = chats.create(model=MODEL, messages=ASKED, seed=5, stop=[whole[2:4]]).choices[0]
    assert (cut.message.content, cut.finish_reason) == (whole[: whole.find(whole[2:4])], "stop")
    assert not HAS_LOGPROBS or len(first.choices[0].logprobs.content[0].top_logprobs) == 2


@tried("async")
async def many() -> None:
    async with openai.AsyncOpenAI(max_retries=0) as other:
        asked = (other.chat.completions.create(model=MODEL, messages=ASKED) for _ in range(8))
        assert all(answer.choices[0].message.content for answer in await asyncio.gather(*asked))


@tried("timeout")
def timeout() -> None:
    hasty = client.with_options(timeout=SECONDS).chat.completions
    error_of(hasty.create, openai.APITimeoutError, model=SLOW_MODEL, messages=ASKED)


@tried("401, 404, 429")
def errors() -> None:
    def asking(key: str, model: str, kind: type[openai.APIStatusError], times: int = 1) -> openai.APIStatusError:
        create = client.with_options(api_key=key).chat.completions.create
        return error_of(create, kind, times=times, model=model, messages=ASKED)

    assert asking(WRONG_KEY, MODEL, openai.AuthenticationError).code == "invalid_api_key"
    assert asking(client.api_key, "nobody", openai.NotFoundError).code == "model_not_found"
    assert asking(LIMITED_KEY, MODEL, openai.RateLimitError, times=2).response.headers["retry-after"]
    assert error_of(chats.create, openai.BadRequestError, model=MODEL, messages=[]).param == "messages"


@tried("tools")
def tools() -> None:
    asked = {"model": MODEL, "tools": [TOOL], "max_tokens": 200, "temperature": 0}
    named = {"type": "function", "function": {"name": "look"}}
    for choice in ("required", named):
        said = chats.create(**asked, messages=ASKED, tool_choice=choice).choices[0].message
        call = said.tool_calls[0]
        assert (call.function.name, set(json.loads(call.function.arguments))) == ("look", {"near"})
    result = {"role": "tool", "tool_call_id": call.id, "content": "a crane"}
    assert chats.create(**asked, messages=[*ASKED, said, result]).choices[0].message.content
    with chats.stream(**asked, messages=ASKED, tool_choice="required") as events:
        assert events.get_final_completion().choices[0].message.tool_calls[0].function.name == "look"


@tried("responses")
def responses() -> None:
    shown = [{"type": "input_image", "image_url": SHOWN}, {"type": "input_text", "text": QUESTION}]
    assert client.responses.create(model=MODEL, input=[{"role": "user", "content": shown}]).output_text
    with client.responses.stream(model=MODEL, input=QUESTION) as events:
        assert list(events)[-1].type in ENDS
    asked = {"model": MODEL, "input": QUESTION, "max_output_tokens": 200, "temperature": 0}
    assert isinstance(client.responses.parse(**asked, text_format=Finding).output_parsed, Finding)
    tool = {"type": "function", **TOOL["function"], "strict": False}
    assert client.responses.create(**asked, tools=[tool], tool_choice="required").output[0].name == "look"


@tried("files, batches")
def batches() -> None:
    bodies = [{"model": MODEL, "messages": messages} for messages in (ASKED, showing(SHOWN))]
    lines = [
        {"custom_id": f"q{number}", "method": "POST", "url": "/v1/chat/completions", "body": body}
        for number, body in enumerate(bodies)
    ]
    content = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
    file = client.files.create(file=("chats.jsonl", content), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    for _ in range(300):
        if batch.status in ("completed", "failed"):
            break
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    answered = [json.loads(line) for line in client.files.content(batch.output_file_id).text.splitlines()]
    assert {line["custom_id"] for line in answered} == {"q0", "q1"}
    assert client.files.delete(file.id).deleted
