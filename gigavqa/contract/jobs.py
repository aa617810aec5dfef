"""Jobs: what is asked of a data set, and how far it has come."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import FailFast, Field, PositiveInt, field_validator

from gigavqa.contract.base import Contract, is_none
from gigavqa.contract.requests import Condition
from gigavqa.contract.tool_loops import MAX_ROUNDS
from gigavqa.tiling.masks import parse_mask

OptionValue = bool | int | float | str | None
ClosingSetting = Literal["choice", "number", "boolean", "json", "auto"]
"""How a job wants its chats closed; `auto` takes of each sample the kind that its answer is."""
MAX_JUDGED_JOBS = 100
"""Jobs at most whose answers one job judges."""
JUDGE: Literal["judge"] = "judge"
"""Protocol of the requests of a job that judges; no benchmark has one of that name."""


LIKELIHOOD: Literal["likelihood"] = "likelihood"
"""Protocol of the requests of a job that weighs answers; no benchmark has one of that name."""


class JobStatus(StrEnum):
    """Statuses of a job, named as OpenAI's batches name them."""

    VALIDATING = "validating"
    FAILED = "failed"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing more will happen to the job by itself."""
        return self in FINAL_STATUSES


FINAL_STATUSES = frozenset({JobStatus.FAILED, JobStatus.COMPLETED, JobStatus.CANCELLED})


class Cell(Contract):
    """One pair of a plan: how samples are asked, and what is shown; `rounds` bounds chats that may ask for more."""

    protocol: str
    condition: Condition
    rounds: PositiveInt | None = Field(default=None, le=MAX_ROUNDS, exclude_if=is_none)

    def __str__(self) -> str:
        return ":".join(map(str, filter(None, (self.protocol, self.condition, self.rounds))))


class JudgeSpec(Contract):
    """Whose answers the models of a job judge: those of finished jobs over the same data set, asked by a prompt."""

    jobs: Annotated[tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")], ...], FailFast()] = Field(
        min_length=1, max_length=MAX_JUDGED_JOBS, description="ids of finished jobs"
    )
    prompt: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9._/-]{1,100}$",
        description="name of a judge's prompt of the benchmark; its first one if omitted",
    )


class JobSpec(Contract):
    """The specification of a job. Fields left out of `sampling` take the model's own decoding from the catalogue."""

    dataset: str
    models: tuple[str, ...] = Field(min_length=1)
    plan: str | None = Field(default=None, description="a named plan; or list `cells` instead")
    cells: tuple[Cell, ...] = ()
    rounds: PositiveInt | None = Field(
        default=None,
        le=MAX_ROUNDS,
        exclude_if=is_none,
        description="most answers of a chat that may ask for more, in place of those of the plan or the cells",
    )
    repeats: PositiveInt = 1
    sampling: dict[str, Any] = Field(default_factory=dict, description="overrides of the model's decoding")
    seed: int = 0
    priority: Literal["interactive", "batch"] = "batch"
    options: dict[str, OptionValue] = Field(
        default_factory=dict, description="choices of the conditions (`thumbnail`) and of the benchmark, by name"
    )
    samples: tuple[str, ...] = Field(default=(), description="ids of the samples to ask; all when empty")
    closing: ClosingSetting | None = Field(
        default=None,
        exclude_if=is_none,
        description="asks for the answer alone in one more turn behind each free answer, held by the engine to the "
        "options' letters (choice), a number, true or false (boolean), or an object (json); auto: whichever fits",
    )
    likelihood: str | None = Field(
        default=None,
        exclude_if=is_none,
        examples=["black"],
        description="asks how likely the model holds each sample's answer, once with its views shown and once behind "
        "this mask (black, mean or blur:RADIUS), in place of asking for answers",
    )
    metadata: dict[str, str] = Field(default_factory=dict)
    judge: JudgeSpec | None = Field(
        default=None, exclude_if=is_none, description="makes the models judges of what other jobs were answered"
    )

    @field_validator("likelihood")
    @classmethod
    def _known_mask(cls, text: str | None) -> str | None:
        if text is None:
            return None
        mask = parse_mask(text)
        if mask.regions:
            raise ValueError(f"mask '{text}' names regions, which samples do not share; leave @... out")
        return str(mask)


