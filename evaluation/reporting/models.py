"""The shape of a report."""

from pydantic import BaseModel, ConfigDict, Field

from evaluation.metrics.estimates import Estimate


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


class CellScore(_Part):
    """Everything that is counted of one model under one protocol and condition."""

    model: str
    protocol: str
    condition: str
    macro: Estimate
    domains: dict[str, DomainScore]
    absent_domains: tuple[str, ...] = Field(description="domains of UltraVR that the macro average leaves out")
    abstention: Estimate = Field(description="over responses, not samples")
    statuses: dict[str, int] = Field(description="how answers were found, by parse status")
    expected: int = Field(description="requests that should have a response")
    answered: int
    cut_off: int = Field(description="answers that end where the output tokens ended")
    duplicates: int = Field(description="further copies of a response, which count nothing")
    excluded: tuple[Exclusion, ...]


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
    visual_gap: Estimate = Field(description="equation 3")


class Table2Row(_Part):
    """One model of Table 2: macro accuracy of S0 under V1 to V4, and res = V2-V1, access = V3-V2, aug = V4-V2."""

    model: str
    title: str
    conditions: dict[str, Estimate]
    gaps: dict[str, Estimate]


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
    """Tables 1 and 2 with counts and 95 % intervals; rates are fractions."""

    dataset: str
    dataset_digest: str
    samples: int
    awaiting_expert: tuple[str, ...] = Field(description="samples without an answer, left out of every accuracy")
    parser_version: str
    table1: tuple[Table1Row, ...]
    table2: tuple[Table2Row, ...]
    cells: tuple[CellScore, ...]
    warnings: tuple[str, ...]
    provenance: tuple[Origin, ...]
