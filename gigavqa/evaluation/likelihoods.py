"""How likely models hold answers that they are given, read from responses: by model, cell, mask and sample."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gigavqa.contract.jobs import LIKELIHOOD
from gigavqa.evaluation.likelihood_chats import ANSWER, ASKED, MASK
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import Verdict

SHOWN, MASKED, UNWEIGHED = "shown", "masked", "unweighed"
"""Parse statuses of a reply that weighs an answer: its views stood open or hidden, or it tells no likelihood."""


class WeighedCell(NamedTuple):
    """Where answers were weighed: the model, the protocol and condition that asked, and the mask."""

    model: str
    asked: str
    condition: str
    mask: str


class AnswerWeight(NamedTuple):
    """The logarithm of an answer's probability, and its tokens."""

    sum: float
    tokens: int


class LikelihoodTally:
    """The weights of answers by cell and sample, the mask '' for views that stand open.

    Of copies one counts: a later copy is of the same answer behind the same prompt, and says the same but for the last
    digits, so the first by time is taken.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[WeighedCell, int], tuple[float, AnswerWeight]] = {}

    def add(self, reply: Reply, position: int) -> None:
        """Take a reply, if it weighs an answer to the sample at `position`."""
        if reply.protocol == LIKELIHOOD and reply.likelihood:
            details = reply.labels.details
            cell = WeighedCell(reply.model, str(details.get(ASKED, "")), reply.condition, str(details.get(MASK, "")))
            self.note(cell, position, reply.created, AnswerWeight(*reply.likelihood))

    def note(self, cell: WeighedCell, position: int, created: float, weight: AnswerWeight) -> None:
        """Take a weight that was read at some time."""
        key = cell, position
        self._found[key] = min(self._found.get(key, (created, weight)), (created, weight))

    def __iter__(self) -> Iterator[tuple[WeighedCell, int, float, AnswerWeight]]:
        for (cell, position), (created, weight) in sorted(self._found.items()):
            yield cell, position, created, weight

    def pairs(self) -> Mapping[WeighedCell, Mapping[int, tuple[AnswerWeight, AnswerWeight]]]:
        """Return of every cell with a mask the samples that were weighed with their views open, and hidden."""
        found: dict[WeighedCell, dict[int, tuple[AnswerWeight, AnswerWeight]]] = {}
        for (cell, position), (_, hidden) in sorted(self._found.items()):
            if cell.mask:
                pairs = found.setdefault(cell, {})
                if (open_ := self._found.get((cell._replace(mask=""), position))) is not None:
                    pairs[position] = (open_[1], hidden)
        return found


def likelihood_verdict(reply: Reply) -> Verdict[Any]:
    """Return what a reply that weighs an answer says: neither right nor wrong, since the answer was given."""
    details, weight = reply.labels.details, reply.likelihood
    status = UNWEIGHED if weight is None else MASKED if details.get(MASK) else SHOWN
    told = {ASKED: details.get(ASKED), MASK: details.get(MASK), ANSWER: details.get(ANSWER)}
    tags = [(name, str(value)) for name, value in told.items() if value]
    if weight is not None:
        tags += [("logprob", repr(weight.sum)), ("tokens", str(weight.tokens))]
    return Verdict(None if weight is None else status, status, None, tags=tuple(tags))
