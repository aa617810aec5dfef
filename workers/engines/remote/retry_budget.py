"""Bound how often one request is asked of a server that is there and does not answer it."""

import math
import time

from gigavqa.contract.responses import Usage
from gigavqa.workers.engines.engine import EngineError, GenerationFailedError
from gigavqa.workers.engines.remote.error_replies import RetryLaterError, ServerFailedError

_MAX_BILLED_REPLIES = 4  # asks that were answered with what is no answer: each of them is billed: decision 0009
_TOKENS = ("prompt_tokens", "completion_tokens")


class RetryBudget:
    """The asks of one request that were in vain although the server was there: `most`, within `longest` seconds."""

    def __init__(self, most: int, longest: float) -> None:
        self._most = most
        self._longest = longest
        self._since = time.monotonic()
        self._seconds = 0.0
        self._replies = self._pauses = 0
        self._paid: list[Usage] = []
        self.number = 0
        """How many there were."""
        self.refused_at = math.inf
        """When the first ask began that was refused."""
        self.turned_away_at = math.inf
        """When the last ask began that the server had too much to do for."""
        self.passed_over = 0
        """How often the server had too much to do for it, and took what was asked later."""

    def count(self, later: RetryLaterError) -> None:
        """Count one. Raises ServerFailedError and GenerationFailedError when it was the last."""
        self.number += 1
        self._replies += later.paid is not None or later.trouble == "ended"
        self._paid += [later.paid] if later.paid else []
        if self.number >= self._most or self._replies >= min(_MAX_BILLED_REPLIES, self._most):
            raise self._failure(later)
        self.spend(later)

    def spend(self, later: RetryLaterError) -> None:
        """Count the time since the last call alone. Raises ServerFailedError when it is over."""
        self._seconds += time.monotonic() - self._since
        self.spare()
        if self._seconds >= self._longest:
            raise self._failure(later)

    def spare(self) -> None:
        """Leave the time since the last call uncounted: the server was not there."""
        self._since = time.monotonic()

    def next_pause(self) -> int:
        """Return the number of the pause that comes now, of all of this request, from 0."""
        self._pauses += 1
        return self._pauses - 1

    def _failure(self, later: RetryLaterError) -> EngineError:
        times = {0: f"for {self._seconds:.0f} s", 1: "once"}.get(self.number, f"{self.number} times")
        paid = f"; {self._bill()}" if self._paid else ""
        if later.trouble == "ended":
            return GenerationFailedError(f"the server was asked {times}: {later}{paid}")
        return ServerFailedError(f"the server failed at this request {times}: {later}{paid}")

    def _bill(self) -> str:
        """Return what it counted of replies that are no answers, which is in no response."""
        prompt, completion = (sum(getattr(each, name) for each in self._paid) for name in _TOKENS)
        dollars = sum(each.dollars or 0.0 for each in self._paid)
        cost = f", {dollars:.6f} US dollars" if dollars else ""
        return f"for that it counted {prompt} tokens of prompts and {completion} of answers{cost}"
