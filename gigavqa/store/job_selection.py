"""Choose jobs of the registry by what people ask about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from gigavqa.contract.jobs import JobStatus, JobSummary, SpecSummary


def _no_number(given: Any) -> Any:
    try:
        float(given)
    except (TypeError, ValueError):
        return given
    raise ValueError("say a time with its zone, such as 2026-11-21T00:00:00Z; a number may count anything")


WrittenTime = Annotated[AwareDatetime, BeforeValidator(_no_number)]
"""A time with its zone, as people write it."""


class JobSelection(BaseModel):
    """The jobs to list, all when nothing is given, and their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: JobStatus | None = Field(default=None, description="only jobs in this status")
    dataset: str | None = Field(default=None, description="only jobs over this data set")
    model: str | None = Field(default=None, description="only jobs that ask this model, alone or among others")
    metadata: list[Annotated[str, Field(pattern="^[^=]+=")]] = Field(
        default=[],
        max_length=16,
        description="only jobs with this pair of yours, as KEY=VALUE; repeat it for each",
        examples=[["owner=evaluation"]],
    )
    created_after: WrittenTime | None = Field(default=None, examples=["2026-11-21T00:00:00Z"])
    created_before: WrittenTime | None = None
    order: Literal["newest", "oldest"] = Field(default="newest", description="which come first")

    @property
    def looks_inside(self) -> bool:
        """Whether more than a job's status decides."""
        return bool(self.dataset or self.model or self.metadata or self.created_after or self.created_before)

    def admits(self, job: JobSummary) -> bool:
        """Return whether a job is wanted."""
        return (
            self._admits_spec(job.spec)
            and (self.created_after is None or job.created_at > self.created_after)
            and (self.created_before is None or job.created_at < self.created_before)
        )

    def may_admit(self, summary: bytes | None) -> bool:
        """Return whether a job may be wanted whose specification is summed up so, as it is kept."""
        # None is kept by an older gateway.
        return summary is None or self._admits_spec(SpecSummary.model_validate_json(summary))

    def _admits_spec(self, spec: SpecSummary) -> bool:
        pairs = (pair.partition("=") for pair in self.metadata)
        return (
            self.dataset in (None, spec.dataset)
            and (self.model is None or self.model in spec.models)
            and all(spec.metadata.get(name) == value for name, _, value in pairs)
        )

    def is_behind(self, created_at: datetime) -> bool:
        """Return whether neither a job of this time nor any that comes after it can be wanted."""
        if self.order == "oldest":
            return self.created_before is not None and created_at >= self.created_before
        return self.created_after is not None and created_at <= self.created_after


@dataclass(frozen=True)
class JobPage:
    """Some jobs, whether there may be more, and the id to go on behind."""

    jobs: Sequence[JobSummary]
    more: bool
    last_id: str | None
