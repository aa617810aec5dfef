"""A whole job against a server elsewhere that misbehaves in every way at once."""

from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from gigavqa.contract.responses import FINISH_REASONS, Response
from gigavqa.store.results import ResultStore
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.engine import RemoteEngine
from tests.store.parts import rows_of, sink_all
from tests.workers.examples import ENTRY, job_of, make_request, responses_of, submit_requests
from tests.workers.misbehaving import KEY, misbehaving
from tests.workers.server_faults import REPLIES, STREAMS
from tests.workers.simulated_worker import running_worker
from tests.workers.test_remote_misbehaviour import MOST, expected

GOOD = [f"normal {number}" for number in range(40)]


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_every_good_question_is_answered_once_beside_every_misbehaviour(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """The job ends; each answer is recorded as it was, and each failure says what it is; all of it gets into parts."""
    questions = [*GOOD[:20], *REPLIES, *GOOD[20:]]
    job_id = await submit_requests(redis, *(make_request(question, None, question) for question in questions))
    with misbehaving(REPLIES, STREAMS) as there:
        settings = RemoteSettings(
            there.url, key=KEY, key_name="K", backoff_seconds=1e-6, answer_seconds=2.0, most_asks=MOST
        )
        make: Any = lambda: RemoteEngine(ENTRY, settings)  # noqa: E731 - the rig's are simulated elsewhere
        async with running_worker(redis, data, tmp_path, make, max_requests=16) as rig:
            await rig.until_final(job_id)
            abandoned = rig.count("bundles_total", outcome="abandoned")
    responses = {response.request_id: response for response in await responses_of(redis, job_id)}
    assert set(responses) == set(questions)
    assert abandoned == 0
    assert {question: there.asked[question] for question in GOOD} == dict.fromkeys(GOOD, 1)
    assert {_told(responses[question]) for question in GOOD} == {"A cat|stop"}
    for mode in REPLIES:
        wanted, most = expected(mode, endless=MOST)
        assert _told(responses[mode]).startswith(wanted.replace("within 1 s", "within 2 s")), mode
        assert there.asked[mode] <= most, mode
    counts = (await job_of(redis, job_id)).request_counts
    assert counts.completed + counts.failed == counts.total == len(questions)
    assert not [one for one in responses.values() if KEY in one.model_dump_json()]
    assert {turn.finish_reason for one in responses.values() for turn in one.turns} <= FINISH_REASONS
    assert await sink_all(redis, tmp_path) == len(questions)
    assert sorted(rows_of(tmp_path)) == sorted(questions)
    read = await ResultStore(redis, str(tmp_path)).read(job_id)
    assert {one.request_id: one for _, one in read} == responses


def _told(response: Response) -> str:
    if response.failure:
        return f"{response.failure.type}: {response.failure.message}"
    (turn,) = response.turns
    return f"{turn.text}|{turn.finish_reason}"
