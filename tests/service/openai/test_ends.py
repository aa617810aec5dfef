"""What clients are told of how an answer ended, by a worker that records what each test says, as earlier ones did."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Any

import openai
import pytest

from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import Response, TokenLogprob, TurnResponse, Usage
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.streaming import TokenPublisher
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from tests.service.gateways import MODEL
from tests.service.openai.test_batches import end_of, lines, read, start_batch

MESSAGES = [{"role": "user", "content": "Which one?\nA. One\nB. Two"}]
BROKEN = ("error", "abort", "unknown", "repetition")
Pieces = Sequence[tuple[int, str, tuple[TokenLogprob, ...] | None]]


def ended(reason: str, text: str = "The answer is A", **changes: Any) -> TurnResponse:
    """An answer that ended for a reason."""
    return TurnResponse.model_validate({"text": text, "finish_reason": reason, "usage": Usage(), **changes})


class ScriptedWorker:
    """Claims chats, tells the pieces of an answer, and records it; the last of its answers goes on for ever."""

    def __init__(self, url: str, answers: Iterator[tuple[TurnResponse, Pieces]]) -> None:
        self._url, self._answers, self._over = url, answers, threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._work()))
        self.ready = threading.Event()
        self._thread.start()
        assert self.ready.wait(20)

    def stop(self) -> None:
        """End."""
        self._over.set()
        self._thread.join(timeout=20)

    async def _work(self) -> None:
        redis = connect(self._url)
        queue = JobQueue(redis)
        status = WorkerStatus(worker="scripted", models=(MODEL,), state="ready", since=datetime.now(UTC))
        await WorkerRegistry(redis).announce(status, ttl=120)
        self.ready.set()
        while not self._over.is_set():
            for lease in await queue.claim([MODEL], "scripted", 10, 0.05):
                for request in lease.bundle.requests:
                    await self._answer(redis, lease, request)
        await redis.aclose()

    async def _answer(self, redis: Any, lease: Lease, request: InferenceRequest) -> None:
        turn, pieces = next(self._answers)
        if request.listener:
            grow = TokenPublisher(redis).grow(request.listener, lease.job_id, request.id)
            for piece in pieces:
                grow(*piece)
                await asyncio.sleep(0.05)  # so that each is told by itself
        response = Response(
            **dict(request.labels),
            job_id=lease.job_id,
            turns=(turn,),
            sampling=request.sampling,
            worker="scripted",
            created_at=datetime.now(UTC),
        )
        await ResultStore(redis).record(response, lease)


@contextmanager
def recording(settings: GatewaySettings, *turns: TurnResponse, pieces: Pieces = ()) -> Iterator[None]:
    """Have chats answered by these, one after the other, the last one again and again."""
    answers = chain(turns[:-1], repeat(turns[-1]))
    worker = ScriptedWorker(settings.redis_url or "", ((turn, pieces) for turn in answers))
    try:
        yield
    finally:
        worker.stop()


def ask(client: openai.OpenAI, **changes: Any) -> Any:
    """Ask the question."""
    return client.chat.completions.create(model=MODEL, messages=MESSAGES, **changes)


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
def test_why_an_answer_ended_is_told_whole_streamed_and_in_a_batch(
    client: openai.OpenAI, settings: GatewaySettings, reason: str
) -> None:
    """With the text that there is, also of what was filtered."""
    with recording(settings, ended(reason)):
        (whole,) = ask(client).choices
        *pieces, last = (chunk.choices[0] for chunk in ask(client, stream=True))
        batch = end_of(client, start_batch(client, lines({"messages": MESSAGES})))
    assert (whole.finish_reason, last.finish_reason) == (reason, reason)
    assert whole.message.content == "".join(one.delta.content or "" for one in pieces) == "The answer is A"
    (told,) = read(client, batch.output_file_id)["q0"]["response"]["body"]["choices"]
    assert (told["finish_reason"], told["message"]["content"]) == (reason, "The answer is A")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("reason", BROKEN)
def test_an_answer_that_was_broken_off_is_an_error_of_the_server(
    client: openai.OpenAI, settings: GatewaySettings, reason: str, stream: bool
) -> None:
    """Never an answer, be its text empty or not."""
    for text in ("", "The answer"):
        with recording(settings, ended(reason, text)), pytest.raises(openai.InternalServerError) as raised:
            ask(client, stream=stream)
        assert raised.value.code == "answer_failed"
        assert f"GenerationFailedError: the engine ended an answer for no reason of answers: '{reason}'" in str(
            raised.value
        )


def test_openai_s_client_asks_again_for_what_was_broken_off(client: openai.OpenAI, settings: GatewaySettings) -> None:
    """By itself, as it does for its own servers' errors."""
    with recording(settings, ended("error", ""), ended("stop")):
        assert ask(client.with_options(max_retries=1)).choices[0].message.content == "The answer is A"


