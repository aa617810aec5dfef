"""Reports and verdicts, computed from the raw responses when somebody reads them.

Reports are kept while nothing new is recorded.
"""

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Annotated, Literal

from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from gigavqa.catalogue.load import Catalogue
from gigavqa.contract.jobs import Job
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.evaluation.capabilities import judgement_reader
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.expansion import is_about
from gigavqa.evaluation.judgements import Panel
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.tables import Caveat
from gigavqa.reports.report import JobFacts, Report, report_on_tally, versions_of
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.page.page import render_html
from gigavqa.reports.writers.page.samples import choose_samples, most_samples
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import VerdictFormat, verdict_chunks
from gigavqa.service.errors import DatasetsDifferError
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.service.http.freshness import StampedCache
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.results.report_jobs import ReportJobs
from gigavqa.service.results.tallies import JobTallies, UnreadableCounts, recorded_responses
from gigavqa.store.previews import PreviewStore
from gigavqa.store.results import ResultStore

Format = Literal["json", "md", "csv", "tex", "html"]

_RENDERERS: dict[Format, Callable[[Report], str]] = {
    "json": render_json,
    "md": render_markdown,
    "csv": render_csv,
    "tex": render_latex,
}
_KEPT_REPORTS = 16
_KEPT_PAGE_CHARACTERS = 32 << 20
_KEPT_PANELS = 2  # a verdict for every different answer
_BUILDS_AT_A_TIME, _BUILDS_OF_AN_OWNER = 2, 1
_MOST_REASONS = 5


@dataclass(frozen=True)
class ReportReader:
    """For whom a report is made, and whether he still waits for it."""

    owner: str | None
    has_left: Callable[[], Awaitable[bool]]


def report_reader(request: Request, caller: CurrentCaller) -> ReportReader:
    """Return who reads what a request asks for."""
    return ReportReader(caller.owner, request.is_disconnected)


CurrentReader = Annotated[ReportReader, Depends(report_reader)]


