"""Responses as workers record them: texts, rasters, usage, times, failures."""

from collections.abc import Callable
from datetime import datetime
from math import fsum
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue, PositiveInt

from gigavqa.contract.base import Contract, is_empty, is_false, is_none
from gigavqa.contract.requests import ClosingKind, RequestLabels, Sampling, VersionedModel
from gigavqa.contract.tool_loops import StopReason, ToolCall
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View

FINISH_REASONS = frozenset({"stop", "length", "content_filter"})
"""Why an answer may end: the model ended it, a limit of tokens did, or who serves it withheld the rest or refused.

An engine that ends it for any other reason failed: such a text is no answer.
"""


class RasterRecord(Contract):
    """The provenance of one raster of a chat."""

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
    tone: str = Field(
        default="",
        exclude_if=is_empty,
        description="bands, and what of each was black and white, where samples were not shown as they are",
    )
    ground: str = Field(
        default="",
        exclude_if=is_empty,
        description="the image's coordinate system, ground sampling distance and north, where its file tells them",
    )
    microns_per_pixel: tuple[float, float] | None = Field(
        default=None,
        exclude_if=is_none,
        description="width and height of a level-0 pixel on the specimen, where the image's file tells them",
    )


class Usage(Contract):
    """Tokens of one turn as the engine counted them; `cached_tokens` of the prompt came from the prefix cache."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    visual_tokens: tuple[int, ...] = Field(
        default=(), description="of each raster, in the prompt's order; empty where the engine does not say"
    )
    reasoning_tokens: int | None = Field(
        default=None, exclude_if=is_none, description="those of the completion that a server elsewhere only thought"
    )
    dollars: float | None = Field(
        default=None, exclude_if=is_none, description="US dollars, by the prices that the catalogue's entry states"
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
    top_logprobs: tuple["TokenLogprob", ...] | None = Field(default=None, exclude_if=is_none)


class Likelihood(NamedTuple):
    """How likely a forced answer was behind its prompt: natural logarithms of its probability, in all and a token.

    The end of the turn is none of its tokens.
    """

    sum: float
    tokens: int

    @property
    def mean(self) -> float:
        """The mean a token."""
        return self.sum / self.tokens


OnTokens = Callable[[int, str, tuple[TokenLogprob, ...] | None], None]
"""Is told how many characters an answer had, what is behind them now, and the logprobs of that where asked for.

Nothing is behind them where the last tokens wrote nothing: then their logprobs alone are told, and nothing later.
"""


class TurnResponse(Contract):
    """The raw answer to one turn.

    Of one that was `forced` the text was not generated, and `logprobs` are those of its tokens where they stand.
    """

    text: str
    finish_reason: str = Field(description="stop, length or content_filter", examples=["stop"])
    forced: bool = Field(
        default=False, exclude_if=is_false, description="whether the text was given, and its likelihood asked"
    )
    asks: str | None = Field(default=None, description="what the turn asked for; None: the question")
    logprobs: tuple[TokenLogprob, ...] | None = Field(default=None, exclude_if=is_none)
    usage: Usage = Usage()
    timings: Timings = Timings()
    served_as: str | None = Field(
        default=None, exclude_if=is_none, description="what a server elsewhere called the model that answered"
    )
    call: ToolCall | None = Field(default=None, exclude_if=is_none, description="what the answer asked of the worker")

    @property
    def likelihood(self) -> Likelihood | None:
        """How likely a forced answer was; None of any other."""
        if not self.forced or not self.logprobs:
            return None
        return Likelihood(fsum(one.logprob for one in self.logprobs), len(self.logprobs))

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
    """The answer to a chat's closing turn, beside the free answer; or the reason that there is none."""

    kind: ClosingKind
    text: str = Field(default="", description="as it was written: a letter, none, a number, true, false, or an object")
    finish_reason: str = ""
    prompt_version: str | None = Field(default=None, description="version of the words that asked for it")
    usage: Usage = Usage()
    timings: Timings = Timings()
    failure: Failure | None = Field(
        default=None, exclude_if=is_none, description="why there is none, such as a context that the chat filled"
    )


class RemoteInfo(Contract):
    """The way a remote endpoint was asked."""

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
        exclude_if=is_empty,
        description="what else was sent, such as a reasoning effort",
    )
    keeps_to_schemas: bool = Field(
        default=True, exclude_if=bool, description="whether answers can be held to a schema there"
    )


class EngineInfo(Contract):
    """The engine that generated a response."""

    name: str = Field(examples=["vllm", "remote", "simulated"])
    version: str
    model_revision: str | None = None
    device: str = "cpu"
    simulated: bool = False
    budget: str | None = Field(default=None, exclude_if=is_none, description="how it was shown pictures")
    chat_template: dict[str, JsonValue] | None = Field(
        default=None,
        exclude_if=is_none,
        description="arguments of the chat template, such as whether the model thinks, where a chat said no other",
    )
    remote: RemoteInfo | None = Field(default=None, exclude_if=is_none)


class Response(RequestLabels, VersionedModel):
    """The outcome of one request: the raw text of every turn, or a failure, with usage, timing and provenance."""

    job_id: str
    turns: tuple[TurnResponse, ...] = ()
    closing: ClosingAnswer | None = Field(
        default=None, exclude_if=is_none, description="the answer alone, asked for behind the free one"
    )
    stop: StopReason | None = Field(
        default=None, exclude_if=is_none, description="why a chat with a loop ended; only `answered` has an answer"
    )
    max_rounds: PositiveInt | None = Field(
        default=None, exclude_if=is_none, description="how many answers a chat with a loop could have had"
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
    part: str | None = Field(
        description="the Parquet part that holds it; none when the state store should have its text"
    )
    unreadable: str = Field(description="why it cannot be read")

    @property
    def ok(self) -> bool:
        """Whether it is recorded as answered."""
        return self.recorded == "completed"
