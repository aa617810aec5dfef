"""Chats that take their time: clients that leave, workers that die, and many clients at once."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest
from redis import Redis

from gigavqa.service.settings import GatewaySettings
from gigavqa.store.chats import CHAT_ID_PREFIX
from gigavqa.store.redis_keys import KEYS
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.service.gateways import MODEL, RunningGateway, openai_error_of
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.pictures import asking, data_url, png
from tests.service.openai.workers import ENTRY, RunningWorker, folder_of_uploads, working
from tests.waiting import wait_until

MESSAGES = asking(text="Which one?\nA. One\nB. Two")


def slow(speed: float = 0.005) -> SimulatedEngine:
    """An engine that takes a second a token."""
    return SimulatedEngine(ENTRY, speed=speed)


@pytest.fixture
def slow_worker(settings: GatewaySettings, gateway: RunningGateway) -> Iterator[RunningWorker]:
    """A worker on such an engine."""
    with working(settings, slow) as worker:
        wait_for_worker(gateway)
        yield worker


def text_of(chunk: Any) -> str:
    """What a chunk says."""
    return (chunk.choices[0].delta.content or "") if chunk.choices else ""


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_leaving_client_asked_for_is_aborted(
    gateway: RunningGateway, slow_worker: RunningWorker, stream: bool
) -> None:
    """Nothing of it is generated any more, nor waits, nor is kept."""
    body = {"model": MODEL, "messages": MESSAGES, "stream": stream}
    with (
        pytest.raises(httpx.ReadTimeout),
        httpx.Client(base_url=gateway.url, timeout=1) as client,
        client.stream("POST", "/v1/chat/completions", json=body) as answer,
    ):
        for _ in answer.iter_lines():
            pass
    wait_until(lambda: slow_worker.running == 0, what="the abort")

    def is_gone() -> bool:
        return bool(gateway.client.get(f"/v1/models/{MODEL}").json()["queue"] == {"waiting": 0, "leased": 0})

    wait_until(is_gone, what="the end of the lease")


@pytest.mark.slow
def test_a_stream_goes_on_when_its_worker_dies(
    gateway: RunningGateway, settings: GatewaySettings, client: openai.OpenAI
) -> None:
    """Another worker writes it anew, and the client gets each piece once."""
    with working(settings, slow) as dying:
        wait_for_worker(gateway)
        chunks = iter(client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=1, stream=True))
        told = ""
        while not told:
            told += text_of(next(chunks))
        dying.die()
    with working(settings):
        told += "".join(map(text_of, chunks))
        whole = client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=1)
    assert told == whole.choices[0].message.content


def test_a_chat_that_waits_is_answered_by_the_worker_that_comes_back(
    gateway: RunningGateway, settings: GatewaySettings
) -> None:
    """Nothing is lost while a client waits: not with the worker that held it, either."""
    with ThreadPoolExecutor() as pool:
        with working(settings, slow) as dying:
            wait_for_worker(gateway)
            asked = pool.submit(
                gateway.client.post, "/v1/chat/completions", json={"model": MODEL, "messages": MESSAGES}
            )
            wait_until(lambda: dying.running == 1, what="the beginning")
            dying.die()
        with working(settings):
            answer = asked.result(timeout=60)
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"].startswith("The answer is")


@pytest.mark.slow
def test_a_chat_that_the_server_lost_is_asked_again(gateway: RunningGateway, settings: GatewaySettings) -> None:
    """It came back as it was before the question, of which client and gateway know nothing."""
    with ThreadPoolExecutor() as pool, Redis.from_url(gateway.redis_url) as server:
        with working(settings, slow) as dying:
            wait_for_worker(gateway)
            asked = pool.submit(
                gateway.client.post, "/v1/chat/completions", json={"model": MODEL, "messages": MESSAGES}
            )
            wait_until(lambda: dying.running == 1, what="the beginning")
            dying.die()
        server.delete(KEYS.chats(), KEYS.depth(), KEYS.outstanding(), *server.scan_iter(f"*{CHAT_ID_PREFIX}*"))
        with working(settings):
            answer = asked.result(timeout=60)
        assert answer.status_code == 200
        assert answer.json()["choices"][0]["message"]["content"].startswith("The answer is")


@pytest.mark.slow
def test_a_gateway_that_ends_says_so(start: Callable[..., RunningGateway], settings: GatewaySettings) -> None:
    """The client of an answer that its grace does not suffice for gets an error that it may repeat elsewhere."""
    gateway = start(grace_seconds=0)
    with working(settings, slow):
        wait_for_worker(gateway)
        body = {"model": MODEL, "messages": MESSAGES, "stream": True}
        with httpx.stream("POST", f"{gateway.url}/v1/chat/completions", json=body, timeout=30) as answer:
            told = answer.iter_lines()
            next(line for line in told if line.startswith("data: "))
            gateway.server.should_exit = True
            events = [line.removeprefix("data: ") for line in told if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    assert json.loads(events[-2])["error"]["code"] == "server_unavailable"


def test_a_gateway_that_is_told_to_end_answers_its_chats_and_is_not_ready(
    start: Callable[..., RunningGateway], settings: GatewaySettings
) -> None:
    """What a balancer sees at once, while new requests are answered, too."""
    gateway = start()
    with working(settings, lambda: slow(0.05)) as worker, ThreadPoolExecutor() as pool:
        wait_for_worker(gateway)
        body = {"model": MODEL, "messages": MESSAGES, "max_tokens": 16}
        asked = pool.submit(gateway.client.post, "/v1/chat/completions", json=body)
        wait_until(lambda: worker.running == 1, what="the beginning")
        gateway.server.should_exit = True
        wait_until(lambda: httpx.get(f"{gateway.url}/readyz").status_code == 503, what="the end of readiness")
        assert "told" in httpx.get(f"{gateway.url}/readyz").json()["checks"]["gateway"]
        assert asked.result(timeout=30).json()["choices"][0]["finish_reason"]
    wait_until(lambda: not gateway.is_running, what="the end")


@pytest.mark.slow
def test_a_chat_waits_for_room_in_a_full_queue(start: Callable[..., RunningGateway], settings: GatewaySettings) -> None:
    """It is answered once there is some; a stream is refused at once, and so is a chat where nobody has time."""
    patient, hasty = start(queue_requests=1), start(queue_requests=1, chat_room_seconds=0)
    body = {"model": MODEL, "messages": MESSAGES, "max_tokens": 4}

    def ask(gateway: RunningGateway, **more: Any) -> httpx.Response:
        return httpx.post(f"{gateway.url}/v1/chat/completions", json={**body, **more}, timeout=120)

    with working(settings, lambda: slow(0.02)) as worker, ThreadPoolExecutor() as pool:
        wait_for_worker(patient)
        first = pool.submit(ask, patient)
        wait_until(lambda: worker.running == 1, what="the beginning")
        second = pool.submit(ask, patient)
        for refused in (ask(hasty), ask(patient, stream=True)):
            openai_error_of(refused, 429, "queue_full")
        assert [first.result().status_code, second.result().status_code] == [200, 200]


@pytest.mark.slow
def test_64_loops_that_resend_their_pictures_every_round(
    gateway: RunningGateway, worker: RunningWorker, settings: GatewaySettings
) -> None:
    """As agents do that call tools by text: each round has one more picture and all before; each is worked on once."""
    pictures = [data_url(png(number, (256, 192))) for number in range(12)]
    client = httpx.Client(base_url=gateway.url, timeout=120, limits=httpx.Limits(max_connections=64))

    def run(number: int) -> list[str]:
        system = {"role": "system", "content": "Call tools with <tool_call>."}
        messages: list[dict[str, Any]] = [system]
        said: list[str] = []
        for turn in range(3):
            messages += asking(pictures[(number + turn) % 12], text=f"{number}: which?\nA. a\nB. b")
            body = {
                "model": "Demo (Qwen3-VL architecture, random weights)",
                "messages": messages,
                "max_tokens": 20,
                "temperature": 0.7,
                "top_p": 0.8,
                "top_k": 20,
                "presence_penalty": 1.5,
                "repetition_penalty": 1.0,
                "seed": 42,
                "chat_template_kwargs": {"enable_thinking": False},
            }
            answer = client.post("/v1/chat/completions", json=body)
            assert answer.status_code == 200, answer.text
            said.append(answer.json()["choices"][0]["message"]["content"])
            messages.append({"role": "assistant", "content": said[-1]})
        return said

    with client, ThreadPoolExecutor(64) as pool:
        assert client.get("/v1/models").status_code == 200
        said = list(pool.map(run, range(64)))
    assert all(text.startswith("The answer is") for texts in said for text in texts)
    assert len(folder_of_uploads(settings)) == 12
    assert worker.renders == 12
    assert worker.encoder_runs == 12
