"""What a job that is asked again has recorded: which of its requests keep their answers, and which are asked."""

from collections.abc import Mapping
from dataclasses import dataclass

from gigavqa.contract.flaws import is_retry_candidate
from gigavqa.contract.responses import Response
from gigavqa.service.results.responses import read_pages
from gigavqa.store.results import ResultStore
from gigavqa.store.retries import Retry


@dataclass(frozen=True)
class RecordedRequests:
    """The requests of a job whose answers stay in a retry, those that failed, and the answers that it takes back.

    `taken_back` are cursors by request id.
    """

    answered: set[str]
    failed: set[str]
    taken_back: Mapping[str, str]

    @property
    def asked(self) -> int:
        """How many of the recorded requests are asked again."""
        return len(self.failed) + len(self.taken_back)


async def read_recorded(results: ResultStore, job_id: str, *, empty: bool, retry: Retry | None) -> RecordedRequests:
    """Look at all that a job has recorded, but for what a `retry` that goes on after a crash has recorded itself.

    Texts are read only with `empty`, which takes answers back that are none.
    """
    taken_back = await read_flawed(results, job_id, retry) if empty else {}
    found = RecordedRequests(set(), set(), taken_back)
    async for request_id, cursor, outcome in results.outcomes(job_id):
        if retry and retry.recorded(cursor):
            continue
        if outcome == "failed":
            found.failed.add(request_id)
        elif request_id not in taken_back:
            found.answered.add(request_id)
    return found


async def read_flawed(results: ResultStore, job_id: str, retry: Retry | None = None) -> Mapping[str, str]:
    """Return cursors by request id of what is recorded as answered and is no answer: empty, or broken off."""
    found: dict[str, str] = {}
    async for page in read_pages(results, job_id):
        for cursor, response in page:
            own = retry and retry.recorded(cursor)
            if response.ok and isinstance(response, Response) and is_retry_candidate(response) and not own:
                found[response.request_id] = cursor
    return found
