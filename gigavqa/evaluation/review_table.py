"""What reviewers found together: how far they are, how well they answer blind, and how far they agree."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import median

from pydantic import BaseModel, ConfigDict, Field

from gigavqa.evaluation.capabilities import AnswerForms
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.metrics.agreement import cohen_kappa, fleiss_kappa
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import estimate_share
from gigavqa.evaluation.reviews import Reviews, ReviewState, SampleReview
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.truth_checks import AnswerForm

_OPEN = "open"


class ReviewerRow(BaseModel):
    """What one reviewer found."""

    model_config = ConfigDict(frozen=True)

    reviewer: str
    keep: int = 0
    mend: int = 0
    drop: int = 0
    outdated: int = Field(default=0, description="verdicts on samples that have changed or gone since")
    accuracy: Estimate = Field(description="share of blind answers that are the truth, of those that can be compared")
    seconds: float | None = Field(default=None, description="median time to a blind answer")


class AgreementRow(BaseModel):
    """How far reviewers agree on the samples that they share: on the verdict, and on the blind answer."""

    model_config = ConfigDict(frozen=True)

    reviewers: tuple[str, ...]
    verdicts: Estimate = Field(description="share of pairs of verdicts that are alike")
    kappa: Estimate = Field(description="of verdicts beyond chance: Cohen's for two, Fleiss' for more")
    answers: Estimate = Field(description="share of pairs of blind answers that are alike")


class ReviewTable(BaseModel):
    """How far a review is, and what it says of its reviewers."""

    model_config = ConfigDict(frozen=True)

    samples: int
    states: dict[ReviewState, int] = Field(description="samples by what became of them")
    reviewers: tuple[ReviewerRow, ...]
    agreement: tuple[AgreementRow, ...] = Field(description="of each two, and of all where there are more")


def review_table(dataset: Dataset, reviews: Reviews) -> ReviewTable:
    """Count what reviewers found of a data set, and compare them."""
    states: dict[ReviewState, int] = dict.fromkeys(("unreviewed", "keep", "mend", "drop", "conflict"), 0)
    for sample in reviews.by_sample:
        states[reviews.decision(sample).state] += 1
    states["unreviewed"] = len(dataset.samples) - len(reviews.by_sample)
    names = sorted({name for given in reviews.by_sample.values() for name in given} | set(reviews.outdated))
    return ReviewTable(
        samples=len(dataset.samples),
        states=states,
        reviewers=tuple(_reviewer_row(dataset, reviews, name) for name in names),
        agreement=tuple(_agreement_rows(reviews, names)),
    )


def _reviewer_row(dataset: Dataset, reviews: Reviews, name: str) -> ReviewerRow:
    given = [found[name] for found in reviews.by_sample.values() if name in found]
    right = [is_right for review in given if (is_right := _is_right(dataset, review)) is not None]
    verdicts = [review.verdict for review in given]
    seconds = [review.seconds for review in given if review.seconds is not None]
    return ReviewerRow(
        reviewer=name,
        keep=verdicts.count("keep"),
        mend=verdicts.count("mend"),
        drop=verdicts.count("drop"),
        outdated=reviews.outdated.get(name, 0),
        accuracy=estimate_share(sum(right), len(right)),
        seconds=median(seconds) if seconds else None,
    )


def _is_right(dataset: Dataset, review: SampleReview) -> bool | None:
    if review.answer is None:
        return None
    sample = dataset.samples[dataset.positions[review.sample]]
    # What people answered to a record without an answer is not held against itself.
    return None if sample.awaited else answer_is_right(dataset, sample, review.answer)


def answer_is_right(dataset: Dataset, sample: Sample, answer: str) -> bool | None:
    """Return whether a person's answer is the truth, None where no rule can tell.

    It is held against the truths of the sample's form, and where the form is a closed one judged as a closing turn is.
    """
    forms, benchmark = AnswerForms.of(dataset.benchmark), dataset.benchmark
    form: AnswerForm = forms.answer_form(sample)
    if form.kind == _OPEN or not sample.scored:
        return None
    said = _plain(answer)
    if said in {_plain(truth) for truth in (sample.truth, *(form.truths if not _is_set(sample, form) else ()))}:
        return True
    closed = forms.closed_form(sample, next(iter(benchmark.protocols)))
    try:
        return bool(closed and closed.is_right(answer.strip()))
    except ValueError:  # a word where a number is asked for
        return False


def _is_set(sample: Sample, form: AnswerForm) -> bool:
    """Return whether the truths are right together alone: several of the options."""
    return bool(sample.options) and len(form.truths) > 1


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _agreement_rows(reviews: Reviews, names: Sequence[str]) -> Iterator[AgreementRow]:
    pairs = list(combinations(names, 2))
    groups = [*pairs, tuple(names)] if len(names) > 2 else pairs
    for group in groups:
        shared = [
            [given[name] for name in group if name in given]
            for given in reviews.by_sample.values()
            if sum(name in given for name in group) > 1
        ]
        if shared:
            yield _agreement_row(group, shared)


def _agreement_row(names: tuple[str, ...], shared: Sequence[Sequence[SampleReview]]) -> AgreementRow:
    verdicts = [[review.verdict for review in given] for given in shared]
    kappa = cohen_kappa(*zip(*verdicts, strict=True)) if len(names) == 2 else fleiss_kappa(verdicts)
    answers = [[_plain(review.answer) for review in given if review.answer is not None] for given in shared]
    return AgreementRow(
        reviewers=names, verdicts=_alike(verdicts), kappa=kappa, answers=_alike([said for said in answers if said])
    )


def _alike(given: Sequence[Sequence[str]]) -> Estimate:
    pairs = [one == other for said in given for one, other in combinations(said, 2)]
    return estimate_share(sum(pairs), len(pairs))