class SpecSummary(Contract):
    """A specification without its list of samples, which can be as long as the data set."""

    dataset: str
    models: tuple[str, ...]
    plan: str | None = None
    cells: tuple[Cell, ...] = ()
    rounds: int | None = Field(default=None, exclude_if=is_none)
    repeats: PositiveInt = 1
    seed: int = 0
    priority: Literal["interactive", "batch"] = "batch"
    num_samples: int | None = Field(
        default=None, description="how many samples are named; all are asked when it is null"
    )
    closing: ClosingSetting | None = Field(default=None, exclude_if=is_none)
    likelihood: str | None = Field(default=None, exclude_if=is_none)
    metadata: dict[str, str] = Field(default_factory=dict)
    judge: JudgeSpec | None = Field(default=None, exclude_if=is_none)

    @classmethod
    def of(cls, spec: JobSpec) -> "SpecSummary":
        """Sum up a specification."""
        shared = spec.model_dump(include=set(cls.model_fields))
        return cls(**shared, num_samples=len(spec.samples) or None)


class RequestCounts(Contract):
    """The numbers of a job's requests: all, recorded as answered, recorded as failed."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class JobUsage(Contract):
    """The usage of a job's responses, summed as they were recorded; those that a retry replaced count, too."""

    prompt_tokens: int = 0
    cached_tokens: int = Field(default=0, description="those of the prompts that came from the prefix cache")
    completion_tokens: int = 0
    views: int = Field(default=0, description="rasters that requests were shown")
    rasters: int = Field(default=0, description="different ones among them: as many as had to be rendered")
    slowest_image: str | None = Field(default=None, description="the image whose rendering took longest")
    slowest_seconds: float = Field(default=0.0, description="of rendering")
    microdollars: int = Field(
        default=0,
        description="what servers elsewhere are paid, in millionths of a US dollar, by the catalogue's prices",
    )


class Job(Contract):
    """A job as the registry knows it."""

    id: str
    owner: str | None = Field(default=None, description="whose it is; null where keys were not asked for")
    spec: JobSpec
    status: JobStatus
    request_counts: RequestCounts = RequestCounts()
    dataset_digest: str | None = None
    created_at: datetime
    in_progress_at: datetime | None = None
    finished_at: datetime | None = None
    errors: tuple[str, ...] = Field(
        default=(), description="why the job failed, or why it was not asked again, one line a problem"
    )
    warnings: tuple[str, ...] = Field(default=(), description="what to know of how it asks, found when it was checked")
    failures: dict[str, int] = Field(default_factory=dict, description="failed requests by the type of their failure")
    retryable: int = Field(default=0, description="failed requests whose answer may come when they are asked again")
    usage: JobUsage = JobUsage()
    remedies: dict[str, str] = Field(
        default_factory=dict, description="what helps against failures that asking again does not mend, by their type"
    )
    expires_at: datetime | None = Field(default=None, description="when it is deleted, if it has ended by then")
    remaining_seconds: float | None = Field(
        default=None,
        description="until it ends at its mean pace so far; null before the first response, and at the end",
    )
    last_event_id: str | None = Field(
        default=None, description="the newest event that it tells of: as `Last-Event-ID` it asks for those since"
    )


class JobSummary(Contract):
    """A job as lists show it."""

    id: str
    owner: str | None = Field(default=None, description="whose it is; null where keys were not asked for")
    spec: SpecSummary
    status: JobStatus
    request_counts: RequestCounts = RequestCounts()
    created_at: datetime
    in_progress_at: datetime | None = None
    finished_at: datetime | None = None
