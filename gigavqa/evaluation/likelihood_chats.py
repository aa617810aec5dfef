"""Chats that weigh a sample's answer: the same chat with its views shown and behind a mask, the answer forced on both.

How much more likely the answer is with the picture is what the picture matters. Source: arXiv:2606.03273, equation 6.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gigavqa.contract.jobs import LIKELIHOOD, Cell, JobSpec
from gigavqa.contract.requests import Turn
from gigavqa.evaluation.capabilities import AnswerForms, CellRules
from gigavqa.evaluation.chats import Chat
from gigavqa.evaluation.errors import LikelihoodUnavailableError
from gigavqa.evaluation.samples import Sample
from gigavqa.tiling.views import View

ASKED, MASK, ANSWER = "asked", "mask", "answer"
"""Details of a request that weighs an answer: its protocol, what hides its views ('' for nothing), and the answer."""


class WeighedChat(NamedTuple):
    """One chat of the two that weigh an answer, and the end of its request's id."""

    chat: Chat
    ending: str


def require_weighable(spec: JobSpec, cells: Sequence[Cell], rules: CellRules[Any]) -> None:
    """Refuse what no likelihood can be told of. Raises LikelihoodUnavailableError, one line a fault."""
    faults = [
        f"likelihood: {cell} goes on in rounds, and what the model writes in them is no given answer; name protocols "
        "that ask once"
        for cell in cells
        if cell.protocol in rules.loops
    ]
    blind = [cell for cell in cells if cell.condition == "V0"]
    faults += [f"likelihood: {cell} shows no picture that could be hidden; name V1 to V4" for cell in blind]
    if spec.repeats > 1:
        faults.append("likelihood: a likelihood has no chance in it; leave out repeats")
    if spec.closing is not None:
        faults.append("likelihood: behind a given answer there is no closing turn; leave out closing")
    if faults:
        raise LikelihoodUnavailableError("\n".join(dict.fromkeys(faults)))


def weighed_answer(forms: AnswerForms[Any], sample: Sample, protocol: str) -> str:
    """Return the answer to weigh; '' for a sample whose answer is not known."""
    return forms.weighed_answer(sample, protocol).strip() if sample.truth else ""


def weighing_chats(chat: Chat, sample: Sample, cell: Cell, answer: str, mask: str) -> Iterator[WeighedChat]:
    """Yield the chat that shows its views, and the one that hides them. Raises LikelihoodUnavailableError."""
    if len(chat.turns) > 1 or chat.loop is not None:
        raise LikelihoodUnavailableError(
            f"likelihood: {cell} asks sample '{sample.id}' in several turns, whose answers would be the model's own; "
            "name protocols that ask once"
        )
    if not chat.turns[0].views:
        raise LikelihoodUnavailableError(f"likelihood: sample '{sample.id}' shows no picture under {cell}")
    for hidden, ending in (("", "shown"), (mask, "masked")):
        turn = chat.turns[0].model_copy(update={"forced": answer, "parts": _masked(chat.turns[0], hidden)})
        details = {**chat.details, ASKED: cell.protocol, MASK: hidden, ANSWER: answer}
        yield WeighedChat(replace(chat, turns=(turn,), details=details), f"{LIKELIHOOD}-{ending}")


def _masked(turn: Turn, mask: str) -> tuple[str | View, ...]:
    return tuple(
        part.model_copy(update={"mask": mask}) if mask and isinstance(part, View) else part for part in turn.parts
    )
