"""Files and batches through OpenAI's own client."""

import json
from typing import Any

import httpx
import openai
import pytest
import redis

from gigavqa.service.settings import GatewaySettings
from gigavqa.store import queue
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import asking, data_url, png
from tests.service.openai.workers import RunningWorker, working
from tests.waiting import wait_until


def lines(*bodies: dict[str, Any]) -> bytes:
    """The input of a batch."""
    told = [
        {"custom_id": f"q{number}", "method": "POST", "url": "/v1/chat/completions", "body": {"model": MODEL, **body}}
        for number, body in enumerate(bodies)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in told)


def start_batch(client: openai.OpenAI, content: bytes) -> str:
    """Upload the input and start the batch."""
    file = client.files.create(file=("input.jsonl", content), purpose="batch")
    batch = client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"run": "one"}
    )
    assert batch.status == "validating"
    return batch.id


def end_of(client: openai.OpenAI, batch_id: str) -> Any:
    """The batch when it has ended."""
    final = {"completed", "failed", "expired", "cancelled"}
    wait_until(lambda: client.batches.retrieve(batch_id).status in final, what="the batch's end")
    return client.batches.retrieve(batch_id)


def read(client: openai.OpenAI, file_id: str | None) -> dict[str, Any]:
    """The lines of a file by their names."""
    assert file_id
    told = [json.loads(line) for line in client.files.content(file_id).content.splitlines()]
    return {line["custom_id"]: line for line in told}


def test_a_file_is_kept_listed_read_and_deleted(client: openai.OpenAI) -> None:
    """What was sent comes back byte by byte, and is gone when it is deleted."""
    kept = [client.files.create(file=(f"{n}.png", png(n)), purpose="vision") for n in range(3)]
    assert client.files.content(kept[1].id).content == png(1)
    assert kept[1].bytes == len(png(1))
    assert (kept[1].filename, kept[1].purpose, kept[1].status) == ("1.png", "vision", "processed")
    assert [file.id for file in client.files.list(limit=2)] == [file.id for file in reversed(kept)]
    assert client.files.list(purpose="batch").data == []
    assert client.files.delete(kept[1].id).deleted
    with pytest.raises(openai.NotFoundError) as raised:
        client.files.retrieve(kept[1].id)
    assert kept[1].id in raised.value.message


@pytest.mark.parametrize(("many", "status"), [(16, 200), (17, 400)])
def test_an_upload_has_sixteen_fields_and_no_more(client: openai.OpenAI, many: int, status: int) -> None:
    """What is none of OpenAI's is read past, within a bound."""
    fields = {"purpose": "batch", **{f"extra{number}": "x" for number in range(many - 1)}}
    sent = httpx.post(f"{client.base_url}files", data=fields, files={"file": ("a.jsonl", b"{}\n")}, timeout=30)
    assert sent.status_code == status


def test_a_batch_is_played_and_leaves_answers_and_errors(
    client: openai.OpenAI, worker: RunningWorker, gateway: RunningGateway
) -> None:
    """Each line's answer is what the same chat is answered with; a wrong body stands among the errors."""
    picture = data_url(png(1))
    bodies = [{"messages": asking(picture), "seed": number} for number in range(6)]
    batch_id = start_batch(client, lines(*bodies, {"messages": asking(), "tools": [{}]}))
    batch = end_of(client, batch_id)
    assert batch.status == "completed", batch.errors
    assert (batch.request_counts.total, batch.request_counts.completed, batch.request_counts.failed) == (7, 6, 1)
    assert batch.metadata == {"run": "one"}
    answered = read(client, batch.output_file_id)
    for number, body in enumerate(bodies):
        completion = answered[f"q{number}"]["response"]["body"]
        alone = client.chat.completions.create(model=MODEL, **body)
        assert completion["choices"][0]["message"]["content"] == alone.choices[0].message.content
        assert answered[f"q{number}"]["error"] is None
    refused = read(client, batch.error_file_id)["q6"]
    assert refused["error"] is None
    assert refused["response"]["status_code"] == 400
    assert "tools" in refused["response"]["body"]["error"]["message"]
    assert worker.renders == 1
    assert gateway.client.get("/v1/jobs").json()["data"] == []
    assert [each.id for each in client.batches.list()] == [batch_id]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"", "empty_file", None),
        (b"{}\nnonsense\n", "invalid_json_line", 1),
        (lines({"messages": asking()}) * 2, "duplicate_custom_id", 2),
        (lines({"messages": asking(), "model": "nothing"}), "model_not_found", 1),
        (lines({"messages": asking()}).replace(b"chat/completions", b"embeddings"), "invalid_url", 1),
    ],
)
def test_a_batch_of_lines_that_are_no_requests_fails_as_a_whole(
    client: openai.OpenAI, gateway: RunningGateway, content: bytes, code: str, line: int | None
) -> None:
    """The batch says which line it was, and nothing of it is played."""
    batch = end_of(client, start_batch(client, content))
    assert batch.status == "failed"
    assert (batch.errors.data[0].code, batch.errors.data[0].line) == (code, line)


def test_a_batch_names_a_hundred_faults_at_most(client: openai.OpenAI, gateway: RunningGateway) -> None:
    """A file of another kind has one a line."""
    batch = end_of(client, start_batch(client, b"nonsense\n" * 150))
    assert [fault.line for fault in batch.errors.data] == [*range(1, 101)]


