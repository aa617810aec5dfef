"""Reviews: what people found of samples, which verdict counts, and what an export makes of it.

A reviewer answers a sample blind, sees its truth, and keeps it, mends it, or drops it for a reason. Verdicts are lines
that are never changed: of a reviewer's verdicts on a sample the last counts that was not undone, and only while the
sample is the one that was seen.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeFloat, StringConstraints, model_validator

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import RecordLayout, whole_record
from gigavqa.evaluation.samples import Sample

ReviewVerdict = Literal["keep", "mend", "drop"]
ReviewState = Literal["unreviewed", "keep", "mend", "drop", "conflict"]
"""What became of a sample: nobody looked at it, the verdict that stands, or verdicts between which somebody decides."""
DropReason = Literal["wrong-truth", "several-answers", "unclear", "not-visible", "guessable", "weak-options", "other"]
DROP_REASONS: Mapping[DropReason, str] = {
    "wrong-truth": "the truth is wrong",
    "several-answers": "more than one answer is right",
    "unclear": "it is not clear what is asked, or about what",
    "not-visible": "the picture does not show it",
    "guessable": "it is answered without the picture",
    "weak-options": "options that nobody would choose",
    "other": "something else, in the note",
}
"""Why a sample is dropped, each with what it says to people."""

ANONYMOUS = "anonymous"
"""Who reviews where no keys are asked for."""

_LONGEST = 4000
_Text = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST, strip_whitespace=True)]
_Box = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]


class Mend(BaseModel):
    """What of a sample is to be otherwise; what is not named stays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: _Text | None = None
    options: dict[str, _Text] | None = Field(default=None, description="all options, by letter")
    answer: _Text | None = Field(default=None, description="the true answer, a letter where there are options")
    boxes: tuple[_Box, ...] | None = Field(
        default=None, max_length=500, description="the evidence: left, top, right and bottom in pixels of the picture"
    )

    @property
    def fields(self) -> frozenset[str]:
        """The names of what is mended."""
        return frozenset(name for name in type(self).model_fields if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.fields:
            raise ValueError("fields: none is mended; to leave all as they are is to keep the sample")
        if wrong := [box for box in self.boxes or () if not (0 <= box[0] < box[2] and 0 <= box[1] < box[3])]:
            raise ValueError(f"boxes: {list(wrong[0])} is not left, top, right and bottom within the picture")
        return self


class ReviewEntry(BaseModel):
    """A verdict on a sample, or the undoing of one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(
        pattern=r"^[A-Za-z0-9_-]{8,64}$", description="made by the client: the same entry twice is written once"
    )
    sample: str = Field(min_length=1, max_length=200)
    digest: str = Field(pattern=r"^[0-9a-f]{32}$", description="of the sample as it was seen")
    verdict: Literal[ReviewVerdict, "undo"]
    reason: DropReason | None = Field(default=None, description="why it is dropped")
    note: str | None = Field(default=None, max_length=_LONGEST, description="anything in words")
    fields: Mend | None = Field(default=None, description="what is mended")
    answer: str | None = Field(default=None, max_length=_LONGEST, description="given before the truth was seen")
    seconds: NonNegativeFloat | None = Field(default=None, description="from the question to the blind answer")
    settles: bool = Field(default=False, description="decides between verdicts of others")
    undoes: str | None = Field(default=None, description="id of the verdict that does not count any more")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.verdict == "drop") != (self.reason is not None):
            raise ValueError("reason: says why a sample is dropped, and nothing else")
        if self.reason == "other" and not (self.note or "").strip():
            raise ValueError("note: says what it is where the reason is 'other'")
        if (self.verdict == "mend") != (self.fields is not None):
            raise ValueError("fields: say what is mended, and belong to that verdict alone")
        if (self.verdict == "undo") != (self.undoes is not None):
            raise ValueError("undoes: names the verdict that is undone, and belongs to that alone")
        return self


class SampleReview(ReviewEntry):
    """An entry as it stands in a reviewer's file."""

    at: datetime


def sample_digest(benchmark: Benchmark[Any, Any], sample: Sample) -> str:
    """Name a sample by its content: whatever of its record changes, it is another one to be reviewed."""
    record = whole_record(RecordLayout.of(benchmark), sample)
    content = json.dumps(record, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:32]


def standing_reviews(lines: Iterable[SampleReview]) -> Mapping[str, SampleReview]:
    """Return the verdict of one reviewer on each sample that counts, by the sample, from all lines in their order."""
    lines = list(lines)
    undone = {line.undoes for line in lines}
    return {line.sample: line for line in lines if line.verdict != "undo" and line.id not in undone}


class Decision(NamedTuple):
    """What becomes of a sample, and the review that says so; None where nobody's does."""

    state: ReviewState
    review: SampleReview | None = None


@dataclass(frozen=True)
class Reviews:
    """The verdicts that count on the samples of a data set: by sample, and by reviewer.

    `outdated` counts those by reviewer that were given on samples which have changed or gone since.
    """

    by_sample: Mapping[str, Mapping[str, SampleReview]]
    outdated: Mapping[str, int]

    @classmethod
    def of(cls, lines: Mapping[str, Iterable[SampleReview]], digest_of: Callable[[str], str | None]) -> "Reviews":
        """Gather what every reviewer wrote; `digest_of` names a sample as it is now, None where there is none."""
        found: dict[str, dict[str, SampleReview]] = {}
        outdated = dict.fromkeys(lines, 0)
        for reviewer, written in lines.items():
            for sample, review in standing_reviews(written).items():
                if digest_of(sample) == review.digest:
                    found.setdefault(sample, {})[reviewer] = review
                else:
                    outdated[reviewer] += 1
        return cls(found, outdated)

    def decision(self, sample: str) -> Decision:
        """Return what becomes of a sample."""
        return decide(tuple(self.by_sample.get(sample, {}).values()))

    def only(self, reviewers: Callable[[str], bool]) -> "Reviews":
        """Return the verdicts of some reviewers alone."""
        chosen = {
            sample: {name: review for name, review in given.items() if reviewers(name)}
            for sample, given in self.by_sample.items()
        }
        outdated = {name: number for name, number in self.outdated.items() if reviewers(name)}
        return Reviews({sample: given for sample, given in chosen.items() if given}, outdated)


def decide(reviews: Sequence[SampleReview]) -> Decision:
    """Return what reviewers make of a sample together: what the last one says that settles it, else what all say.

    Who mends it differently does not say the same; who drops it for other reasons does.
    """
    if not reviews:
        return Decision("unreviewed")
    settling = [review for review in reviews if review.settles]
    chosen = max(settling or reviews, key=lambda review: review.at)
    alike = settling or all(review.verdict == chosen.verdict and review.fields == chosen.fields for review in reviews)
    # The literal is the verdict's own: an undoing never counts.
    return Decision(chosen.verdict, chosen) if alike and chosen.verdict != "undo" else Decision("conflict")
