"""The contract between rooms: what a job, a request, a bundle and a response are. Frozen, JSON in and out, no Redis."""

from collections.abc import Callable, Sized
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import FailFast, Field, JsonValue, PositiveInt, model_validator

from gigavqa.catalogue.entry import Decoding
from gigavqa.contract.base import Contract
from gigavqa.contract.tool_loops import MAX_ROUNDS, MessagePart, StopReason, ToolCall, ToolLoop, ZoomTool
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View

Condition = Literal["V0", "V1", "V2", "V3", "V4"]
OptionValue = bool | int | float | str | None
ClosingKind = Literal["choice", "number", "boolean", "json"]
ClosingSetting = Literal["choice", "number", "boolean", "json", "auto"]
"""How a job wants its chats closed; `auto` takes of each sample the kind that its answer is."""
SCHEMA_VERSION: Literal[2] = 2
"""Version of the form in which bundles and responses are kept; `schema_versions` reads those before."""
MAX_JUDGED_JOBS = 100
"""Jobs at most whose answers one job judges."""
JUDGE: Literal["judge"] = "judge"
"""Protocol of the requests of a job that judges; no benchmark has one of that name."""


def _is_none(value: object) -> bool:
    return value is None


def _is_empty(value: Sized) -> bool:
    return not value


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
    rounds: PositiveInt | None = Field(default=None, le=MAX_ROUNDS, exclude_if=_is_none)

    def __str__(self) -> str:
        return ":".join(map(str, filter(None, (self.protocol, self.condition, self.rounds))))


class StructuredOutput(Contract):
    """What the text of an answer must be, of which one is given: the engine allows only tokens that keep to it.

    `in_object` is the schema of an object that says the same, for servers that keep to schemas alone.
    """

    json_schema: dict[str, JsonValue] | str | None = None
    json_object: Literal[True] | None = None
    regex: str | None = None
    choice: tuple[str, ...] | None = None
    grammar: str | None = None
    in_object: dict[str, JsonValue] | None = Field(default=None, exclude_if=_is_none)


class GenerationConstraints(Contract):
    """What whoever chats may ask of generation beyond sampling; names as OpenAI and vLLM have them.

    `logprobs` counts the likeliest tokens told beside each that is written; None tells none. `template` goes to the
    model's chat template.
    """

    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    bad_words: tuple[str, ...] = ()
    min_tokens: int = 0
    ignore_eos: bool = False
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = Field(default_factory=dict)
    logprobs: int | None = None
    structure: StructuredOutput | None = None
    template: dict[str, JsonValue] = Field(default_factory=dict)


class Sampling(Decoding):
    """Sampling parameters of one request; `seed` makes its draws repeatable."""

    seed: int | None = None
    steering: GenerationConstraints | None = Field(default=None, exclude_if=_is_none)


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
    """What a client asks for. Fields left out of `sampling` take the model's own decoding from the catalogue."""

    dataset: str
    models: tuple[str, ...] = Field(min_length=1)
    plan: str | None = Field(default=None, description="a named plan; or list `cells` instead")
    cells: tuple[Cell, ...] = ()
    rounds: PositiveInt | None = Field(
        default=None,
        le=MAX_ROUNDS,
        exclude_if=_is_none,
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
        exclude_if=_is_none,
        description="asks for the answer alone in one more turn behind each free answer, held by the engine to the "
        "options' letters (choice), a number, true or false (boolean), or an object (json); auto: whichever fits",
    )
    metadata: dict[str, str] = Field(default_factory=dict)
    judge: JudgeSpec | None = Field(
        default=None, exclude_if=_is_none, description="makes the models judges of what other jobs were answered"
    )


class SpecSummary(Contract):
    """A specification without its list of samples, which can be as long as the data set."""

    dataset: str
    models: tuple[str, ...]
    plan: str | None = None
    cells: tuple[Cell, ...] = ()
    rounds: int | None = Field(default=None, exclude_if=_is_none)
    repeats: PositiveInt = 1
    seed: int = 0
    priority: Literal["interactive", "batch"] = "batch"
    num_samples: int | None = Field(
        default=None, description="how many samples are named; all are asked when it is null"
    )
    closing: ClosingSetting | None = Field(default=None, exclude_if=_is_none)
    metadata: dict[str, str] = Field(default_factory=dict)
    judge: JudgeSpec | None = Field(default=None, exclude_if=_is_none)

    @classmethod
    def of(cls, spec: JobSpec) -> "SpecSummary":
        """Sum up a specification."""
        shared = spec.model_dump(include=set(cls.model_fields))
        return cls(**shared, num_samples=len(spec.samples) or None)


