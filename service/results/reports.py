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
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response as Answer

from gigavqa.catalogue.load import Catalogue
from gigavqa.contract.errors import JobNotFoundError, TextMissingError
from gigavqa.contract.jobs import Job
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.evaluation.capabilities import judgement_reader
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import AnnotationInvalidError, DatasetInvalidError, JudgesMixedError
from gigavqa.evaluation.expansion import is_about
from gigavqa.evaluation.judgements import Panel
from gigavqa.evaluation.outcomes import SampleOutcome, sample_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.tables import Caveat
from gigavqa.reports.report import JobFacts, Report, report_on_tally, versions_of
from gigavqa.reports.runs import Runs
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.page.page import render_html
from gigavqa.reports.writers.page.samples import choose_samples, most_samples
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import VerdictFormat, verdict_chunks
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import DatasetNotFoundError, DatasetsDifferError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.service.http.freshness import StampedCache, etag_headers, matches_etag
from gigavqa.service.http.openapi import problem_responses
from gigavqa.service.http.parameters import (
    MOST_JOBS,
    MOST_JUDGES,
    IfNoneMatch,
    JobId,
    Registry,
    component,
    get_visible_jobs,
)
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.results.tallies import JobTallies, UnreadableCounts, recorded_responses
from gigavqa.store.previews import PreviewStore
from gigavqa.store.results import ResultStore

router = APIRouter(prefix="/v1", tags=["results"])
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
class ReportJobs:
    """The jobs of a report, and those whose models judge their answers."""

    jobs: Sequence[Job]
    judges: Sequence[Job] = ()
    by_job: bool = False
    """Whether answers of a model that several jobs ask the same stand apart, by their job."""

    @property
    def all(self) -> Sequence[Job]:
        """Both, judges last."""
        return [*self.jobs, *self.judges]

    @property
    def ids(self) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """The ids of the jobs, and whether their answers stand apart."""
        return tuple(job.id for job in self.jobs), tuple(job.id for job in self.judges), self.by_job

    def runs(self, dataset: Dataset, catalogue: Catalogue) -> Runs:
        """Return what models are called in the report."""
        return Runs.apart(self.jobs, dataset.benchmark, catalogue) if self.by_job else Runs(catalogue)

    def require_roles(self) -> None:
        """Raise JudgesMixedError where a job that judges is among those that are judged, or the reverse."""
        if idle := [job.id for job in self.judges if not job.spec.judge]:
            raise JudgesMixedError(f"judge: job {idle[0]} does not judge; `gigavqa judge` submits one that does")
        judging = [job.id for job in self.jobs if job.spec.judge]
        if judging and (self.judges or len(judging) < len(self.jobs)):
            raise JudgesMixedError(
                f"job: {judging[0]} judges; name it as `judge`, beside the jobs whose answers it judges"
            )


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

    async def render(self, asked: "ReportJobs", form: Format, reader: "ReportReader") -> str:
        """Render one report of what the jobs, all over one data set, have recorded so far.

        Raises ClientDisconnect where nobody waits for it any more when its turn comes.
        """
        loop = asyncio.get_running_loop()
        async with self._turn_of(reader):
            return await asyncio.to_thread(self._render, asked, form, loop)

    async def verdicts(
        self, asked: "ReportJobs", form: VerdictFormat, reader: "ReportReader", *, parts: bool, texts: bool
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
    async def _turn_of(self, reader: "ReportReader") -> AsyncIterator[None]:
        async with self._building.of(reader.owner):
            if await reader.has_left():
                raise ClientDisconnect
            yield

    def version(self, asked: "ReportJobs") -> str:
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

    def _render(self, asked: "ReportJobs", form: Format, loop: asyncio.AbstractEventLoop) -> str:
        version = self.version(asked)
        report = self._kept.get(asked.ids, version, lambda: self._build(asked, loop))
        if form != "html":
            return _RENDERERS[form](report)
        return self._pages.get(asked.ids, version, lambda: self._page(asked, report, loop))

    def _page(self, asked: "ReportJobs", report: Report, loop: asyncio.AbstractEventLoop) -> str:
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
        self, asked: "ReportJobs", form: VerdictFormat, parts: bool, texts: bool, loop: asyncio.AbstractEventLoop
    ) -> Iterator[bytes]:
        dataset = self._dataset(asked, loop)
        self._lacking -= {job.id for job in asked.jobs}
        found = map(self._noted, self._recorded(asked.jobs, loop))
        outcomes = sample_outcomes(dataset, found, self._catalogue())
        first: list[SampleOutcome] = list(islice(outcomes, 1))
        yield from verdict_chunks(chain(first, outcomes), form, VerdictFileLayout.of(dataset, parts=parts, texts=texts))

    def _noted(self, response: Response | UnreadableResponse) -> Response | UnreadableResponse:
        if isinstance(response, UnreadableResponse):
            self._lacking.add(response.job_id)
        return response

    def _dataset(self, asked: "ReportJobs", loop: asyncio.AbstractEventLoop) -> Dataset:
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

    def _build(self, asked: "ReportJobs", loop: asyncio.AbstractEventLoop) -> Report:
        dataset, jobs = self._dataset(asked, loop), asked.jobs
        runs = asked.runs(dataset, self._catalogue())
        tally, lacking = self._tallies.count([job.id for job in jobs], dataset, runs, loop)
        report = report_on_tally(dataset, tally, runs.catalogue, *map(runs.spec, jobs))
        self._lacking -= {job.id for job in jobs}
        self._lacking |= {job for job, _ in lacking}
        facts = tuple(JobFacts.of(job) for job in asked.all)
        return report.model_copy(
            update={"jobs": facts, "caveats": (*_unreadable_caveats(jobs, lacking), *report.caveats)}
        )

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


