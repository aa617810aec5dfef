"""Tallies of jobs: what a part holds is judged once, and its tally stands beside it for the next report.

What a retry may take back (failures, and answers that are none) and what no part holds yet are read and counted anew
each time. Where what was found is not as much as what is recorded, all of the job is read.
"""

import asyncio
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from gigavqa.contract.codec import compress, decompress
from gigavqa.contract.errors import PartUnreadableError
from gigavqa.contract.flaws import is_retry_candidate
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.contract.schema_versions import read_response
from gigavqa.evaluation.capabilities import ChatDetails
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.tally import Tally
from gigavqa.reports.report import tally_replies
from gigavqa.reports.runs import Runs
from gigavqa.reports.tallies import dump_tally, judging_fingerprint, made_by, merge_tally, revise
from gigavqa.service.http.parameters import BEGINNING
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.results import PartCache, ResultStore

Value = TypeVar("Value")
UnreadableCounts = Counter[tuple[str, str]]
"""Responses that cannot be read, by their job and the reason."""
_PAGE = 500
log = logging.getLogger(__name__)


class _PartTally(NamedTuple):
    """The tally file beside a part: the number of answers, their tally, and what a retry may take back.

    Of that the row, request and cursor of each.
    """

    answers: int
    tally: dict[str, Any]
    revocable: Sequence[tuple[int, str, str]]


class _CountMismatchError(Exception):
    """The parts and the server do not hold as many responses as are recorded."""


class JobTallies:
    """Counts the responses of jobs. All methods block: they run in a thread, and ask the server in `loop`."""

    def __init__(self, results: ResultStore, results_uri: str) -> None:
        self._results = results
        self._parts = PartStore(results_uri)
        self.judged = 0
        """Replies that were judged since the start."""

    def count(
        self, job_ids: Sequence[str], dataset: Dataset, runs: Runs, loop: asyncio.AbstractEventLoop
    ) -> tuple[Tally, UnreadableCounts]:
        """Tally what jobs over one data set have recorded, under the names of `runs`, and tell what cannot be read."""
        counting = _TallyBuilder(self._results, self._parts, dataset, runs, loop)
        try:
            for job_id in job_ids:
                counting.add_parts(job_id)
        except _CountMismatchError:
            log.info("reading all of %s: its parts do not add up to what is recorded", ", ".join(job_ids))
            self.judged += counting.tally.judges.judged
            counting = _TallyBuilder(self._results, self._parts, dataset, runs, loop)
            for job_id in job_ids:
                counting.add(recorded_responses(self._results, job_id, loop))
        self.judged += counting.tally.judges.judged
        return counting.tally, counting.lacking


def recorded_responses(
    results: ResultStore,
    job_id: str,
    loop: asyncio.AbstractEventLoop,
    wanted: Callable[[str], bool] = lambda request_id: True,
) -> Iterator[Response | UnreadableResponse]:
    """Yield what a job has recorded of the requests that are `wanted` by their ids, page by page; blocks."""
    after, kept = BEGINNING, PartCache()
    while True:
        page, last = asyncio.run_coroutine_threadsafe(results.scan(job_id, wanted, after, _PAGE, kept), loop).result()
        yield from (response for _, response in page)
        if last is None:
            return
        after = last


def _parse_responses(texts: Iterable[str]) -> list[Response]:
    """Responses of a part. Raises _CountMismatchError for one that cannot be read: reading the whole job names it."""
    try:
        return [read_response(text) for text in texts]
    except ValueError as error:
        raise _CountMismatchError from error