@pytest.mark.slow
def test_a_batch_goes_on_where_a_gateway_ended(start: Any, settings: Any) -> None:
    """A second gateway plays to its end what the first one took."""
    first = start()
    with openai.OpenAI(base_url=f"{first.url}/v1", api_key="none") as client:
        batch_id = start_batch(client, lines(*({"messages": asking(text=f"{n}?\nA. a\nB. b")} for n in range(20))))
        wait_until(lambda: client.batches.retrieve(batch_id).status == "in_progress", what="the queueing")
    first.stop()
    second = start()
    with working(settings), openai.OpenAI(base_url=f"{second.url}/v1", api_key="none") as client:
        batch = end_of(client, batch_id)
        assert batch.status == "completed"
        assert len(read(client, batch.output_file_id)) == 20


def test_a_batch_that_is_queued_on_with_larger_bundles_loses_no_line(
    start: Any, settings: GatewaySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway dies amid the queueing, and the next one, of another setting, makes other bundles of the same lines."""
    append, appended = LuaScripts.append, []

    async def append_once(scripts: LuaScripts, job_id: str, bundles: Any) -> str:
        if appended:
            raise ConnectionError
        appended.append(job_id)
        return await append(scripts, job_id, bundles)

    first = start(bundle_requests=2)
    with monkeypatch.context() as patched, openai.OpenAI(base_url=f"{first.url}/v1", api_key="none") as client:
        patched.setattr(queue, "_CHUNK_BUNDLES", 1)
        patched.setattr(LuaScripts, "append", append_once)
        batch_id = start_batch(client, lines(*({"messages": asking(text=f"{n}?\nA. a\nB. b")} for n in range(6))))
        wait_until(lambda: appended, timeout=20, what="the first bundle")
        first.stop()
    second = start(bundle_requests=8)
    with working(settings), openai.OpenAI(base_url=f"{second.url}/v1", api_key="none") as client:
        batch = end_of(client, batch_id)
    assert (batch.status, batch.request_counts.completed) == ("completed", 6)


def test_a_batch_whose_queueing_the_server_lost_is_queued_again(
    client: openai.OpenAI, gateway: RunningGateway, settings: GatewaySettings
) -> None:
    """A power cut took back that all lines were queued; the batch does not wait for a job that nobody starts."""
    batch_id = start_batch(client, lines({"messages": asking()}, {"messages": asking(text="B?\nA. a\nB. b")}))
    wait_until(lambda: client.batches.retrieve(batch_id).status == "in_progress", what="the queueing")
    with redis.Redis.from_url(str(settings.redis_url)) as server:
        server.hset(KEYS.job(batch_id), "status", "validating")
    with working(settings):
        batch = end_of(client, batch_id)
    assert batch.status == "completed"
    assert len(read(client, batch.output_file_id)) == 2


@pytest.mark.slow
def test_a_batch_does_not_end_while_answers_are_missing(
    client: openai.OpenAI, gateway: RunningGateway, settings: GatewaySettings
) -> None:
    """A power cut took them back after the gateway had seen that the job was completed."""
    batch_id = start_batch(client, lines({"messages": asking()}, {"messages": asking(text="B?\nA. a\nB. b")}))
    wait_until(lambda: client.batches.retrieve(batch_id).status == "in_progress", what="the queueing")
    with redis.Redis.from_url(str(settings.redis_url)) as server:
        server.hset(KEYS.job(batch_id), "status", "completed")
        wait_until(lambda: client.batches.retrieve(batch_id).status == "finalizing", what="its end")
        server.hset(KEYS.job(batch_id), "status", "in_progress")
    with working(settings):
        batch = end_of(client, batch_id)
    assert (batch.status, batch.error_file_id) == ("completed", None)
    assert len(read(client, batch.output_file_id)) == 2


def test_a_cancelled_batch_says_what_was_not_played(client: openai.OpenAI, gateway: RunningGateway) -> None:
    """Without a worker nothing is answered, and every line says why."""
    batch_id = start_batch(client, lines({"messages": asking()}, {"messages": asking()}))
    wait_until(lambda: client.batches.retrieve(batch_id).status == "in_progress", what="the queueing")
    assert client.batches.cancel(batch_id).status == "cancelling"
    batch = end_of(client, batch_id)
    assert batch.status == "cancelled"
    assert batch.output_file_id is None
    assert {line["error"]["code"] for line in read(client, batch.error_file_id).values()} == {"batch_cancelled"}
    with pytest.raises(openai.ConflictError):
        client.with_options(max_retries=0).batches.cancel(batch_id)


def test_a_batch_calls_tools(client: openai.OpenAI, worker: RunningWorker) -> None:
    """As chats do; how calls are read is told by the recorded answer alone."""
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    tools = [{"type": "function", "function": {"name": "look", "parameters": schema}}]
    message = {"messages": [{"role": "user", "content": "Look."}], "tools": tools}
    batch = end_of(client, start_batch(client, lines({**message, "tool_choice": "required"}, message)))
    answers = read(client, batch.output_file_id)
    (choice,) = answers["q0"]["response"]["body"]["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "look", "arguments": '{"x": 0}'}
    assert choice["finish_reason"] == "tool_calls"
    assert "tool_calls" not in answers["q1"]["response"]["body"]["choices"][0]["message"]
