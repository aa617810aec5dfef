"""Retries of calls, and the positions from which broken streams go on: the part of both clients that sends nothing."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from httpx_sse import ServerSentEvent

from gigavqa.client import calls
from gigavqa.client.calls import AnswerT, ApiCall, ResultFilter
from gigavqa.client.errors import BusyError, GatewayFailedError, GatewayUnreachableError, ProblemError, problem_error
from gigavqa.contract.jobs import Job

STREAM_SECONDS = 60.0
"""How long a stream that broke off is opened again without any news."""
PAUSE_SECONDS = 0.5
_LONGEST_PAUSE = 8.0
_UNSENT_ERRORS = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_PROXY_STATUSES = {502, 504}  # what stands before the gateway did not reach it
_TOO_MANY = 429


class GatewayState:
    """The state of one gateway: whether it has ever answered. One that has not is not waited for."""

    def __init__(self, url: str, patience: float) -> None:
        self.url = url
        self.patience = patience
        self.met = False

    def check(self, answer: httpx.Response) -> None:
        """Take note of an answer; raises ProblemError for one of status 4xx or 5xx, which was read whole."""
        self.met = True
        if answer.is_error:
            raise problem_error(answer)

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Guard a call that is made once: raises GatewayUnreachableError where no gateway answers."""
        try:
            yield
        except httpx.TransportError as error:
            raise self.unreachable(error) from error

    def unreachable(self, error: httpx.TransportError) -> GatewayUnreachableError:
        """Says that no gateway answers, or none in time, and what helps."""
        if isinstance(error, httpx.ReadTimeout):
            return GatewayUnreachableError(
                f"the gateway at {self.url} took the request and has not answered in time. It may still be at work on "
                "it: ask again, or look at its log."
            )
        return GatewayUnreachableError(
            f"no gateway answers at {self.url} ({error}). Start one with `gigavqa up`, or name another by its address "
            "or in GIGAVQA_URL."
        )

    def read(self, call: ApiCall[AnswerT], answer: httpx.Response) -> AnswerT:
        """Return what an answer says; raises ProblemError."""
        self.check(answer)
        return call.read(answer)


class RetryAttempts:
    """The attempts at one thing: `pause` says how long to wait before the next one, or raises what ended the last."""

    def __init__(self, contact: GatewayState, seconds: float | None = None) -> None:
        self._contact = contact
        self._until = time.monotonic() + (contact.patience if seconds is None else seconds)
        self._number = 0

    def pause(self, error: httpx.TransportError | ProblemError, *, repeatable: bool = True) -> float:
        """Seconds until the next attempt; raises GatewayUnreachableError, or the problem itself."""
        wait = self._backoff()
        if isinstance(error, BusyError) and error.retry_after is not None:
            wait = max(wait, error.retry_after)
        if self._helps(error, repeatable) and time.monotonic() + wait <= self._until:
            self._number += 1
            return wait
        if isinstance(error, ProblemError):
            raise error
        raise self._contact.unreachable(error) from error

    def _helps(self, error: httpx.TransportError | ProblemError, repeatable: bool) -> bool:
        if isinstance(error, ProblemError):
            refused = error.status == _TOO_MANY  # before anything was done
            passing = isinstance(error, BusyError) or (
                isinstance(error, GatewayFailedError) and error.status in _PROXY_STATUSES
            )
            return refused or (passing and repeatable)
        return self._contact.met and (repeatable or isinstance(error, _UNSENT_ERRORS))

    def _backoff(self) -> float:
        # Clients that lost the gateway together do not come back together.
        return min(_LONGEST_PAUSE, PAUSE_SECONDS * 2.0**self._number) * random.uniform(0.5, 1.0)


@dataclass
class StreamPosition:
    """The position in a stream of responses: behind which cursor it goes on, and how many lines are still wanted."""

    after: str | None
    left: int | None
    _last: str = ""

    def pass_by(self, line: str) -> None:
        """Take note of a line."""
        self._last = line
        self.left = None if self.left is None else self.left - 1

    def call(self, job_id: str, *, follow: bool, filters: ResultFilter) -> ApiCall[None]:
        """Return what asks for the rest."""
        if self._last:
            self.after, self._last = str(json.loads(self._last)["cursor"]), ""
        return calls.results(job_id, self.after, self.left, follow=follow, filters=filters)


class EventPosition:
    """The position in a job's events. Raises TimeoutError in `call` when `seconds` are over."""

    def __init__(self, job: Job, seconds: float | None = None) -> None:
        self.job = self.whole = job  # as events tell of it, and as the gateway last gave it whole
        self._seconds = seconds
        self._ends_at = None if seconds is None else time.monotonic() + seconds
        self._last = job.last_event_id  # those before it tell of what the job was

    def call(self) -> ApiCall[None]:
        """Return what asks for the events that were not heard."""
        silence = calls.EVENTS_SILENCE if self._ends_at is None else self._ends_at - time.monotonic()
        if silence <= 0:
            counts = self.job.request_counts
            done = f"{counts.completed + counts.failed} of {counts.total} requests are done"
            raise TimeoutError(f"job {self.job.id} is {self.job.status} after {self._seconds:g} s: {done}")
        return calls.events(self.job.id, self._last, min(calls.EVENTS_SILENCE, silence))

    def hear(self, event: ServerSentEvent) -> Job | None:
        """Return the job as it is now; None for a ping."""
        self._last = event.id or self._last
        if not event.data:
            return None
        self.job = calls.apply_event(self.job, json.loads(event.data))
        return self.job

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._ends_at is not None and time.monotonic() >= self._ends_at


class LineSplitter:
    """Cuts a stream of bytes into lines of JSON at line feeds alone: texts may hold what else ends lines."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def take(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that end in this chunk, without the empty ones; what follows the last waits for the next."""
        self._begun += chunk
        if b"\n" not in chunk:
            return
        *ended, rest = bytes(self._begun).split(b"\n")
        self._begun[:] = rest
        yield from (line.decode() for line in ended if line)
