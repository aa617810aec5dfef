"""Closes a chat: one more turn behind its answer, which the engine holds to what the request says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from gigavqa.contract.requests import Closing, GenerationConstraints, Sampling
from gigavqa.contract.responses import ClosingAnswer, Failure, TurnResponse
from gigavqa.workers.engines.engine import EngineError


@dataclass(frozen=True)
class ClosingTurn:
    """The way to ask a closing turn: without chance, so that it says what the model holds likeliest.

    `template` goes to the chat template, so that no thought comes before what is held. `is_elsewhere` tells that a
    server may think all the same, within the limit of tokens: then that is the request's own, and the structure alone
    keeps the answer short.
    """

    closing: Closing
    template: Mapping[str, JsonValue]
    is_elsewhere: bool

    def sampling(self, asked: Sampling) -> Sampling:
        """Return the sampling of the turn, behind answers that were `asked` for."""
        steering = GenerationConstraints(structure=self.closing.structure, template=dict(self.template))
        limit = max(asked.max_tokens, self.closing.max_tokens) if self.is_elsewhere else self.closing.max_tokens
        return Sampling(temperature=0.0, max_tokens=limit, seed=asked.seed, steering=steering)

    def told(self, turn: TurnResponse) -> ClosingAnswer:
        """Return the record of its answer."""
        return self._record(text=turn.text, finish_reason=turn.finish_reason, usage=turn.usage, timings=turn.timings)

    def refused(self, error: EngineError, failure_of: Callable[[Exception], Failure]) -> ClosingAnswer:
        """Return the record of why it has none.

        Raises the error where asking again may help: then the chat is played anew.
        """
        if error.is_retryable:
            raise error
        return self._record(failure=failure_of(error))

    def _record(self, **told: object) -> ClosingAnswer:
        closing = self.closing
        return ClosingAnswer(kind=closing.kind, prompt_version=closing.prompt_version, **told)


def can_close(turns: Sequence[TurnResponse], stop: str | None) -> bool:
    """Return whether a chat has an answer of its own that can be closed: a whole one, written by the model."""
    if not turns or stop not in (None, "answered"):
        return False
    return turns[-1].finish_reason != "content_filter" and not turns[-1].is_empty