def test_a_stream_that_is_broken_off_ends_with_an_error(client: openai.OpenAI, settings: GatewaySettings) -> None:
    """What was told by then stays told, and no reason of an answer follows."""
    chunks = []
    with (
        recording(settings, ended("error"), pieces=[(0, "The answer", None)]),
        pytest.raises(openai.APIError, match="GenerationFailedError"),
    ):
        chunks.extend(ask(client, stream=True))
    assert chunks
    assert not [chunk for chunk in chunks if chunk.choices[0].finish_reason]


def test_a_line_of_a_batch_that_was_broken_off_is_among_the_errors(
    client: openai.OpenAI, settings: GatewaySettings
) -> None:
    """With the status that the chat would have had; the other line is answered."""
    with recording(settings, ended("error", ""), ended("stop")):
        batch = end_of(client, start_batch(client, lines(*[{"messages": MESSAGES, "seed": at} for at in range(2)])))
    assert (batch.request_counts.completed, batch.request_counts.failed) == (1, 1)
    (line,) = read(client, batch.error_file_id).values()
    assert line["response"]["status_code"] == 500
    assert "GenerationFailedError" in line["response"]["body"]["error"]["message"]


def likely(*tokens: str) -> tuple[TokenLogprob, ...]:
    """Tokens with how likely they were, each otherwise."""
    return tuple(TokenLogprob(token=token, logprob=-number / 8) for number, token in enumerate(tokens))


TWO, NONE = likely("B", "<|im_end|>"), likely("<|im_end|>")


@pytest.mark.parametrize(
    ("text", "tokens", "pieces"),
    [
        ("B", TWO, [(0, "B", TWO)]),
        ("B", TWO, [(0, "B", TWO[:1]), (1, "", TWO[1:])]),
        ("B", TWO, [(0, "B", TWO[:1])]),
        ("B", TWO, []),
        ("", NONE, [(0, "", NONE)]),
        ("", NONE, []),
        ("B", TWO, [(0, "", TWO[:1]), (0, "B", TWO[:1]), (1, "", TWO[1:])]),
        ("B", TWO, [(0, "B", TWO[:1]), (0, "B", TWO[:1]), (1, "", TWO[1:])]),
    ],
    ids=["at once", "the end apart", "no end", "nothing", "no text", "nothing of none", "anew", "anew with text"],
)
def test_a_stream_has_the_logprobs_of_the_whole(
    client: openai.OpenAI,
    settings: GatewaySettings,
    text: str,
    tokens: tuple[TokenLogprob, ...],
    pieces: Pieces,
) -> None:
    """Each token once and in order, also those that wrote nothing, whatever of them was told while it was written."""
    with recording(settings, ended("stop", text, logprobs=tokens), pieces=pieces):
        (whole,) = ask(client, logprobs=True).choices
        chunks = [chunk.choices[0] for chunk in ask(client, logprobs=True, stream=True)]
    assert [one.token for one in whole.logprobs.content] == [one.token for one in tokens]
    streamed = [one for chunk in chunks if chunk.logprobs for one in chunk.logprobs.content]
    assert streamed == whole.logprobs.content
    assert "".join(chunk.delta.content or "" for chunk in chunks) == text
    assert all(chunk.delta.content is not None for chunk in chunks if chunk.logprobs)
