"""What a question lacks that a table of ATOM-Bench needs, and is asked without; and what no two questions may share."""

from collections.abc import Callable, Iterator, Sequence

from benchmarks.atombench.samples import Sample
from benchmarks.atombench.taxonomy import MOST_STEPS
from evaluation.benchmark import Finding

_NEEDED_BY = {
    "clue": {
        "domain": "Table 3 and Figure 3c",
        "scope": "Table 4 and Figure 3a",
        "certainty": "Table 4",
        "step": "Figure 3b",
    },
    "conclusion": {"difficulty": "RRS and the outcomes by difficulty"},
}
"""Labels by level, each with what leaves a question without it out."""


def missing_labels(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield each label that the question lacks, with the tables that leave it out."""
    for label, tables in _NEEDED_BY[sample.level].items():
        if getattr(sample, label) is None:
            yield label, tables


def check_sample(sample: Sample) -> list[str]:
    """Say what keeps a question from a table, one sentence each."""
    found = [f"has no {label}, so that {tables} leave it out" for label, tables in missing_labels(sample)]
    if sample.step is not None and sample.step > MOST_STEPS:
        found.append(f"is step {sample.step}; Figure 3b draws steps 1 to {MOST_STEPS}")
    return found if sample.answer else [*found, "has no answer: it is asked, and left out of every number"]


def compare(samples: Sequence[Sample], place_of: Callable[[str], str]) -> Iterator[Finding]:
    """Say which clues have the step of another clue of their image, in whatever file that stands."""
    first: dict[tuple[str, int], Sample] = {}
    for sample in samples:
        if sample.step is None:
            continue
        known = first.setdefault((sample.place, sample.step), sample)
        if known is not sample:
            told = f"step {sample.step} is used twice on {sample.place}, first at {place_of(known.id)}"
            yield Finding(sample.id, told, is_error=True)
