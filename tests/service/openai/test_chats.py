"""Chat completions through OpenAI's own client, on a worker with the simulated engine."""

import time
from typing import Any

import httpx
import openai
import pytest

from gigavqa.catalogue.load import SHIPPED_MODELS
from gigavqa.service.settings import GatewaySettings
from tests.service.gateways import MODEL, RunningGateway, openai_error_of
from tests.service.openai.conftest import Start, wait_for_worker
from tests.service.openai.pictures import asking, data_url, png
from tests.service.openai.workers import RunningWorker, working

QUESTION = "Which one?\nA. One\nB. Two\nC. Three"
MESSAGES = [{"role": "user", "content": QUESTION}]


def test_a_chat_is_answered(client: openai.OpenAI, worker: RunningWorker, gateway: RunningGateway) -> None:
    """The client gets a completion whose fields are all there, and the list of jobs stays empty."""
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=1)
    assert answer.id.startswith("chatcmpl-")
    assert (answer.object, answer.model) == ("chat.completion", MODEL)
    (choice,) = answer.choices
    assert choice.message.role == "assistant"
    assert (choice.message.content or "").startswith("The answer is ")
    assert choice.finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 5
    assert gateway.client.get("/v1/jobs").json()["data"] == []


def test_the_pieces_of_a_stream_are_the_whole(client: openai.OpenAI, worker: RunningWorker) -> None:
    """A role first, then text, then why it ended, and the usage behind all of it where it was asked for."""
    whole = client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=1)
    chunks = list(
        client.chat.completions.create(
            model=MODEL, messages=MESSAGES, seed=1, stream=True, stream_options={"include_usage": True}
        )
    )
    *told, last = chunks
    assert last.choices == []
    assert last.usage is not None and last.usage.completion_tokens == whole.usage.completion_tokens
    assert all(len(chunk.choices) == 1 and chunk.usage is None for chunk in told)
    assert told[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in told) == whole.choices[0].message.content
    assert [chunk.choices[0].finish_reason for chunk in told] == [None] * (len(told) - 1) + ["stop"]


def test_several_answers_have_seeds_of_their_own(client: openai.OpenAI, worker: RunningWorker) -> None:
    """Eight answers to one seed are the same eight every time, and not all alike."""
    asked = [client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=3, n=8) for _ in range(2)]
    texts = [[choice.message.content for choice in answer.choices] for answer in asked]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 1
    assert [choice.index for choice in asked[0].choices] == list(range(8))


def test_a_model_that_there_is_not_is_not_found(client: openai.OpenAI, worker: RunningWorker) -> None:
    """The client raises what it raises for OpenAI's own servers."""
    with pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model="nothing", messages=MESSAGES)
    assert raised.value.code == "model_not_found"
    assert "'nothing' is not in the catalogue" in raised.value.message


def post(gateway: RunningGateway, **body: Any) -> httpx.Response:
    """Ask as a client that knows nothing of OpenAI."""
    return gateway.client.post("/v1/chat/completions", json={"model": MODEL, "messages": MESSAGES, **body})


@pytest.mark.parametrize(
    ("body", "param", "told"),
    [
        ({"messages": []}, "messages", "at least 1 item"),
        ({"temperature": 3}, "temperature", "less than or equal to 2"),
        ({"guided_json": {"type": "object"}}, None, "response_format"),
        ({"guided_regex": "a+"}, None, "structured_outputs: {regex}"),
        ({"tools": [{"type": "function"}]}, "tools[0].function", "is missing"),
        ({"temprature": 1}, "temprature", "did you mean 'temperature'"),
        ({"mm_processor_kwargs": {"max_pixels": 1}}, None, "'mm_processor_kwargs' is not taken"),
        ({"messages": [*MESSAGES, {"role": "assistant", "content": "A"}]}, None, "the last message"),
        ({"messages": [{"role": "function", "content": "x"}]}, "messages[0]", "functions are not read any more"),
        ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, "messages[0].content[0].type", "image_url"),
        ({"structured_outputs": {"regex": "a", "choice": ["b"]}}, "structured_outputs", "say one of"),
        ({"chat_template_kwargs": {"chat_template": "{{ x }}"}}, None, "may not say chat_template"),
        ({"top_logprobs": 3}, "top_logprobs", "top_logprobs needs logprobs"),
    ],
)
def test_what_is_wrong_is_named(
    gateway: RunningGateway, worker: RunningWorker, body: dict[str, Any], param: str | None, told: str | None
) -> None:
    """Each is a 400 with OpenAI's object, whose message says what to do."""
    answer = post(gateway, **body)
    error = openai_error_of(answer, 400, "request_invalid")
    assert told in error["message"]
    assert error["type"] == "invalid_request_error"
    if param:
        assert error["param"] == param


def test_errors_of_the_framework_are_openai_s(gateway: RunningGateway) -> None:
    """A path that there is not, a wrong method, a body that is no JSON, and one that is not declared as such."""
    openai_error_of(gateway.client.post("/v1/embeddings", json={}), 404, "not_found")
    openai_error_of(gateway.client.get("/v1/chat/completions"), 405, "method_not_allowed")
    headers = {"Content-Type": "application/json"}
    broken = gateway.client.post("/v1/chat/completions", content=b'{"model":', headers=headers)
    openai_error_of(broken, 400, "body_malformed")
    openai_error_of(gateway.client.post("/v1/chat/completions", content=b"x"), 415, "media_type_unsupported")


