"""Scripts, which decide the next message of a chat: data that is asked for the turns, never code of a benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gigavqa.contract.requests import Turn
from gigavqa.contract.responses import TurnResponse


class Script(Protocol):
    """Decides the turns of one chat, as far as the answers so far allow."""

    def turns(self, answers: Mapping[int, TurnResponse]) -> Sequence[Turn]:
        """Return the turns that can be asked when those of these numbers are answered; those told before come first.

        Asked at the beginning and after every answer; the chat is over when all that is told is answered.
        """
        ...


@dataclass(frozen=True)
class FixedTurns:
    """A list of turns: each can be asked when every turn before it is answered, or its answer was given."""

    listed: Sequence[Turn]

    def turns(self, answers: Mapping[int, TurnResponse]) -> Sequence[Turn]:
        """Return all up to the first whose own answer is still to come."""
        for number, turn in enumerate(self.listed):
            if turn.given is None and number not in answers:
                return self.listed[: number + 1]
        return self.listed
