"""Golden evidence: the true answers to the clue questions of a picture, as a prompt tells them."""

from collections.abc import Iterable, Sequence

from gigavqa.benchmarks.atombench.prompts import read_texts
from gigavqa.benchmarks.atombench.samples import AtomSample

_LAST = 1 << 30
"""Behind every step: clue questions that have none are told as they come."""


class GoldenEvidence:
    """The golden evidence of every place, from the whole data set; `missing` holds conclusion questions without any."""

    def __init__(self, samples: Sequence[AtomSample]) -> None:
        by_place: dict[str, list[AtomSample]] = {}
        for sample in samples:
            if _is_golden(sample):
                by_place.setdefault(sample.place, []).append(sample)
        self._by_place = {place: _in_order(clues) for place, clues in by_place.items()}
        self.missing = [one.id for one in samples if one.level == "conclusion" and not self.of(one)]

    def of(self, sample: AtomSample) -> Sequence[AtomSample]:
        """Return the clue questions that are told with a conclusion question."""
        return self._by_place.get(sample.place, ())


def _is_golden(sample: AtomSample) -> bool:
    return sample.level == "clue" and bool(sample.answer)


def _in_order(clues: Iterable[AtomSample]) -> Sequence[AtomSample]:
    return sorted(clues, key=lambda clue: clue.step or _LAST)


def evidence_line(clue: AtomSample) -> str:
    """Return a clue question and its right option's words, on one line, without the letter."""
    return read_texts("ag")["clue"].format(question=_one_line(clue.question), answer=_one_line(clue.right_text))


def numbered_evidence(clues: Iterable[AtomSample]) -> str:
    """One numbered line a clue question."""
    line = read_texts("ag")["line"]
    return "\n".join(line.format(number=number, clue=evidence_line(clue)) for number, clue in enumerate(clues, start=1))


def _one_line(text: str) -> str:
    return " ".join(text.split())
