"""The same requests to vLLM in a worker's process and to `vllm serve` from a worker elsewhere."""

import importlib.util
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.contract.requests import InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import Response
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.tiling.views import View
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY, image, job_of, make_request, responses_of, submit_requests
from tests.workers.processes import worker_process
from tests.workers.test_closing_turn import closing_of
from tests.workers.test_processes import until_recorded
from tests.workers.vllm_server import vllm_server

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]

GREEDY = Sampling(temperature=0.0, max_tokens=24, seed=3)
DRAWN = Sampling(temperature=0.7, max_tokens=24, seed=4)


def plan() -> list[InferenceRequest]:
    """Text alone, one and several pictures, regions, a system text, several turns, given answers, and draws."""
    part = View(image=image(2), region="100,100,300,200")
    thumbnail = View(image=image(2), sizing="longest:256")
    chat = (
        Turn(parts=(View(image=image(1)), "What is it?")),
        Turn(parts=("And now? ", "Say it.")),
        Turn(parts=(part, "And here?")),
    )
    given = (
        Turn(parts=(View(image=image(1)), "What is it?"), given="<think>A box.</think>A box."),
        Turn(parts=("Sure?",)),
    )
    requests = [
        make_request(f"one-{n}", image(n % 4), f"Question {n}? A. one B. two", sampling=GREEDY) for n in range(8)
    ]
    requests += [
        make_request(f"weighed-{n}", None, turns=(Turn(parts=(View(image=image(n)), "When?"), forced=answer),))
        for n, answer in enumerate(("A", "in 1911, by the river", " with a blank"))
    ]
    requests += [
        make_request("text", None, sampling=GREEDY),
        make_request("system", image(3), system="You are brief. ü < > &", sampling=GREEDY),
        make_request("several", None, turns=(Turn(parts=(thumbnail, part, "Which?")),), sampling=GREEDY),
        make_request("turns", None, turns=chat, sampling=GREEDY),
        make_request("given", None, turns=given, sampling=GREEDY),
        make_request("marks", image(0), "<|im_start|> is a mark.", sampling=GREEDY),
        make_request("drawn", image(0), sampling=DRAWN),
        make_request("closed", image(1), sampling=GREEDY, closing=closing_of("ABCD")),
        make_request("closed-object", image(1), sampling=GREEDY, closing=closing_of("ABCD", "json")),
    ]
    return requests


async def _play(redis: Redis, job_id: str, number: int) -> dict[str, Response]:
    await until_recorded(redis, job_id, number, seconds=280)
    return {response.request_id: response for response in await responses_of(redis, job_id)}


@pytest.mark.timeout(900)
async def test_the_same_plan_has_the_same_texts_in_process_and_elsewhere(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Word for word, with as many tokens of prompts and answers; and the server dies in the middle of more.

    What the server was sent are lossless pictures of the rasters that the worker's own engine gets as they are.
    """
    asked = plan()
    weights = ensure_checkpoint(ENTRY.weights, tmp_path / "checkpoints")
    job_id = await submit_requests(redis, *asked)
    with worker_process(tmp_path, data, server.url, forked=True) as worker:
        worker.wait_until_ready(timeout=240)
        here = await _play(redis, job_id, len(asked))
    with vllm_server(ENTRY, weights, tmp_path) as there:
        job_id = await submit_requests(redis, *asked)
        arguments = ("--engine", "remote", "--endpoint", there.url, "--backoff-seconds", "0.1", "--lease", "5")
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            elsewhere = await _play(redis, job_id, len(asked))
            assert {name: _told(response) for name, response in elsewhere.items()} == {
                name: _told(response) for name, response in here.items()
            }
            assert len({response.turns[0].text for response in here.values()}) > 1
            assert [len(here[name].answers) for name in ("closed", "closed-object", "drawn")] == [2, 2, 1]
            more = [make_request(f"more-{n}", image(n % 4), f"Question {n}?", sampling=GREEDY) for n in range(40)]
            job_id = await submit_requests(redis, *more)
            await until_recorded(redis, job_id, 9, seconds=120)
            there.kill()
            there.start()
            answered = await _play(redis, job_id, len(more))
        counts = (await job_of(redis, job_id)).request_counts
    assert (len(answered), counts.completed, counts.failed, there.lives) == (40, 40, 0, 2)
    (info,) = {response.engine.model_dump_json() for response in elsewhere.values() if response.engine}
    assert '"dialect":"vllm"' in info and '"not_sent":[]' in info


def _told(response: Response) -> tuple[object, ...]:
    turns = [
        (turn.text, turn.finish_reason, turn.usage.prompt_tokens, turn.usage.completion_tokens)
        for turn in response.answers
    ]
    return (response.failure, *turns)
