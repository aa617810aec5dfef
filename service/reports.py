"""Reports, computed from the raw responses when somebody reads them, and kept while nothing new is recorded."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from typing import Literal

from catalogue.load import Catalogue
from evaluation.details import sample_outcomes
from evaluation.rendering.html import render_html
from evaluation.rendering.page_samples import choose_samples
from evaluation.report import Report, build_report, render_csv, render_json, render_markdown
from evaluation.ultravr.answers import PARSER_VERSION
from jobs.models import Job, Response
from jobs.previews import PreviewStore
from jobs.results import ResultStore
from service.datasets import Datasets
from service.files import Kept
from service.results import BEGINNING

Format = Literal["json", "md", "csv", "html"]

_RENDERERS: dict[Format, Callable[[Report], str]] = {"json": render_json, "md": render_markdown, "csv": render_csv}
_KEPT_REPORTS = 16
_BUILDS_AT_A_TIME = 2
_PAGE = 500


class Reports:
    """Builds reports in threads, a few at a time; responses pass through page by page."""

    def __init__(
        self,
        results: ResultStore,
        datasets: Datasets,
        catalogue: Callable[[], Catalogue],
        previews: PreviewStore,
    ) -> None:
        self._results = results
        self._datasets = datasets
        self._catalogue = catalogue
        self._previews = previews
        self._kept = Kept[Report](_KEPT_REPORTS)
        self._building = asyncio.Semaphore(_BUILDS_AT_A_TIME)

    async def render(self, job: Job, form: Format) -> str:
        """Render the report of what is recorded so far."""
        loop = asyncio.get_running_loop()
        async with self._building:
            return await asyncio.to_thread(self._render, job, form, loop)

    def version(self, job: Job) -> str:
        """Changes whenever the report may: responses recorded or retried, records edited, another parser; blocks."""
        dataset = self._datasets.version(job.spec.dataset)
        state = f"{job.id} {job.status} {job.request_counts} {job.finished_at} {dataset} {PARSER_VERSION}"
        return hashlib.sha256(state.encode()).hexdigest()[:16]

    def _render(self, job: Job, form: Format, loop: asyncio.AbstractEventLoop) -> str:
        report = self._kept.get(job.id, self.version(job), lambda: self._build(job, loop))
        return self._page(job, report, loop) if form == "html" else _RENDERERS[form](report)

    def _page(self, job: Job, report: Report, loop: asyncio.AbstractEventLoop) -> str:
        dataset = self._datasets.load(job.spec.dataset)
        asked = frozenset(job.spec.samples)
        shown = choose_samples(sample for sample in dataset.samples if not asked or sample.id in asked)
        responses = (response for response in self._responses(job.id, loop) if response.sample_id in shown)
        return render_html(report, sample_outcomes(dataset, responses, self._catalogue()), self._previews.read)

    def _build(self, job: Job, loop: asyncio.AbstractEventLoop) -> Report:
        dataset = self._datasets.load(job.spec.dataset)
        return build_report(dataset, self._responses(job.id, loop), self._catalogue(), job.spec)

    def _responses(self, job_id: str, loop: asyncio.AbstractEventLoop) -> Iterator[Response]:
        after = BEGINNING
        while page := asyncio.run_coroutine_threadsafe(self._results.read(job_id, after, _PAGE), loop).result():
            yield from (response for _, response in page)
            after = page[-1][0]
