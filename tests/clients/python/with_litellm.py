"""LiteLLM, as `openai/MODEL`."""

import asyncio
import io
import json
import time

import litellm
from checks import (
    ASKED,
    DATA_URL,
    ENDS,
    HAS_LOGPROBS,
    KEY,
    LIMITED_KEY,
    MODEL,
    QUESTION,
    SECONDS,
    SHOWN,
    SLOW_MODEL,
    TOOL,
    URL,
    WRONG_KEY,
    Finding,
    error_of,
    showing,
    tried,
)

NAMED = f"openai/{MODEL}"
OURS = {"model": NAMED, "messages": ASKED}


@tried("chat")
def chat() -> None:
    answer = litellm.completion(**OURS)
    assert answer.choices[0].message.content and answer.usage.completion_tokens
    assert litellm.completion(model=f"hosted_vllm/{MODEL}", messages=ASKED, api_base=URL, api_key=KEY).choices


@tried("data URL")
def data_url() -> None:
    answer = litellm.completion(model=NAMED, messages=showing(DATA_URL))
    assert answer.usage.prompt_tokens > 50


@tried("gigavqa:")
def reference() -> None:
    assert litellm.completion(model=NAMED, messages=showing(SHOWN)).usage.prompt_tokens > 50


@tried("stream, usage")
def stream() -> None:
    chunks = list(litellm.completion(**OURS, seed=1, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == litellm.completion(**OURS, seed=1).choices[0].message.content
    assert any(getattr(chunk, "usage", None) for chunk in chunks)


@tried("JSON schema")
def schema() -> None:
    answer = litellm.completion(**OURS, response_format=Finding, max_tokens=200, temperature=0)
    Finding.model_validate_json(answer.choices[0].message.content)


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    answer = litellm.completion(**OURS, n=2, seed=5, logprobs=True, top_logprobs=2)
    assert len(answer.choices) == 2
    assert not HAS_LOGPROBS or answer.choices[0].logprobs.content
    whole = litellm.completion(**OURS, seed=5).choices[0].message.content
    cut = litellm.completion(**OURS, seed=5, stop=[whole[2:4]]).choices[0].message.content
    assert cut == whole[: whole.find(whole[2:4])]


@tried("async")
async def many() -> None:
    answers = await asyncio.gather(*(litellm.acompletion(**OURS) for _ in range(8)))
    assert all(answer.choices[0].message.content for answer in answers)


@tried("timeout")
def timeout() -> None:
    slow = {"model": f"openai/{SLOW_MODEL}", "messages": ASKED, "timeout": SECONDS, "max_retries": 0}
    error_of(litellm.completion, litellm.Timeout, **slow)


@tried("401, 404, 429")
def errors() -> None:
    once = {"messages": ASKED, "max_retries": 0}
    error_of(litellm.completion, litellm.AuthenticationError, model=NAMED, api_key=WRONG_KEY, **once)
    error_of(litellm.completion, litellm.NotFoundError, model="openai/nobody", **once)
    error_of(litellm.completion, litellm.RateLimitError, times=2, model=NAMED, api_key=LIMITED_KEY, **once)


@tried("tools")
def tools() -> None:
    said = litellm.completion(**OURS, tools=[TOOL], tool_choice="required", max_tokens=200, temperature=0)
    call = said.choices[0].message.tool_calls[0]
    assert set(json.loads(call.function.arguments)) == {"near"}
    history = [*ASKED, said.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "a crane"}]
    assert litellm.completion(model=NAMED, messages=history, tools=[TOOL]).choices[0].message.content


@tried("responses")
def responses() -> None:
    assert litellm.responses(model=NAMED, input=QUESTION).output[0].content[0].text
    events = list(litellm.responses(model=NAMED, input=QUESTION, stream=True))
    assert events[-1].type in ENDS


@tried("files, batches")
def batches() -> None:
    line = {
        "custom_id": "q",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": MODEL, "messages": ASKED},
    }
    file = litellm.create_file(
        file=("chats.jsonl", io.BytesIO(json.dumps(line).encode())), purpose="batch", custom_llm_provider="openai"
    )
    batch = litellm.create_batch(
        completion_window="24h",
        endpoint="/v1/chat/completions",
        input_file_id=file.id,
        custom_llm_provider="openai",
    )
    for _ in range(300):
        if batch.status in ("completed", "failed"):
            break
        time.sleep(0.1)
        batch = litellm.retrieve_batch(batch_id=batch.id, custom_llm_provider="openai")
    content = litellm.file_content(file_id=batch.output_file_id, custom_llm_provider="openai").content
    assert json.loads(content)["custom_id"] == "q"
