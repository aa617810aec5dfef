"""Flaws of a response that is recorded as answered: an answer that is none."""

from typing import Literal

from gigavqa.contract.responses import FINISH_REASONS, Failure, Response, TurnResponse

Flaw = Literal["broken_off", "filtered", "empty"]
"""`broken_off`: its engine ended it for another reason than those of answers. `filtered`: who serves the model withheld
it or refused. `empty`: the model ended it before it wrote a token."""

GENERATION_FAILED = "GenerationFailedError"
"""Type of the failure that an answer is which was broken off."""


def flaw_of(turn: TurnResponse) -> Flaw | None:
    """Return what is wrong with one answer.

    A reason that files of other programs leave empty says nothing against it.
    """
    if turn.finish_reason and turn.finish_reason not in FINISH_REASONS:
        return "broken_off"
    if turn.finish_reason == "content_filter":
        return "filtered"
    return "empty" if turn.is_empty else None


def flaws_of(response: Response) -> frozenset[Flaw]:
    """Return what is wrong with any answer of a response; nothing of a failure, which has none that counts.

    Of one that no engine of ours recorded it is not known whether tokens were written.
    """
    if response.failure and not response.failure.by_model:
        return frozenset()
    found = {flaw for turn in response.turns if (flaw := flaw_of(turn))}
    return frozenset(found if response.engine else found - {"empty"})


def fault_of(response: Response) -> Failure | None:
    """Why a response has no answer: its failure, or that an answer of it was broken off."""
    if "broken_off" not in flaws_of(response):
        return response.failure
    reasons = sorted({turn.finish_reason for turn in response.turns if flaw_of(turn) == "broken_off"})
    message = f"the engine ended an answer for no reason of answers: {', '.join(map(repr, reasons))}"
    return Failure(type=GENERATION_FAILED, message=message, retryable=True)


def is_retry_candidate(response: Response) -> bool:
    """Return whether a retry may take back what is recorded, because it is no answer.

    A failure, broken off, or empty.
    """
    return not response.ok or bool(flaws_of(response) & {"broken_off", "empty"})
