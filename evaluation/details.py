"""What became of every request, one by one: for readers who want to see behind a number."""

from collections.abc import Iterable, Iterator, Mapping

from benchmarks.ultravr.samples import Sample
from catalogue.entry import CatalogueEntry
from evaluation.datasets import Dataset
from evaluation.judging import JudgedStep, Judgement, Judges
from evaluation.replies import Reply, reply_of
from evaluation.reporting.models import SampleOutcome, StepOutcome
from jobs.models import Response


def sample_outcomes(
    dataset: Dataset, responses: Iterable[Response], catalogue: Mapping[str, CatalogueEntry]
) -> Iterator[SampleOutcome]:
    """Yield the outcome of each response, as `reply_outcomes` does of what scoring takes from it."""
    return reply_outcomes(dataset, map(reply_of, responses), catalogue)


def reply_outcomes(
    dataset: Dataset, replies: Iterable[Reply], catalogue: Mapping[str, CatalogueEntry]
) -> Iterator[SampleOutcome]:
    """Yield the outcome of each reply as it streams past, holding none; unknown samples are passed over.

    Copies of a reply are not told apart. Raises StepUnknownError as reports do.
    """
    judges = Judges(dataset, catalogue)
    positions = {sample.id: position for position, sample in enumerate(dataset.samples)}
    for reply in replies:
        if (position := positions.get(reply.sample_id)) is not None:
            yield _outcome(reply, judges.of(position).sample, judges.judge(reply, position))


def _outcome(reply: Reply, sample: Sample, judged: Judgement | None) -> SampleOutcome:
    scored = judged if sample.scored else None
    return SampleOutcome(
        job_id=reply.identity[0],
        request_id=reply.identity[1],
        sample_id=sample.id,
        model=reply.model,
        protocol=reply.protocol,
        condition=reply.condition,
        repeat=reply.repeat,
        domain=sample.domain,
        category=sample.category,
        subcategory=sample.subcategory,
        question=sample.question,
        options=sample.options,
        answer=sample.answer,
        value=judged.final.value if judged else None,
        status=judged.final.status if judged else "failed",
        correct=scored.correct if scored else None,
        first_error=scored.first_error if scored and scored.steps and reply.protocol == "S4" else None,
        failure=reply.failure,
        text=reply.text,
        cut_off=reply.cut_off,
        overflowed=reply.overflowed,
        steps=tuple(map(_step, judged.steps)) if judged else (),
        rasters=reply.rasters,
    )


def _step(judged: JudgedStep) -> StepOutcome:
    step, verdict = judged.step, judged.verdict
    return StepOutcome(
        step_id=step.step_id,
        question=step.question,
        answer_format=step.answer_format,
        operation=judged.operation,
        ground_truth=step.ground_truth,
        value=verdict.value,
        status=verdict.status,
        correct=verdict.correct,
        f1=verdict.f1,
        converted=verdict.converted,
        text=judged.text,
    )
