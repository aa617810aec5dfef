"""What an engine answers and nobody could record: a failure of that request, told at once, and of no other."""

from collections.abc import Sequence
from pathlib import Path

from redis.asyncio import Redis

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse, Usage
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.workers.examples import ENTRY, job_of, make_request, responses_of, submit_requests
from tests.workers.simulated_worker import running_worker

WRONG = {
    "surrogate": {"text": "A \ud800"},
    "countless": {"usage": Usage(prompt_tokens=2**70)},
    "free": {"usage": Usage(dollars=float("nan"))},
}


class OddEngine(SimulatedEngine):
    """Answers questions that name one of what is `WRONG` with it; counts how often it is asked."""

    asked = 0

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer."""
        OddEngine.asked += 1
        turn = await super().generate(chat, sampling, request_id, priority, grow)
        return turn.model_copy(update=WRONG.get(chat[-1].text, {}))


async def test_what_cannot_be_recorded_is_a_failure_of_its_own(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Each request of the bundle is asked once, and its neighbours are answered."""
    asked = [*(make_request(name, None, name) for name in WRONG), *(make_request(f"r{n}", None) for n in range(5))]
    job_id = await submit_requests(redis, *asked)
    OddEngine.asked = 0
    async with running_worker(redis, data, tmp_path, lambda: OddEngine(ENTRY, speed=0)) as rig:
        await rig.until_final(job_id)
        unexpected = rig.count("unexpected_errors_total")
    responses = {response.request_id: response for response in await responses_of(redis, job_id)}
    job = await job_of(redis, job_id)
    assert (len(responses), OddEngine.asked, unexpected) == (8, 8, 3)
    assert (job.request_counts.completed, job.request_counts.failed, job.retryable) == (5, 3, 0)
    failures = [response.failure for response in responses.values() if response.failure]
    assert {failure.type for failure in failures} == {"ResponseUnrecordableError"}
    assert sorted(failure.message.split(":")[0] for failure in failures) == [
        "it could not be read again",
        "its dollars cannot be counted",
        "its prompt_tokens cannot be counted",
    ]
