"""The shape of a report."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.ultravr.samples import AnswerFormat, Operation
from benchmarks.ultravr.taxonomy import Category, Domain
from evaluation.metrics.estimates import NOTHING, Estimate
from jobs.models import RasterRecord

Outcome = Literal["GND", "PER", "QUA", "INT", "INF", "Final", "NoErr"]
"""Where an S4 trajectory fails first (equations 7 and 8): at an operation, at the final answer, or nowhere."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class DomainScore(_Part):
    """Accuracy of one domain and of its categories."""

    overall: Estimate
    categories: dict[str, Estimate]


class Exclusion(_Part):
    """Requests that no accuracy counts, and why; `samples` lists at most the first hundred samples."""

    reason: str
    count: int
    samples: tuple[str, ...]


class Spread(_Part):
    """Macro accuracy of each repeat; their mean is pass@1, and equals the cell's macro where no response is missing."""

    values: tuple[float, ...] = Field(description="equation 2 of each repeat over the samples that it has, in order")
    mean: float
    deviation: float = Field(description="standard deviation over repeats, with n - 1")


class CellScore(_Part):
    """Everything that is counted of one model under one protocol and condition."""

    model: str
    protocol: str
    condition: str
    macro: Estimate
    domains: dict[str, DomainScore]
    absent_domains: tuple[str, ...] = Field(description="domains of UltraVR that the macro average leaves out")
    abstention: Estimate = Field(description="over responses, not samples")
    unreadable: Estimate = Field(
        default=NOTHING, description="share of the responses without a single clear answer that do not abstain either"
    )
    statuses: dict[str, int] = Field(description="how answers were found, by parse status")
    expected: int = Field(description="requests that should have a response")
    answered: int = Field(description="requests that did not fail, and are judged")
    cut_off: int = Field(description="answers that end where their output tokens ended")
    overflowed: int = Field(
        default=0,
        description="chats that outgrew the context by what the model wrote; without an answer they are wrong",
    )
    duplicates: int = Field(description="further copies of a response, which count nothing")
    excluded: tuple[Exclusion, ...]
    repeats: Spread | None = Field(default=None, description="macro accuracy of each repeat; None for a single one")


class Table1Row(_Part):
    """One model of Table 1: S0 under V2, beside the text-only control V0."""

    model: str
    title: str
    max_visual_tokens: int | None
    effective_resolution: int | None = Field(description="side in pixels of the largest square that keeps its pixels")
    domains: dict[str, DomainScore]
    macro: Estimate
    text_only: Estimate
    abstention: Estimate
    unreadable: Estimate = Field(default=NOTHING, description="share of the responses under V2 without a clear answer")
    visual_gap: Estimate = Field(description="equation 3")


class Table2Row(_Part):
    """One model of Table 2: macro accuracy of S0 under V1 to V4, and res = V2-V1, access = V3-V2, aug = V4-V2."""

    model: str
    title: str
    conditions: dict[str, Estimate]
    gaps: dict[str, Estimate]
    domains: dict[str, dict[str, DomainScore]] = Field(default={}, description="by condition, then by domain")


class Table3Row(_Part):
    """One model of Table 3: macro accuracy of S0 to S5 under V2.

    text = S1-S0, schema = S2-S0, iter = S4-S2, GT = S5-S4.
    """

    model: str
    title: str
    protocols: dict[str, Estimate]
    gaps: dict[str, Estimate]
    domains: dict[str, dict[str, DomainScore]] = Field(default={}, description="by protocol, then by domain")


class Means(_Part):
    """The last row of each table: plain means over the models that have the number; counts are of models.

    None where a table has fewer than two rows.
    """

    table1: Table1Row | None = None
    table2: Table2Row | None = None
    table3: Table3Row | None = None


