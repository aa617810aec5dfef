"""Tallies of jobs, and rows for files of verdicts: what a part holds is judged once, for all that ask later.

What a retry may take back (failures, and answers that are none) and what no part holds yet are read and counted anew
each time. Where what was found is not as much as what is recorded, all of the job is read.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.errors import PartUnreadableError
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.sample_judges import SampleJudges
from gigavqa.evaluation.tally import Tally
from gigavqa.reports.report import tally_replies
from gigavqa.reports.runs import Runs
from gigavqa.reports.tallies import merge_tally
from gigavqa.reports.writers.verdict_columns import VerdictFileRow
from gigavqa.service.http.parameters import BEGINNING
from gigavqa.service.results.part_judging import PartJudging, ResponseUnknownError
from gigavqa.service.results.recorded_rows import RecordedRows
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.results import PartCache, ResultStore

Value = TypeVar("Value")
UnreadableCounts = Counter[tuple[str, str]]
"""Responses that cannot be read, by their job and the reason."""
_PAGE = 500
log = logging.getLogger(__name__)


class _CountMismatchError(Exception):
    """The parts and the server do not hold as many responses as are recorded."""


class JobTallies:
    """Counts the responses of jobs, and tells the verdicts on them.

    All methods block: they run in a thread, and ask the server in `loop`.
    """

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

    def rows(
        self,
        job_id: str,
        dataset: Dataset,
        catalogue: Mapping[str, CatalogueEntry],
        loop: asyncio.AbstractEventLoop,
        note: Callable[[UnreadableResponse], None],
    ) -> Iterator[VerdictFileRow]:
        """Yield the whole row of each response that a job has recorded, in that order; `note` unreadable ones.

        What stands beside the parts is read, and all else judged.
        """
        judging = PartJudging(self._parts, dataset, catalogue, SampleJudges.of_dataset(dataset, catalogue))
        try:
            yield from RecordedRows(self._results, judging, job_id, loop, note)
        finally:
            self.judged += judging.judges.judged


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
        self._dataset, self._runs = dataset, runs
        self._loop = loop
        self.tally = tally_replies(dataset, (), runs.catalogue)
        self._judging = PartJudging(parts, dataset, runs.known, self.tally.judges)
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
        try:
            known = self._judging.tally(job_id, part, seal)
            recorded_as = [(request_id, cursor) for _, request_id, cursor in known.revocable]
            standing = self._wait(self._results.standing(job_id, recorded_as)) if recorded_as else []
            left = {row for (row, _, _), stands in zip(known.revocable, standing, strict=True) if stands}
            if left:
                responses = self._judging.responses(job_id, part, seal)
                self.add(response for row, (_, response) in enumerate(responses) if row in left)
        except ResponseUnknownError as error:  # reading the whole job names it
            raise _CountMismatchError from error
        merge_tally(self.tally, job_id, self._runs.tally(job_id, known.tally), self._dataset.benchmark)
        return known.answers + len(left)

    def _wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