class RequestCounts(Contract):
    """How many requests a job has, and how many are recorded as answered or as failed."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class JobUsage(Contract):
    """What the responses of a job took, summed as they were recorded; those that a retry replaced count, too."""

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
    errors: tuple[str, ...] = Field(default=(), description="why the job failed, one line a problem")
    warnings: tuple[str, ...] = Field(default=(), description="what to know of how it asks, found when it was checked")
    failures: dict[str, int] = Field(default_factory=dict, description="failed requests by the type of their failure")
    retryable: int = Field(default=0, description="failed requests whose answer may come when they are asked again")
    usage: JobUsage = JobUsage()
    expires_at: datetime | None = Field(default=None, description="when it is deleted, if it has ended by then")
    remaining_seconds: float | None = Field(
        default=None,
        description="until it ends at its mean pace so far; null before the first response, and at the end",
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


class Turn(Contract):
    """One question of a chat: texts and views in the order in which the model gets them.

    `given` is an answer put into the history in place of the model's own.
    """

    parts: tuple[MessagePart, ...] = Field(min_length=1)
    given: str | None = None
    asks: str | None = Field(default=None, description="what it asks for, by the benchmark's name; None: the question")

    @property
    def text(self) -> str:
        """All that it says, without what it shows."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def views(self) -> tuple[View, ...]:
        """All that it shows."""
        return tuple(part for part in self.parts if isinstance(part, View))


class Closing(Contract):
    """One more turn behind a chat's answer: words that ask for the answer alone, and what the engine holds it to."""

    kind: ClosingKind
    text: str = Field(min_length=1)
    structure: StructuredOutput
    max_tokens: PositiveInt
    prompt_version: str