CurrentReports = Annotated[Reports, component(Reports)]
MEDIA_TYPES: dict[Format, str] = {
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
    "tex": "application/x-tex",
    "html": "text/html",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report of everything recorded so far",
        "model": Report,
        "content": {
            "application/json": {"example": examples.REPORT},
            "text/markdown": {"example": examples.REPORT_MARKDOWN},
            "text/csv": {"example": examples.REPORT_CSV},
            "application/x-tex": {"example": examples.REPORT_LATEX},
            "text/html": {"example": examples.REPORT_PAGE},
        },
    },
    304: {"description": "Nothing changed since the report with this ETag"},
}
_PROBLEMS = (
    JobNotFoundError,
    DatasetNotFoundError,
    DatasetInvalidError,
    AnnotationInvalidError,
    TextMissingError,
    StateStoreUnavailableError,
)
_Form = Annotated[
    Format,
    Query(
        alias="format", description="json, md (Markdown), csv, tex (LaTeX), or html (one page that needs nothing else)"
    ),
]

Judges = Annotated[
    Sequence[str],
    Query(
        alias="judge",
        max_length=MOST_JUDGES,
        description="id of a job that judges (`judge` of its specification): scores are by the first one's first "
        "model, and what others say stands beside; repeat it for each",
    ),
]


@router.get(
    "/jobs/{job_id}/report",
    summary="Get a job's report",
    response_class=Answer,
    responses={**_RESPONSES, **problem_responses(*_PROBLEMS, DatasetsDifferError, JudgesMixedError)},
)
async def get_report(
    *,
    registry: Registry,
    caller: CurrentCaller,
    reports: CurrentReports,
    reader: CurrentReader,
    job_id: JobId,
    form: _Form = "json",
    judges: Judges = (),
    if_none_match: IfNoneMatch = None,
) -> Answer:
    """Score what is recorded so far, with the data set's records as they are now.

    Of a job that judges, tell what its models said.
    """
    asked = ReportJobs([await registry.get(job_id)], await get_visible_jobs(registry, caller, judges))
    return await _report_response(asked, reports, reader, form, if_none_match)


@router.get(
    "/reports",
    summary="Get one report over several jobs",
    response_class=Answer,
    responses={**_RESPONSES, **problem_responses(*_PROBLEMS, DatasetsDifferError, JudgesMixedError)},
)
async def get_joint_report(
    *,
    registry: Registry,
    caller: CurrentCaller,
    reports: CurrentReports,
    reader: CurrentReader,
    jobs: Annotated[
        list[str],
        Query(
            alias="job",
            min_length=1,
            max_length=MOST_JOBS,
            description="id of a job; repeat it for each, all over one data set",
            examples=[[examples.JOB_ID]],
        ),
    ],
    judges: Judges = (),
    by_job: Annotated[
        bool,
        Query(
            description="whether answers of a model that several of the jobs ask the same stand apart, as those of "
            "`MODEL@JOB`; else the jobs are further repeats"
        ),
    ] = False,
    form: _Form = "json",
    if_none_match: IfNoneMatch = None,
) -> Answer:
    """Score what the jobs recorded so far side by side: models of different jobs, further cells, further repeats."""
    judging = await get_visible_jobs(registry, caller, judges)
    asked = ReportJobs(await get_visible_jobs(registry, caller, jobs), judging, by_job)
    return await _report_response(asked, reports, reader, form, if_none_match)


async def _report_response(
    asked: ReportJobs, reports: Reports, reader: ReportReader, form: Format, known: str | None
) -> Answer:
    version = await asyncio.to_thread(reports.version, asked)
    tag = f'"{version}-{form}"'
    headers = etag_headers(tag)
    if matches_etag(tag, known):
        return Answer(status_code=304, headers=headers)
    text = await reports.render(asked, form, reader)
    return Answer(text, headers=headers, media_type=MEDIA_TYPES[form])
