"""What a worker has finished waits for a state store that refuses it, as for one that is away."""

import logging
from collections.abc import Iterator

import pytest
from redis.exceptions import ResponseError

from gigavqa.runtime.errors import StateStoreRefusedError
from gigavqa.workers.store_outage import retry_until_up


async def test_a_refused_password_is_waited_out_and_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator changes it while the worker runs, and nothing that it holds is lost."""
    monkeypatch.setattr("gigavqa.workers.store_outage._PAUSE_SECONDS", 0)
    refused = StateStoreRefusedError("REDIS_URL is refused")
    answers: Iterator[StateStoreRefusedError | int] = iter([refused, refused, 7])

    async def call() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with caplog.at_level(logging.WARNING):
        assert await retry_until_up(call) == 7
    assert ["is refused" in record.message for record in caplog.records] == [True, False]


async def test_a_fault_of_a_call_is_not_waited_out() -> None:
    """Waiting would hide it."""

    async def call() -> int:
        raise ResponseError("wrong kind of value")

    with pytest.raises(ResponseError):
        await retry_until_up(call)