class _TallyBuilder:
    """One tally in the making."""

    def __init__(
        self,
        results: ResultStore,
        parts: PartStore,
        dataset: Dataset,
        runs: Runs,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._results = results
        self._parts = parts
        self._dataset, self._runs = dataset, runs
        self._judged_by = judging_fingerprint(dataset, runs.known)
        # Beside a part is room for one tally: that without models that judge, whose verdicts come and go.
        self._keeps = not dataset.panel.judges
        self._loop = loop
        self.tally = tally_replies(dataset, (), runs.catalogue)
        self.lacking: UnreadableCounts = Counter()

    def add(self, responses: Iterable[Response | UnreadableResponse]) -> int:
        """Judge and count responses; returns how many there were."""
        number = 0
        for number, response in enumerate(responses, start=1):  # noqa: B007 - counted
            if isinstance(response, UnreadableResponse):
                self.lacking[response.job_id, response.unreadable] += 1
            else:
                self.tally.add(self._runs.reply(reply_of(response)))
        return number

    def add_parts(self, job_id: str) -> None:
        """Count a job by its parts and what is in none. Raises _CountMismatchError."""
        extent = self._wait(self._results.extent(job_id))
        if extent is None:
            raise _CountMismatchError
        counted, unreadable = 0, dict[str, str]()
        for part, seal in extent.seals.items():
            try:
                counted += self._add_part(job_id, part, seal)
            except PartUnreadableError as error:
                unreadable[part] = str(error)
        for first in range(0, len(extent.hot), _PAGE):
            chunk = extent.hot[first : first + _PAGE]
            counted += self.add(self._wait(self._results.read_of(job_id, chunk)).values())
        counted += self._lack(job_id, unreadable)
        if counted != extent.recorded:
            raise _CountMismatchError

    def _lack(self, job_id: str, unreadable: dict[str, str]) -> int:
        held = self._wait(self._results.count_in(job_id)) if unreadable else {}
        for part, reason in unreadable.items():
            self.lacking[job_id, reason] += held.get(part, 0)
        return sum(held.get(part, 0) for part in unreadable)

    def _add_part(self, job_id: str, part: str, seal: str) -> int:
        known = self._read(job_id, part, seal) or self._make(job_id, part, seal)
        recorded_as = [(request_id, cursor) for _, request_id, cursor in known.revocable]
        standing = self._wait(self._results.standing(job_id, recorded_as)) if recorded_as else []
        left = {row for (row, _, _), stands in zip(known.revocable, standing, strict=True) if stands}
        if left:
            rows = self._parts.rows(job_id, part, seal)
            self.add(_parse_responses(text for row, (_, text) in enumerate(rows) if row in left))
        merge_tally(self.tally, job_id, self._runs.tally(job_id, known.tally), self._dataset.benchmark)
        return known.answers + len(left)

    def _read(self, job_id: str, part: str, seal: str) -> _PartTally | None:
        """Return what was tallied of exactly this part by exactly these judges, if it was.

        Raises PartUnreadableError.
        """
        header, body = self._written(job_id, part)
        if header != self._header(seal, body):
            return None
        self._parts.check(job_id, part, seal)  # a part that was damaged since counts no longer
        return _PartTally(**json.loads(decompress(body)))

    def _written(self, job_id: str, part: str) -> tuple[bytes, bytes]:
        header, _, body = (self._parts.read_tally(job_id, part) or b"").partition(b"\n")
        return header, body

    def _before(self, job_id: str, part: str, seal: str) -> Mapping[str, Any]:
        """Return what other judges tallied of exactly this part; nothing where none did."""
        header, body = self._written(job_id, part)
        if not self._keeps or header.partition(b" ")[2] != self._header(seal, body).partition(b" ")[2]:
            return {}
        tally: dict[str, Any] = json.loads(decompress(body))["tally"]
        return tally

    def _make(self, job_id: str, part: str, seal: str) -> _PartTally:
        rows = self._parts.rows(job_id, part, seal)
        responses = _parse_responses(text for _, text in rows)
        answers = [reply_of(response) for response in responses if not is_retry_candidate(response)]
        tally = Tally(self.tally.samples, self.tally.judges, answers, ChatDetails.of(self._dataset.benchmark).trait)
        revocable = [
            (row, response.request_id, cursor)
            for row, (response, (cursor, _)) in enumerate(zip(responses, rows, strict=True))
            if is_retry_candidate(response)
        ]
        told = {**dump_tally(tally), "made": made_by(self._dataset, self._runs.known, tally)}
        told = json.loads(json.dumps(told))
        told["revised"] = revise(self._before(job_id, part, seal), told)
        made = _PartTally(len(answers), told, revocable)
        if self._keeps:
            self._keep(job_id, part, seal, made)
        return made

    def _keep(self, job_id: str, part: str, seal: str, made: _PartTally) -> None:
        body = compress(json.dumps(made._asdict(), separators=(",", ":")).encode())
        try:
            self._parts.write_tally(job_id, part, self._header(seal, body) + b"\n" + body)
        except OSError as error:
            log.warning("the tally of %s is not kept, and is made again for the next report: %s", part, error)

    def _header(self, seal: str, body: bytes) -> bytes:
        return f"{self._judged_by} {seal} {hashlib.sha256(body).hexdigest()}".encode()

    def _wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