class Reports:
    """Builds reports in threads, a few at a time; responses pass through page by page."""

    def __init__(
        self,
        results: ResultStore,
        datasets: Datasets,
        catalogue: Callable[[], Catalogue],
        previews: PreviewStore,
        tallies: JobTallies,
        *,
        viewer: str | None = None,
    ) -> None:
        self._results = results
        self._tallies = tallies
        self._datasets = datasets
        self._catalogue = catalogue
        self._previews = previews
        self._viewer = viewer
        self._kept = StampedCache[Report](_KEPT_REPORTS)
        self._pages = StampedCache[str](_KEPT_PAGE_CHARACTERS, len)
        self._panels = StampedCache[Panel](_KEPT_PANELS)
        self._building = FairSemaphore(_BUILDS_AT_A_TIME, _BUILDS_OF_AN_OWNER)
        self._lacking: set[str] = set()  # jobs of which responses could not be read when last tried

    async def render(self, asked: ReportJobs, form: Format, reader: ReportReader) -> str:
        """Render one report of what the jobs, all over one data set, have recorded so far.

        Raises ClientDisconnect where nobody waits for it any more when its turn comes.
        """
        loop = asyncio.get_running_loop()
        async with self._turn_of(reader):
            return await asyncio.to_thread(self._render, asked, form, loop)

    async def verdicts(
        self, asked: ReportJobs, form: VerdictFormat, reader: ReportReader, *, parts: bool, texts: bool
    ) -> AsyncIterator[bytes]:
        """Yield a file of the verdicts on what the jobs have recorded so far, in the order of recording, job by job.

        Nothing comes before the first response is judged, so that what cannot be judged at all is refused. Raises
        ClientDisconnect as `render` does.
        """
        chunks = self._verdicts(asked, form, parts, texts, asyncio.get_running_loop())
        while True:
            async with self._turn_of(reader):
                chunk = await asyncio.to_thread(next, chunks, None)
            if chunk is None:
                return
            yield chunk

    @asynccontextmanager
    async def _turn_of(self, reader: ReportReader) -> AsyncIterator[None]:
        async with self._building.of(reader.owner):
            if await reader.has_left():
                raise ClientDisconnect
            yield

    def version(self, asked: ReportJobs) -> str:
        """Changes whenever the report may: responses recorded or retried, records edited, another parser; blocks.

        Raises DatasetsDifferError unless the jobs are over one data set, and JudgesMixedError.
        """
        names = sorted({job.spec.dataset for job in asked.all})
        if len(names) > 1:
            raise DatasetsDifferError(f"one report is over one data set; these jobs are over {', '.join(names)}")
        asked.require_roles()
        states = [f"{job.id} {job.status} {job.request_counts} {job.finished_at}" for job in asked.all]
        states.append(f"{len(asked.judges)} judges")
        if self._lacking.intersection(job.id for job in asked.all):
            states.append(secrets.token_hex(8))
        versions = versions_of(self._datasets.load(names[0])).values()
        state = " ".join([*states, str(self._viewer), self._datasets.version(names[0]), *versions])
        return hashlib.sha256(state.encode()).hexdigest()[:16]

    def _render(self, asked: ReportJobs, form: Format, loop: asyncio.AbstractEventLoop) -> str:
        version = self.version(asked)
        report = self._kept.get(asked.ids, version, lambda: self._build(asked, loop))
        if form != "html":
            return _RENDERERS[form](report)
        return self._pages.get(asked.ids, version, lambda: self._page(asked, report, loop))

    def _page(self, asked: ReportJobs, report: Report, loop: asyncio.AbstractEventLoop) -> str:
        dataset, jobs = self._dataset(asked, loop), asked.jobs
        named = None if any(not job.spec.samples for job in jobs) else {one for job in jobs for one in job.spec.samples}
        shown = choose_samples(dataset, named, most_samples(report))
        found = self._recorded(jobs, loop, lambda request_id: is_about(request_id, shown))
        responses = (one for one in found if isinstance(one, Response) and one.sample_id in shown)
        prompts, catalogue = PromptRebuilder(dataset, {job.id: job.spec for job in jobs}), self._catalogue()
        runs = asked.runs(dataset, catalogue)
        outcomes = map(runs.outcome, sample_outcomes(dataset, responses, catalogue, prompts))
        return render_html(report, outcomes, self._previews.read, viewer=self._viewer, titles=runs.titles)

    def _verdicts(
        self, asked: ReportJobs, form: VerdictFormat, parts: bool, texts: bool, loop: asyncio.AbstractEventLoop
    ) -> Iterator[bytes]:
        dataset, catalogue = self._dataset(asked, loop), self._catalogue()
        self._lacking -= {job.id for job in asked.jobs}
        rows = chain.from_iterable(
            self._tallies.rows(job.id, dataset, catalogue, loop, self._note_lacking) for job in asked.jobs
        )
        first = list(islice(rows, 1))
        yield from verdict_chunks(chain(first, rows), form, VerdictFileLayout.of(dataset, parts=parts, texts=texts))

    def _note_lacking(self, response: UnreadableResponse) -> None:
        self._lacking.add(response.job_id)

    def _noted(self, response: Response | UnreadableResponse) -> Response | UnreadableResponse:
        if isinstance(response, UnreadableResponse):
            self._note_lacking(response)
        return response

    def _dataset(self, asked: ReportJobs, loop: asyncio.AbstractEventLoop) -> Dataset:
        """Return the jobs' data set, judged by what the judges' jobs have recorded so far."""
        dataset = self._datasets.load(asked.jobs[0].spec.dataset)
        if not asked.judges:
            return dataset
        judges = ReportJobs(asked.judges)

        def gather() -> Panel:
            found = (self._noted(one) for one in self._recorded(judges.jobs, loop))
            replies = (reply_of(one) for one in found if isinstance(one, Response))
            return Panel.of(replies, judgement_reader(dataset.benchmark))

        self._lacking -= {job.id for job in judges.jobs}
        return dataset.judged_with(self._panels.get(judges.ids, self.version(judges), gather))

    def _build(self, asked: ReportJobs, loop: asyncio.AbstractEventLoop) -> Report:
        dataset, jobs = self._dataset(asked, loop), asked.jobs
        runs = asked.runs(dataset, self._catalogue())
        tally, lacking = self._tallies.count([job.id for job in jobs], dataset, runs, loop)
        report = report_on_tally(dataset, tally, runs.catalogue, *map(runs.spec, jobs))
        self._lacking -= {job.id for job in jobs}
        self._lacking |= {job for job, _ in lacking}
        facts = tuple(JobFacts.of(job) for job in asked.all)
        caveats = (*_unreadable_caveats(jobs, lacking), *map(runs.caveat, report.caveats))
        return report.model_copy(update={"jobs": facts, "caveats": caveats})

    def _recorded(
        self,
        jobs: Sequence[Job],
        loop: asyncio.AbstractEventLoop,
        wanted: Callable[[str], bool] = lambda request_id: True,
    ) -> Iterator[Response | UnreadableResponse]:
        return chain.from_iterable(recorded_responses(self._results, job.id, loop, wanted) for job in jobs)


def _unreadable_caveats(jobs: Sequence[Job], lacking: UnreadableCounts) -> Iterator[Caveat]:
    """Say of each job how many of its responses are in no table, and why."""
    for job in jobs:
        reasons = Counter({reason: number for (job_id, reason), number in lacking.items() if job_id == job.id})
        if reasons:
            told = "; ".join(f"{reason} ({number})" for reason, number in reasons.most_common(_MOST_REASONS))
            more = "; and more" if len(reasons) > _MOST_REASONS else ""
            recorded = job.request_counts.completed + job.request_counts.failed
            text = f"job {job.id}: {reasons.total()} of {recorded} recorded responses cannot be read: {told}{more}"
            yield Caveat(scope="report", text=text)
