"""Check questions for what a table of ATOM-Bench needs, and for what no two questions may share."""

from collections.abc import Callable, Iterator, Sequence

from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import MOST_STEPS
from gigavqa.evaluation.benchmark import Finding

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

_LEFT_WITHOUT = {
    "clue": "RCS, HI and the support curve leave the image out, and AG asks nothing about it",
    "conclusion": "RCS, HI, RRS and the support curve leave the image out",
}
"""What becomes of an image without a question of a level."""


def missing_labels(sample: AtomSample) -> Iterator[tuple[str, str]]:
    """Yield each label that the question lacks, with the tables that leave it out."""
    for label, tables in _NEEDED_BY[sample.level].items():
        if getattr(sample, label) is None:
            yield label, tables


def check_sample(sample: AtomSample) -> list[str]:
    """Say what keeps a question from a table, one sentence each."""
    lacking = missing_labels(sample)
    found = [f"has no {label}, so that {tables} {leave_verb(tables)} it out" for label, tables in lacking]
    if sample.step is not None and sample.step > MOST_STEPS:
        found.append(f"is step {sample.step}; Figure 3b draws steps 1 to {MOST_STEPS}")
    return found if sample.answer else [*found, "has no answer: it is asked, and left out of every number"]


def leave_verb(tables: str) -> str:
    """Return the verb of one table, or of several."""
    return "leave" if " and " in tables else "leaves"


def compare_samples(samples: Sequence[AtomSample], place_of: Callable[[str], str]) -> Iterator[Finding]:
    """Say which images lack a level, and which clues have the step of another, in whatever file that stands."""
    yield from _missing_levels(samples)
    first: dict[tuple[str, int], AtomSample] = {}
    for sample in samples:
        if sample.step is None:
            continue
        known = first.setdefault((sample.place, sample.step), sample)
        if known is not sample:
            told = f"step {sample.step} is used twice on {sample.place}, first at {place_of(known.id)}"
            yield Finding(sample.id, told, is_error=True)


def _missing_levels(samples: Sequence[AtomSample]) -> Iterator[Finding]:
    """Say of which images there are questions of one level alone, once an image."""
    first: dict[str, dict[str, AtomSample]] = {}
    for sample in samples:
        first.setdefault(sample.place, {}).setdefault(sample.level, sample)
    for found in first.values():
        for level, needed in _LEFT_WITHOUT.items():
            if level not in found:
                (other,) = found.values()
                yield Finding(other.id, f"its image has no {level} question, so that {needed}", of_many=True)
