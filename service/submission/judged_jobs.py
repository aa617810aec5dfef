"""The jobs whose answers a job judges: whether they can be judged, and what they were answered."""

import asyncio
from collections.abc import Callable, Iterator

from gigavqa.contract.errors import JobNotFoundError
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.contract.responses import Response
from gigavqa.evaluation.replies import Reply, reply_of
from gigavqa.service.errors import ProblemFinding, SubmissionInvalidError
from gigavqa.service.results.tallies import recorded_responses
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.results import ResultStore

OwnerFilter = Callable[[str | None], bool]
"""Whether what belongs to an owner is there for whoever asks."""


class JudgedJobs:
    """Finds the jobs that a specification wants judged, and reads their replies as often as wanted."""

    def __init__(self, registry: JobRegistry, results: ResultStore, stopping: asyncio.Event) -> None:
        self._registry = registry
        self._results = results
        self._stopping = stopping

    async def require(self, spec: JobSpec, may_see: OwnerFilter = lambda owner: True) -> int:
        """Count the answers that the jobs have. Raises SubmissionInvalidError for each that cannot be judged."""
        assert spec.judge is not None
        findings, answers = [], 0
        for place, job_id in enumerate(spec.judge.jobs):
            job = await self._find(job_id, may_see)
            if wrong := _judging_obstacle(job, spec) if job else f"there is no job {job_id}":
                findings.append(ProblemFinding(detail=wrong, pointer=f"#/judge/jobs/{place}"))
            answers += job.request_counts.completed if job else 0
        if findings:
            told = findings[0].detail if len(findings) == 1 else f"{len(findings)} jobs cannot be judged"
            raise SubmissionInvalidError(f"nothing of the job was accepted: {told}", findings)
        return answers

    def replies(self, spec: JobSpec, loop: asyncio.AbstractEventLoop) -> Iterator[Reply]:
        """Yield what the jobs were answered, for a thread to read; `loop` asks the server.

        What cannot be read now is passed over.
        """
        assert spec.judge is not None
        for job_id in dict.fromkeys(spec.judge.jobs):
            for response in recorded_responses(self._results, job_id, loop):
                if self._stopping.is_set():
                    raise InterruptedError("the gateway is stopping")
                if isinstance(response, Response) and response.ok:
                    yield reply_of(response)

    async def _find(self, job_id: str, may_see: OwnerFilter) -> Job | None:
        try:
            job = await self._registry.get(job_id)
        except JobNotFoundError:
            return None
        return job if may_see(job.owner) else None


def _judging_obstacle(job: Job, spec: JobSpec) -> str:
    """Why a job cannot be judged; empty where it can."""
    if job.spec.judge:
        return f"job {job.id} judges itself; name the jobs whose answers it judges: {', '.join(job.spec.judge.jobs)}"
    if job.spec.dataset != spec.dataset:
        return f"job {job.id} is over data set '{job.spec.dataset}', and this one over '{spec.dataset}'"
    if not job.status.final:
        return f"job {job.id} is {job.status}; answers are judged once it has ended"
    return ""
