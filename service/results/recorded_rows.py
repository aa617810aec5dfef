"""Rows for files of verdicts on what a job has recorded, in the order of recording."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from cachetools import LRUCache
from pydantic_core import from_json

from gigavqa.contract.errors import PartUnreadableError
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.reports.writers.verdict_columns import VerdictFileRow
from gigavqa.service.http.parameters import BEGINNING
from gigavqa.service.results.part_judging import PartJudging, ResponseUnknownError
from gigavqa.store.results import PAGE, PartCache, ResponsePlace, ResultStore

Value = TypeVar("Value")
_KEPT_BYTES = 16 << 20


class RecordedRows:
    """The whole rows of a job, page by page; blocks. Which responses count, and their order, the state store says.

    What stands beside the parts is read; what is in none, or in one that is damaged, is judged. `note` is told of each
    response that cannot be read.
    """

    def __init__(
        self,
        results: ResultStore,
        judging: PartJudging,
        job_id: str,
        loop: asyncio.AbstractEventLoop,
        note: Callable[[UnreadableResponse], None],
    ) -> None:
        self._results = results
        self._judging = judging
        self._job_id = job_id
        self._loop = loop
        self._note = note
        self._read = PartCache()
        self._kept = LRUCache[tuple[str, str], Sequence[bytes]](_KEPT_BYTES, lambda rows: sum(map(len, rows)))

    def __iter__(self) -> Iterator[VerdictFileRow]:
        """Yield a row for each response that answers a sample of the data set."""
        after = BEGINNING
        while places := self._wait(self._results.places(self._job_id, after, PAGE)):
            after = places[-1].cursor
            yield from filter(None, self._rows(places))

    def _rows(self, places: Sequence[ResponsePlace]) -> Iterator[VerdictFileRow | None]:
        told = self._told(places)
        loose = [place.request_id for place in places if place.request_id not in told]
        found = self._wait(self._results.read_of(self._job_id, loose, self._read)) if loose else {}
        for place in places:
            if place.request_id in told:
                yield from_json(told[place.request_id])
            elif response := found.get(place.request_id):  # else a retry took it back meanwhile
                yield self._judged(response)

    def _judged(self, response: Response | UnreadableResponse) -> VerdictFileRow | None:
        if isinstance(response, UnreadableResponse):
            self._note(response)
        return self._judging.row(response)

    def _told(self, places: Sequence[ResponsePlace]) -> Mapping[str, bytes]:
        """Return what stands beside parts of the responses in them, by request."""
        if not self._judging.keeps:
            return {}
        parts = {(place.part, place.seal) for place in places if place.part and place.seal}
        beside = {part: self._beside(part, seal) for part, seal in parts}
        return {
            place.request_id: beside[place.part][place.row]
            for place in places
            if place.part in beside and place.row is not None and place.row < len(beside[place.part])
        }

    def _beside(self, part: str, seal: str) -> Sequence[bytes]:
        """Return the rows of a part; none where it cannot be read, of which each of its responses tells why."""
        if (part, seal) in self._kept:
            return self._kept[part, seal]
        try:
            rows = self._judging.rows(self._job_id, part, seal)
        except (PartUnreadableError, ResponseUnknownError):
            rows = []
        with suppress(ValueError):  # larger than all that may be kept
            self._kept[part, seal] = rows
        return rows

    def _wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
