"""The jobs that one report is over, as far as the caller may see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from gigavqa.catalogue.load import Catalogue
from gigavqa.contract.jobs import Job
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import JudgesMixedError
from gigavqa.reports.runs import Runs
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.parameters import Registry, get_visible_jobs


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


class _JobFinder:
    """Finds the jobs of a report, and those whose models judge their answers, among those that the caller may see."""

    def __init__(self, registry: Registry, caller: CurrentCaller) -> None:
        self._registry = registry
        self._caller = caller

    async def __call__(self, jobs: Sequence[str], judges: Sequence[str]) -> ReportJobs:
        """Return both by their ids. Raises JobNotFoundError."""
        judged = await get_visible_jobs(self._registry, self._caller, jobs)
        return ReportJobs(judged, await get_visible_jobs(self._registry, self._caller, judges))


VisibleJobs = Annotated[_JobFinder, Depends()]
