"""Outcomes of requests, one by one: for readers who want to see behind a number."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from gigavqa.answers.matching import BoxCorners
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.requests import RequestLabels
from gigavqa.contract.responses import RasterRecord, Response, TurnResponse, UnreadableResponse
from gigavqa.contract.tool_loops import StopReason
from gigavqa.evaluation.capabilities import Evidence
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.prompts import Prompt, PromptRebuilder
from gigavqa.evaluation.replies import Provenance, Reply, reply_of
from gigavqa.evaluation.reply_costs import ReplyCost
from gigavqa.evaluation.sample_judges import JudgedReply, SampleJudges
from gigavqa.evaluation.score_frame import CellKey, VerdictOutcome
from gigavqa.evaluation.verdicts import VerdictPart

UNREADABLE_RESPONSE = "ResponseUnreadable"
"""Why there is nothing to judge although a response is recorded: it cannot be read now."""


class _OutcomeBase(BaseModel):
    model_config = ConfigDict(frozen=True)


class PartOutcome(_OutcomeBase):
    """The outcome of one judged part of a chat; `text` is the raw answer, None where none was given."""

    name: str
    question: str
    truth: Any
    value: Any = Field(description="the answer as it was read; boxes normalized to the full image")
    status: str
    score: float
    correct: bool
    text: str | None
    tags: dict[str, str] = Field(default={}, description="what the part can be sorted by")
    notes: tuple[str, ...] = ()
    boxes: tuple[BoxCorners, ...] = Field(
        default=(), description="boxes of the answer, in the unit square of the first image"
    )
    true_boxes: tuple[BoxCorners, ...] = ()

    @classmethod
    def of(cls, part: VerdictPart) -> "PartOutcome":
        """Describe a judged part."""
        fields = {**part._asdict(), "tags": dict(part.tags)}
        return cls(**fields, correct=part.score >= 1)


class SampleOutcome(_OutcomeBase):
    """The outcome of one request: question, answers as they were read, verdicts, and the raw texts beside them."""

    job_id: str
    request_id: str
    sample_id: str
    model: str
    protocol: str
    condition: str
    max_rounds: int | None = Field(default=None, description="most answers of a chat with a loop")
    repeat: int
    groups: dict[str, str] = Field(description="what the sample belongs to, by level")
    question: str
    options: dict[str, str] | None
    truth: str
    value: str | None
    status: str
    rule: str = Field(default="", description="by which rule the answer was read, where its reader tells")
    outcome: VerdictOutcome
    score: float | None = Field(description="None where the answer is not known or the request failed")
    tags: dict[str, str] = {}
    details: SkipJsonSchema[Any] = Field(default=None, exclude=True)
    failure: str | None = None
    text: str | None = Field(description="raw text of the turn that answers the final question")
    cut_off: bool = False
    overflowed: bool = Field(default=False, description="whether the chat outgrew the context by what the model wrote")
    filtered: bool = Field(default=False, description="whether who serves the model withheld or refused any answer")
    empty: bool = Field(default=False, description="whether any answer ended before a token of it was written")
    closing: str | None = Field(default=None, description="raw text of the closing turn; None without one")
    closing_value: str | None = Field(default=None, description="its answer, in the words of `value`")
    closing_outcome: str | None = Field(
        default=None, description="right, wrong, abstained, unscored, or unread where it failed or is of another form"
    )
    closing_agrees: bool | None = Field(default=None, description="whether both found the same answer, or both none")
    parts: tuple[PartOutcome, ...] = ()
    rounds: tuple[TurnResponse, ...] = Field(default=(), description="of a chat with a loop, as they were recorded")
    stop: StopReason | None = Field(default=None, description="why a chat with a loop ended")
    rasters: tuple[RasterRecord, ...] = ()
    image: str | None = Field(default=None, description="the sample's first image, in whose unit square boxes lie")
    spent: ReplyCost = ReplyCost()
    prompt: Prompt = Prompt()
    evidence: Evidence = Evidence()

    @property
    def cell(self) -> CellKey:
        """The cell that it counts in."""
        return CellKey(self.model, self.protocol, self.condition, self.max_rounds or 0)

    @property
    def correct(self) -> bool | None:
        """Whether the final answer is right; None where nothing can be said."""
        return None if self.score is None else self.score >= 1


def sample_outcomes(
    dataset: Dataset,
    responses: Iterable[Response | UnreadableResponse],
    catalogue: Mapping[str, CatalogueEntry],
    prompts: PromptRebuilder | None = None,
) -> Iterator[SampleOutcome]:
    """Yield the outcome of each response, as `reply_outcomes` does of what scoring takes from it.

    One that cannot be read failed, with empty labels but for its request and sample: they are not known.
    """
    return reply_outcomes(dataset, map(recorded_reply, responses), catalogue, prompts)


def reply_outcomes(
    dataset: Dataset,
    replies: Iterable[Reply],
    catalogue: Mapping[str, CatalogueEntry],
    prompts: PromptRebuilder | None = None,
) -> Iterator[SampleOutcome]:
    """Yield the outcome of each reply as it streams past, holding none; unknown samples are passed over.

    `prompts` makes the chats again, and tells the evidence. Copies of a reply are not told apart. Raises
    AnnotationInvalidError as reports do.
    """
    judges = SampleJudges.of_dataset(dataset, catalogue)
    for judged in map(judges.judge_whole, replies):
        if judged is not None:
            outcome = outcome_of(dataset, judged)
            yield outcome if prompts is None else _add_prompt(outcome, prompts, judged.reply, dataset)


def recorded_reply(response: Response | UnreadableResponse) -> Reply:
    """Take from a response what scoring needs; of one that cannot be read, that it failed."""
    if isinstance(response, Response):
        return reply_of(response)
    labels = RequestLabels.model_construct(
        request_id=response.request_id,
        sample_id=response.sample_id,
        model="",
        protocol="",
        condition="",  # type: ignore[arg-type]  # no condition's name is empty, and this one's is not known
    )
    return Reply(labels, response.job_id, 0.0, None, UNREADABLE_RESPONSE, False, Provenance())


def _add_prompt(outcome: SampleOutcome, prompts: PromptRebuilder, reply: Reply, dataset: Dataset) -> SampleOutcome:
    sample = dataset.samples[dataset.positions[reply.sample_id]]
    told = {"prompt": prompts.of(reply, sample), "evidence": prompts.evidence(sample)}
    return outcome.model_copy(update=told)


def outcome_of(dataset: Dataset, judged: JudgedReply) -> SampleOutcome:
    """Describe a judged reply to a sample of a data set."""
    reply, position, verdict, closing = judged
    sample = dataset.samples[position]
    return SampleOutcome(
        job_id=reply.identity[0],
        request_id=reply.identity[1],
        sample_id=sample.id,
        model=reply.model,
        protocol=reply.protocol,
        condition=reply.condition,
        max_rounds=reply.max_rounds,
        repeat=reply.repeat,
        groups=dict(sample.groups),
        question=sample.question,
        options=sample.options,
        truth=sample.truth,
        value=verdict.value if verdict else None,
        status=verdict.status if verdict else "failed",
        rule=verdict.rule if verdict else "",
        outcome=verdict.outcome if verdict else "failed",
        score=verdict.score if verdict and sample.scored else None,
        tags=dict(verdict.tags) if verdict else {},
        failure=reply.failure,
        text=reply.text,
        cut_off=reply.cut_off,
        overflowed=reply.overflowed,
        filtered=reply.filtered,
        empty=reply.empty,
        closing=reply.closing.text if reply.closing and closing else None,
        closing_value=closing.value if closing else None,
        closing_outcome=closing.closed.outcome if closing else None,
        closing_agrees=closing.closed.agrees if closing else None,
        details=verdict.details if verdict else None,
        parts=tuple(PartOutcome.of(part) for part in verdict.tell()) if verdict else (),
        rounds=reply.rounds,
        stop=reply.stop,
        rasters=reply.rasters,
        image=dataset.image_of(sample.images[0]) if sample.images else None,
        spent=reply.spent,
    )
