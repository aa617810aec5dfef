"""Check samples for what keeps them from being asked, and against the paper's own rules (section C.3)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from gigavqa.benchmarks.mmcr.asking import describe_missing_evidence, evidence_positions
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.benchmark import LOCAL_CONDITIONS, Finding
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.source_images import require_sources
from gigavqa.runtime.plurals import count_noun

FEWEST_QUESTIONS = 8
"""Questions that the paper's annotators wrote about each document, at least."""


def require_evidence(samples: Sequence[MMCRSample], cells: Sequence[Cell]) -> None:
    """Refuse V3, V4 and V5 of questions without evidence pages, and V5 of those without others.

    Raises EvidenceMissingError naming every sample.
    """
    require_sources(samples, cells, evidence_positions)
    asked = sorted({cell.condition for cell in cells} & LOCAL_CONDITIONS)
    missing = [
        describe_missing_evidence(sample, one) for one in asked for sample in samples if not sample.evidence.pages
    ]
    if missing:
        raise EvidenceMissingError("\n".join(missing))


def check_question(question: MMCRSample) -> Iterator[str]:
    """Say what is doubtful of a question by itself."""
    wordings: dict[str, str] = {}
    for letter, text in (question.options or {}).items():
        if (first := wordings.setdefault(text.lower(), letter)) != letter:
            yield f"options {first} and {letter} have the same wording; stage 2 could never decide"
    if question.rotations:
        given = [k for k, order in enumerate(question.rotations) if order]
        missing = [str(k) for k in range(1, len(question.letters)) if k not in given]
        if missing:
            are, they = ("s", "are") if len(missing) > 1 else ("", "is")
            asked = "they are" if len(missing) > 1 else "it is"
            yield f"rotation{are} {', '.join(missing)} {they} missing; {asked} asked by the rule"
    if not question.answer:
        yield "has no answer: it is asked, and left out of every number"


def compare_samples(samples: Sequence[MMCRSample], place_of: Callable[[str], str]) -> Iterator[Finding]:
    """Say where questions about one document disagree on its pages, and which documents break the paper's rules."""
    first: dict[str, MMCRSample] = {}
    counts = Counter(sample.document for sample in samples)
    for sample in samples:
        known = first.setdefault(sample.document, sample)
        if known.images != sample.images:
            told = f"document '{sample.document}' has other pages here than at {place_of(known.id)}"
            yield Finding(sample.id, told, is_error=True)
    for document, sample in first.items():
        if counts[document] < FEWEST_QUESTIONS:
            told = count_noun(counts[document], "question")
            yield Finding(sample.id, f"document '{document}' has {told}, fewer than eight", of_many=True)
        if len(sample.images) == 1:
            yield Finding(sample.id, f"document '{document}' has one page", of_many=True)
