"""Judges a reply by the matcher, under the order of options that its protocol showed; the careful reader beside it."""

from typing import NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.mmcr.answers import OptionMatch, match_option, read_final_letter
from gigavqa.benchmarks.mmcr.asking import ANNOUNCED, RotationProtocol
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import FILTERED, Verdict


class MMCRDetails(NamedTuple):
    """The details of a reply: the letter as it was answered, and the options meant, by their original letters.

    Empty where there is none: `shown` and `matched` by the matcher, `careful` by the careful reader.
    """

    shown: str = ""
    matched: str = ""
    careful: str = ""


def rotation_of(protocol: str, question: MMCRSample) -> int:
    """By how many places a protocol shifts the options of a question; one with fewer options keeps its order."""
    rotation = RotationProtocol.of(protocol).rotation
    return rotation if rotation < len(question.letters) else 0


class MMCRJudge:
    """One question, made ready to judge any number of replies to it, whatever their protocols."""

    def __init__(self, question: MMCRSample) -> None:
        self._question = question
        self._options: dict[int, dict[str, str]] = {}

    def __call__(self, reply: Reply, frame: BoxFrame) -> Verdict[MMCRDetails]:
        """Judge a reply: its value is the original letter of the option that it was matched with."""
        question, protocol = self._question, RotationProtocol.of(reply.protocol)
        k = rotation_of(reply.protocol, question)
        if k not in self._options:
            self._options[k] = question.shown(k)
        options, text = self._options[k], reply.text or ""
        found = match_option(text, options, announced=protocol.family in ANNOUNCED)
        careful = read_final_letter(text, options) if text else None
        return self._verdict(found, careful, k, FILTERED if reply.text is None and reply.absence == FILTERED else None)

    def _verdict(
        self, found: OptionMatch, careful: str | None, rotation: int, absence: str | None
    ) -> Verdict[MMCRDetails]:
        question = self._question
        value = question.original(found.letter, rotation)
        meant = question.original(careful, rotation)
        score = float(value == question.answer) if question.scored else None
        details = MMCRDetails(found.letter or "", value or "", meant or "")
        tags = (("answered", found.letter),) if found.letter and rotation else ()
        return Verdict(value, absence or found.status, score, details, tags)