class PriorMessage(Contract):
    """A message that stood in a chat before its first turn: texts and views in their order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[MessagePart, ...] = Field(min_length=1)


class RequestLabels(Contract):
    """What a request is labelled with, and its response after it: whose question it is, of whom, and how it is asked.

    Requests and responses are Labels, so that both write them flat into their JSON; `labels` takes them alone.
    """

    request_id: str = Field(description="unique within the job; a function of sample, cell, model and repeat")
    sample_id: str
    model: str
    protocol: str
    condition: Condition
    repeat: int = 0
    prompt_version: str | None = Field(
        default=None, description="version of the prompt texts, as the protocol names it"
    )
    details: dict[str, JsonValue] = Field(
        default_factory=dict, description="what else the benchmark tells of how it asked, by its own names"
    )

    @property
    def labels(self) -> "RequestLabels":
        """The labels alone."""
        # They were checked as those of the request or the response.
        return RequestLabels.model_construct(**{name: getattr(self, name) for name in RequestLabels.model_fields})


class InferenceRequest(RequestLabels):
    """One chat to play for one sample under one (model, protocol, condition, repeat)."""

    system: str | None = None
    before: tuple[PriorMessage, ...] = Field(
        default=(), exclude_if=_is_empty, description="what the chat held before its first turn, behind `system`"
    )
    turns: tuple[Turn, ...] = Field(min_length=1)
    loop: ToolLoop | None = Field(
        default=None, exclude_if=_is_none, description="what may be asked of the worker from the last turn on"
    )
    closing: Closing | None = Field(
        default=None, exclude_if=_is_none, description="one more turn behind the answer, which stands beside it"
    )
    sampling: Sampling
    listener: str | None = Field(
        default=None, exclude_if=_is_none, description="channel on which its text is told as it grows"
    )

    @property
    def id(self) -> str:
        """Name of the request within its job."""
        return self.request_id

    @property
    def views(self) -> tuple[View, ...]:
        """The views of all messages, in order."""
        earlier = tuple(part for said in self.before for part in said.parts if isinstance(part, View))
        return earlier + tuple(view for turn in self.turns for view in turn.views)

    @model_validator(mode="after")
    def _can_loop(self) -> Self:
        if self.loop is None:
            return self
        if self.turns[-1].given is not None:
            raise ValueError("a loop goes on from the answer to the last turn, which is given")
        zooms = [tool for tool in self.loop.tools if isinstance(tool, ZoomTool)]
        if unseen := [tool.name for tool in zooms if tool.image >= len(self.views)]:
            raise ValueError(f"{', '.join(unseen)}: the chat has {len(self.views)} view(s)")
        return self


class VersionedModel(Contract):
    """Base of what is kept, on the server or in files: it begins with the version of its form.

    `gigavqa.contract.schema_versions` reads every version that there was.
    """

    version: Literal[2] = SCHEMA_VERSION


class Bundle(VersionedModel):
    """The requests of one job that share (model, image): what is queued, leased and acknowledged."""

    id: str
    job_id: str
    model: str
    image: str
    priority: Literal["interactive", "batch"] = "batch"
    cache_salt: str = Field(default="", exclude_if=_is_empty, description="who shares prefixes of prompts; '': all")
    requests: tuple[InferenceRequest, ...] = Field(min_length=1)


class RasterRecord(Contract):
    """Where one raster of a chat came from."""

    view: View
    turn: int = Field(default=0, description="number of the turn that showed it, from 0")
    source_size: Size = Field(description="level-0 pixels of the image")
    source_format: str
    region: str = Field(description="the view's region in level-0 pixels: x,y,w,h")
    level: int = Field(description="pyramid level that was read")
    downsample: float = Field(description="level-0 pixels per pixel of that level")
    raster_size: Size
    visual_tokens: int
    digest: str = Field(description="content digest of the image: of all bytes, or `v...` of a large file")
    key: str = Field(description="identity of the raster: content, region, sizing and raster size")


class Usage(Contract):
    """Tokens of one turn as the engine counted them; `cached_tokens` of the prompt came from the prefix cache."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    visual_tokens: tuple[int, ...] = Field(
        default=(), description="of each raster, in the prompt's order; empty where the engine does not say"
    )
    reasoning_tokens: int | None = Field(
        default=None, exclude_if=_is_none, description="those of the completion that a server elsewhere only thought"
    )
    dollars: float | None = Field(
        default=None, exclude_if=_is_none, description="US dollars, by the prices that the catalogue's entry states"
    )


class Timings(Contract):
    """Seconds that one turn spent in each phase, as measured by the worker's monotonic clock."""

    queued: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0


class TokenLogprob(Contract):
    """A token of an answer, how likely it was, and the likeliest ones in its place, as OpenAI writes them."""

    token: str
    logprob: float
    bytes: tuple[int, ...] | None = None
    top_logprobs: tuple["TokenLogprob", ...] | None = Field(default=None, exclude_if=_is_none)


OnTokens = Callable[[int, str, tuple[TokenLogprob, ...] | None], None]
"""Is told how many characters an answer had, what is behind them now, and the logprobs of that where asked for.

Nothing is behind them where the last tokens wrote nothing: then their logprobs alone are told, and nothing later.
"""


FINISH_REASONS = frozenset({"stop", "length", "content_filter"})
"""Why an answer may end: the model ended it, a limit of tokens did, or who serves it withheld the rest or refused.

An engine that ends it for any other reason failed: such a text is no answer.
"""


class TurnResponse(Contract):
    """The raw answer to one turn."""

    text: str
    finish_reason: str = Field(description="stop, length or content_filter", examples=["stop"])
    asks: str | None = Field(default=None, description="what the turn asked for; None: the question")
    logprobs: tuple[TokenLogprob, ...] | None = Field(default=None, exclude_if=_is_none)
    usage: Usage = Usage()
    timings: Timings = Timings()
    served_as: str | None = Field(
        default=None, exclude_if=_is_none, description="what a server elsewhere called the model that answered"
    )
    call: ToolCall | None = Field(default=None, exclude_if=_is_none, description="what the answer asked of the worker")

    @property
    def is_empty(self) -> bool:
        """Whether it ended without a single token, and nobody filtered it: a model may, and engines have erred so."""
        return not self.text and not self.usage.completion_tokens and self.finish_reason != "content_filter"