class StepProfile(_Part):
    """Step accuracy of one model under one protocol, where steps are asked (S2, S4, S5). Counts are of steps."""

    model: str
    title: str
    protocol: str
    condition: str
    operations: dict[Operation, Estimate] = Field(description="equation 5; counts are of steps")
    domains: dict[str, dict[Operation, Estimate]] = Field(description="equation 4, by domain")
    formats: dict[AnswerFormat, Estimate] = Field(description="share of correct steps by answer format, not balanced")
    f1: dict[AnswerFormat, Estimate] = Field(description="mean F1 of the formats that hold lists")
    statuses: dict[str, int] = Field(description="how step answers were found, by parse status")
    converted: int = Field(description="step answers whose boxes were converted from the family's own convention")
    unjudged: tuple[str, ...] = Field(
        default=(), description="sample:step of ground truths that do not fit their format, at most the first hundred"
    )


class StepErrors(_Part):
    """One model of Figure 2a: how far each operation's step error under S2 lies from their mean (equation 6)."""

    model: str
    title: str
    mean_error: Estimate
    deltas: dict[Operation, Estimate]


class StepAccuracies(_Part):
    """One model of Figure 2b: step accuracy under S5 by operation (equation 5)."""

    model: str
    title: str
    operations: dict[Operation, Estimate]


class FirstErrors(_Part):
    """One model of Figure 2c: shares of S4 trajectories by where they fail first (equation 8); counts trajectories."""

    model: str
    title: str
    outcomes: dict[Outcome, Estimate]
    domains: dict[str, dict[Outcome, Estimate]]


class Figure2(_Part):
    """Figure 2 as numbers; a part has no row for a model that was not asked its protocol under V2."""

    a: tuple[StepErrors, ...] = ()
    b: tuple[StepAccuracies, ...] = ()
    c: tuple[FirstErrors, ...] = ()


class StepOutcome(_Part):
    """What became of one annotated step; `text` is the raw answer, None where none was given."""

    step_id: str
    question: str
    answer_format: AnswerFormat
    operation: Operation
    ground_truth: Any
    value: Any = Field(description="the answer as it was read; boxes normalized to the full image")
    status: str
    correct: bool
    f1: float | None = Field(default=None, description="of list formats")
    converted: bool = Field(default=False, description="whether boxes were converted from the family's convention")
    text: str | None


class SampleOutcome(_Part):
    """What became of one request: question, answers as they were read, verdicts, and the raw texts beside them."""

    job_id: str
    request_id: str
    sample_id: str
    model: str
    protocol: str
    condition: str
    repeat: int
    domain: Domain
    category: Category
    subcategory: str
    question: str
    options: dict[str, str] | None
    answer: str
    value: str | None
    status: str
    correct: bool | None = Field(description="None where the answer awaits an expert or the request failed")
    first_error: Outcome | None = Field(default=None, description="of S4 trajectories")
    failure: str | None = None
    text: str | None = Field(description="raw text of the turn that answers the final question")
    cut_off: bool = False
    overflowed: bool = Field(default=False, description="whether the chat outgrew the context by what the model wrote")
    steps: tuple[StepOutcome, ...] = ()
    rasters: tuple[RasterRecord, ...] = ()


class Origin(_Part):
    """What made some of a model's responses."""

    model: str
    responses: int
    engine: str | None
    version: str | None
    device: str | None
    model_revision: str | None
    simulated: bool
    prompt_version: str | None
    thumbnail: str | None = Field(description="sizing rule of downsampled views")
    sampling: dict[str, float | int | None]


class Report(_Part):
    """Tables 1 to 3 and Figure 2 with counts and 95 % intervals; rates are fractions."""

    dataset: str
    dataset_digest: str
    samples: int
    awaiting_expert: tuple[str, ...] = Field(description="samples without an answer, left out of every accuracy")
    parser_version: str
    step_parser_version: str = ""
    table1: tuple[Table1Row, ...]
    table2: tuple[Table2Row, ...]
    table3: tuple[Table3Row, ...] = ()
    means: Means = Means()
    figure2: Figure2 = Figure2()
    steps: tuple[StepProfile, ...] = ()
    operation_counts: dict[str, dict[Operation, int]] = Field(
        default={}, description="annotated steps of the data set by domain and operation"
    )
    iou_threshold: float = Field(default=0.5, description="least intersection over union of a box that counts")
    cells: tuple[CellScore, ...]
    warnings: tuple[str, ...]
    provenance: tuple[Origin, ...]
