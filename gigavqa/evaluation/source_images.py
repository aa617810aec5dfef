"""Images that hold evidence, which V5 leaves out and V6 shows alone, and samples that neither can be asked of."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.chats import SOURCE_CONDITIONS
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.samples import Sample
from gigavqa.runtime.plurals import count_noun

SampleT = TypeVar("SampleT", bound=Sample)


def require_sources(
    samples: Sequence[SampleT], cells: Sequence[Cell], sources_of: Callable[[SampleT], Collection[int]]
) -> None:
    """Refuse V5 and V6 of samples that they cannot show; raises EvidenceMissingError counting and naming them.

    `sources_of` tells which of a sample's images hold evidence, counted from 0.
    """
    told: list[str] = []
    for condition in sorted({cell.condition for cell in cells} & SOURCE_CONDITIONS):
        refused = [text for sample in samples if (text := describe_unfit(sample, condition, sources_of(sample)))]
        if refused:
            number = f"{len(refused)} of {count_noun(len(samples), 'sample')}"
            told += [f"{condition} cannot show {number}; name the others as the job's `samples`", *refused]
    if told:
        raise EvidenceMissingError("\n".join(told))


def describe_unfit(sample: Sample, condition: Condition, sources: Collection[int]) -> str:
    """Say what keeps a sample from V5 or V6; '' where nothing does."""
    if not sources:
        does = "leaves out" if condition == "V5" else "shows alone"
        return f"sample '{sample.id}': none of its images is named as its evidence's, which {condition} {does}"
    if condition == "V5" and sample.images and not set(sample.images) - {sample.images[at] for at in sources}:
        number = len(set(sample.images))
        held = "its only image holds" if number == 1 else f"all its {number} images hold"
        return f"sample '{sample.id}': {held} evidence, so that V5 has none to show"
    return ""


def warn_of_sources(sample: Sample, sources: Collection[int]) -> Iterator[str]:
    """Say of a sample of several images that evidence stands on all of them; one image is not worth a word."""
    if sources and len(set(sample.images)) > 1 and describe_unfit(sample, "V5", sources):
        yield f"V5 cannot show it: all its {len(set(sample.images))} images hold evidence"
