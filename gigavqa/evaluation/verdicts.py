"""Verdicts: what judging says of a reply, and of each judged part of it."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.matching import BoxCorners
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.score_frame import DetailsT, VerdictOutcome


class VerdictPart(NamedTuple):
    """The verdict on one judged part of a chat: the answer to a step, a hop, a sub-question.

    `value` is the answer as it was read, `text` as it was written (None where none was given). `tags` name what the
    part can be sorted by, such as its operation. Boxes are (x1, y1, x2, y2) in the unit square of the sample's first
    image.
    """

    name: str
    question: str
    truth: Any
    value: Any
    text: str | None
    status: str
    score: float
    tags: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    boxes: tuple[BoxCorners, ...] = ()
    true_boxes: tuple[BoxCorners, ...] = ()


class Verdict(NamedTuple, Generic[DetailsT]):
    """The verdict on a reply.

    `value` is the final answer as it was read, None where there is no single one, and `status` how it was found. A
    `score` of 1 is right and of 0 wrong; None where nothing can be said yet. `rule` names by which rule of reading the
    value was found, where its reader tells. `details` are what the benchmark's report needs beyond these: a named
    tuple of the benchmark's own, of numbers, truths, texts and tuples of such; equal ones are held once. `tags` name
    what the reply can be sorted by. `tell` makes the parts, for those who look closer.
    """

    value: str | None
    status: str
    score: float | None
    details: DetailsT | None = None
    tags: tuple[tuple[str, str], ...] = ()
    tell: Callable[[], tuple[VerdictPart, ...]] = tuple
    rule: str = ""

    @property
    def outcome(self) -> VerdictOutcome:
        """The outcome of the reply, in one word."""
        if self.status == ABSTAINED:
            return "abstained"
        if self.status == FILTERED:
            return "filtered"
        if self.value is None:
            return "unreadable"
        if self.score is None:
            return "unscored"
        return "right" if self.score >= 1 else "wrong" if self.score <= 0 else "partial"


ABSTAINED = "abstained"
"""Parse status of a reply that says the question cannot be answered."""
FILTERED = "filtered"
"""Parse status of a reply that who serves the model withheld or refused."""

ReplyJudge = Callable[[Reply, BoxFrame], Verdict[DetailsT]]
"""Judges any number of replies to one sample. It is not asked about failures."""