class Failure(Contract):
    """Why a request has no answer. `type` is the class of the error, `retryable` whether asking again may help.

    `by_model` tells that nothing failed but the model: a chat that outgrew its context by what the model wrote.
    """

    type: str
    message: str
    retryable: bool = False
    by_model: bool = Field(default=False, description="whether the model brought it about: no failure, a wrong answer")


class ClosingAnswer(Contract):
    """What the closing turn of a chat was answered, beside the free answer; or why it was not."""

    kind: ClosingKind
    text: str = Field(default="", description="as it was written: a letter, none, a number, true, false, or an object")
    finish_reason: str = ""
    prompt_version: str | None = Field(default=None, description="version of the words that asked for it")
    usage: Usage = Usage()
    timings: Timings = Timings()
    failure: Failure | None = Field(
        default=None, exclude_if=_is_none, description="why there is none, such as a context that the chat filled"
    )


class RemoteInfo(Contract):
    """How a server elsewhere was asked."""

    endpoint: str
    model: str = Field(description="its name there")
    dialect: str = Field(examples=["vllm", "openai"])
    pictures: str = Field(description="files that rasters were sent as", examples=["png", "jpeg:95:444"])
    detail: str | None = Field(default=None, description="what was said of each picture")
    not_sent: tuple[str, ...] = Field(
        default=(), description="parameters of the sampling that the server refuses or does not know"
    )
    extra: dict[str, JsonValue] = Field(
        default={},
        exclude_if=_is_empty,
        description="what else was sent, such as a reasoning effort",
    )
    keeps_to_schemas: bool = Field(
        default=True, exclude_if=bool, description="whether answers can be held to a schema there"
    )


class EngineInfo(Contract):
    """What generated a response."""

    name: str = Field(examples=["vllm", "remote", "simulated"])
    version: str
    model_revision: str | None = None
    device: str = "cpu"
    simulated: bool = False
    budget: str | None = Field(default=None, exclude_if=_is_none, description="how it was shown pictures")
    chat_template: dict[str, JsonValue] | None = Field(
        default=None,
        exclude_if=_is_none,
        description="arguments of the chat template, such as whether the model thinks, where a chat said no other",
    )
    remote: RemoteInfo | None = Field(default=None, exclude_if=_is_none)


class Response(RequestLabels, VersionedModel):
    """What became of one request: the raw text of every turn, or a failure, with usage, timing and provenance."""

    job_id: str
    turns: tuple[TurnResponse, ...] = ()
    closing: ClosingAnswer | None = Field(
        default=None, exclude_if=_is_none, description="the answer alone, asked for behind the free one"
    )
    stop: StopReason | None = Field(
        default=None, exclude_if=_is_none, description="why a chat with a loop ended; only `answered` has an answer"
    )
    max_rounds: PositiveInt | None = Field(
        default=None, exclude_if=_is_none, description="how many answers a chat with a loop could have had"
    )
    failure: Failure | None = None
    rasters: tuple[RasterRecord, ...] = ()
    sampling: Sampling
    worker: str
    engine: EngineInfo | None = None
    attempt: int = 1
    queued_seconds: float = Field(default=0.0, description="from enqueueing to the claim of the bundle")
    rendering_seconds: float = 0.0
    created_at: datetime

    @property
    def ok(self) -> bool:
        """Whether every turn was answered."""
        return self.failure is None

    @property
    def answers(self) -> tuple[TurnResponse | ClosingAnswer, ...]:
        """All that was generated: the answers to its turns, and to the closing one."""
        return (*self.turns, self.closing) if self.closing else self.turns


class UnreadableResponse(Contract):
    """A response that is recorded and cannot be read now; what is recorded and counted of it stays as it is."""

    job_id: str
    request_id: str
    sample_id: str
    recorded: Literal["completed", "failed"] = Field(description="as what the response is counted")
    part: str | None = Field(description="the Parquet part that holds it; none when its text should be on the server")
    unreadable: str = Field(description="why it cannot be read")

    @property
    def ok(self) -> bool:
        """Whether it is recorded as answered."""
        return self.recorded == "completed"