def test_a_model_without_a_worker_is_a_503_that_no_client_asks_again(client: openai.OpenAI) -> None:
    """The message says how to start one; a client that would ask three times is told that it need not."""
    with pytest.raises(openai.InternalServerError) as raised:
        client.chat.completions.create(model=MODEL, messages=MESSAGES)
    assert raised.value.status_code == 503
    assert f"gigavqa up --model {MODEL}" in raised.value.message
    assert raised.value.response.headers["x-should-retry"] == "false"
    assert "retry-after" not in raised.value.response.headers


def test_a_full_queue_is_a_429_to_come_back_to(start: Start, settings: GatewaySettings) -> None:
    """Whole and streamed alike, before a stream has begun."""
    gateway = start(queue_requests=2)
    with working(settings):
        wait_for_worker(gateway)
        for stream in (False, True):
            answer = post(gateway, n=3, stream=stream)
            openai_error_of(answer, 429, "queue_full")
            assert int(answer.headers["retry-after"]) > 0


def test_a_chat_longer_than_the_context_is_refused(client: openai.OpenAI, worker: RunningWorker) -> None:
    """What the engine refuses is the client's mistake, streamed or not."""
    asked = [{"role": "user", "content": "word " * 20_000}]
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as raised:
            client.chat.completions.create(model=MODEL, messages=asked, stream=stream)
        assert raised.value.code == "context_length_exceeded"


def test_a_model_is_found_by_its_other_names(client: openai.OpenAI, gateway: RunningGateway) -> None:
    """By an alias of the catalogue in whatever case, and by the name of its weights."""
    folder = gateway.settings.catalogue
    folder.mkdir(parents=True)
    text = (SHIPPED_MODELS / "qwen3-vl-8b.toml").read_text()
    (folder / "qwen3-vl-8b.toml").write_text(f'aliases = ["Judge-1"]\n{text}')
    for name in ("judge-1", "JUDGE-1", "Qwen/Qwen3-VL-8B-Instruct", "Qwen3-VL-8B-Instruct"):
        assert client.models.retrieve(name).id == "qwen3-vl-8b"
        with pytest.raises(openai.InternalServerError, match="no worker serves 'qwen3-vl-8b'"):
            client.chat.completions.create(model=name, messages=MESSAGES)


def test_models_are_listed_as_openai_lists_them(client: openai.OpenAI) -> None:
    """The client's own fields are there, and ours beside them."""
    models = {model.id: model for model in client.models.list()}
    assert models[MODEL].object == "model"
    assert models[MODEL].owned_by == "gigavqa"
    assert models["qwen3-vl-8b"].owned_by == "Qwen"
    assert models[MODEL].model_extra["max_model_len"] == 8192


def test_a_model_that_is_served_is_listed_first(client: openai.OpenAI, worker: RunningWorker) -> None:
    """With the time at which its worker started; clients of servers of one model take the first."""
    first, *others = client.models.list()
    assert first.id == MODEL
    assert 0 <= time.time() - first.created < 60
    assert [model.id for model in others] == sorted(model.id for model in others)


def test_a_list_of_models_is_found_behind_a_slash(gateway: RunningGateway) -> None:
    """It is no model without a name."""
    assert gateway.client.get("/v1/models/", follow_redirects=True).json()["object"] == "list"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v1/completions", "ask /v1/chat/completions"),
        ("/v1/embeddings", "embed nothing"),
        ("/v1/uploads", "/v1/files"),
        ("/v1/responses/resp_1", "no response is kept"),
        ("/openai/deployments/x/chat/completions", "ends in /v1"),
        ("/v1/deployments/x/chat/completions", "ends in /v1"),
        ("//v1/chat/completions", "two slashes"),
    ],
)
def test_what_is_not_there_says_what_to_ask(gateway: RunningGateway, path: str, told: str) -> None:
    """In the sentence that clients show."""
    answer = gateway.client.post(f"{gateway.url}{path}", json={})
    assert answer.status_code == 404
    assert told in answer.text


def test_a_compressed_body_is_refused_as_such(gateway: RunningGateway) -> None:
    """It is not called broken JSON."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = gateway.client.post("/v1/chat/completions", content=b"x", headers=headers)
    assert "uncompressed" in openai_error_of(answer, 415, "media_type_unsupported")["message"]


def test_a_history_is_what_was_said(client: openai.OpenAI, worker: RunningWorker) -> None:
    """Earlier answers come from the client; nothing of them is generated, and what was said before is cached."""
    first = client.chat.completions.create(model=MODEL, messages=asking(data_url(png(1))), seed=1)
    said = [{"role": "assistant", "content": first.choices[0].message.content}, {"role": "user", "content": "Why?"}]
    second = client.chat.completions.create(model=MODEL, messages=[*asking(data_url(png(1))), *said], seed=1)
    assert second.usage.prompt_tokens > first.usage.prompt_tokens
    assert second.usage.prompt_tokens_details.cached_tokens > 64
    assert worker.encoder_runs == 1


def test_a_text_that_stops_is_cut_before_its_stop(client: openai.OpenAI, worker: RunningWorker) -> None:
    """The stop itself is not told."""
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES, stop=[" is", "never"])
    assert answer.choices[0].message.content == "The answer"
    assert answer.choices[0].finish_reason == "stop"


def test_a_file_is_forgotten_so_long_after_it_came(gateway: RunningGateway) -> None:
    """Another beginning of that time is refused."""
    asked = {"purpose": "vision", "expires_after[anchor]": "last_used", "expires_after[seconds]": "3600"}
    answer = gateway.client.post("/v1/files", data=asked, files={"file": ("a.png", png(1))})
    assert openai_error_of(answer, 400, "file_invalid")["param"] == "expires_after[anchor]"
