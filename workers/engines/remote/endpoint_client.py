"""A server elsewhere: each request is asked until it is answered, for as long as asking makes sense."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx

from gigavqa.contract.responses import TurnResponse, Usage
from gigavqa.runtime.public_addresses import NO_COOKIES
from gigavqa.workers.engines.engine import EngineDeadError, EngineError
from gigavqa.workers.engines.remote.answers import RemoteAnswer
from gigavqa.workers.engines.remote.bodies import RequestBody
from gigavqa.workers.engines.remote.connections import SingleUseTransport
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.endpoint_status import EndpointProbe, EndpointStatus
from gigavqa.workers.engines.remote.error_replies import (
    RequestRefusedError,
    RetryLaterError,
    error_for_reply,
    parse_error,
)
from gigavqa.workers.engines.remote.rate_limiter import RateLimiter
from gigavqa.workers.engines.remote.redaction import redact_line
from gigavqa.workers.engines.remote.replies import read_model_cards
from gigavqa.workers.engines.remote.retry_budget import RetryBudget
from gigavqa.workers.engines.remote.streaming import read_error_body, receive_answer

for _teller in ("httpx", "httpcore"):
    logging.getLogger(_teller).setLevel(logging.WARNING)  # they tell of every request, and of its headers

_CONNECT_SECONDS = 10.0
_PROBE_SECONDS = 30.0
_REFUSAL_REASONS = ("refused", "unpaid", "moved")
_MAX_REFUSALS = 8  # in a row: more are not the requests' own: decision 0009
_MAX_PASSED_OVER = 3  # times, after which a request waits for its turn by itself, and no other with it
_MAX_REFUSAL_SECONDS = 300.0


class EndpointClient:
    """Ask the server at an endpoint. `context` is how many tokens the model's holds; `model` is its name there.

    A request at which the server fails is asked again, after what the server asks to be left alone for, else after
    `backoff_seconds`, doubled each time, up to half a minute; so often, and for so long, as the settings say. While the
    server answers nobody, and does not list its models either, all wait for it, and nothing counts.
    """

    def __init__(self, settings: RemoteSettings, *, context: int) -> None:
        self._settings = settings
        self._context = context
        self._requests = RateLimiter(settings.requests_a_minute)
        self._looking: asyncio.Task[EndpointProbe] | None = None
        self.model: str | None = None  # as its list has it
        self.standing = EndpointStatus(settings)
        self.retries = self.on_the_wire = 0
        self.in_vain = Usage()
        """Tokens that it counted of replies that are no answers."""
        self._http = httpx.AsyncClient(
            headers=dict(settings.headers),
            cookies=NO_COOKIES,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            transport=SingleUseTransport(settings.endpoint),
        )

    async def look(self, url: str, content: dict[str, Any] | None = None) -> httpx.Response:
        """Ask for an address of the server's, or post JSON to it, once. Raises RetryLaterError when it is away."""
        method = "GET" if content is None else "POST"
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                return await self._http.request(method, url, json=content)
        except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
            raise self._unreachable(error) from error

    def refusal(self, response: httpx.Response) -> Exception:
        """Return what is to be raised for an answer that is none."""
        return self._refusal(response, response.content)

    async def complete(self, body: RequestBody, begin: Callable[[], RemoteAnswer]) -> tuple[TurnResponse, float]:
        """Post a chat until it is answered; returns the turn, and the seconds that its answer took.

        `begin` makes what takes an answer. Raises EngineError, and EngineDeadError when the engine is stopped.
        """
        asks = RetryBudget(self._settings.most_asks, self._settings.longest_seconds)
        try:
            return await self._complete(body, begin, asks)
        finally:
            self.standing.turned_away.discard(asks)

    async def _complete(
        self, body: RequestBody, begin: Callable[[], RemoteAnswer], asks: RetryBudget
    ) -> tuple[TurnResponse, float]:
        while True:
            await self.standing.until_resumed()
            await self._requests.take(1)
            if self._http.is_closed:
                raise EngineDeadError("the engine is not running")
            began, answers, answer = time.monotonic(), self.standing.answers, begin()
            try:
                with self._sending():
                    await self._post(body, answer)
                turn = answer.turn()
            except RetryLaterError as later:
                self._pay(later, answer.usage)
                await self._bear(later, asks, began, answers)
                self.retries += 1
            except EngineError:
                self.standing.found(began)
                raise
            else:
                self.standing.answered(began)
                return turn, time.monotonic() - began

    async def wait(self, later: RetryLaterError, attempt: int) -> None:
        """Wait for a server that takes nobody's requests. `attempt` says how often that was in vain before."""
        if later.trouble in ("refused", "unpaid"):
            self.standing.close(later.trouble, later.status or 0)
        else:
            self.standing.lose(later)
        self.retries += 1
        await self.standing.sleep(attempt, asked=later.seconds)

    async def close(self) -> None:
        await self._http.aclose()

    async def _bear(self, later: RetryLaterError, asks: RetryBudget, began: float, answers: int) -> None:
        """Wait until a request may be asked again, which began when so many were answered. Raises EngineError."""
        others_are_answered = self.standing.answers > answers
        if later.trouble == "busy":
            await self._bear_its_turn(later, asks, began)
            return
        if later.trouble in _REFUSAL_REASONS:
            await self._bear_refusal(later, asks, began)
            return
        look = EndpointProbe("there") if others_are_answered else await self._look_around(later)
        if look.state == "away":
            await self._bear_absence(later, asks)
        elif later.trouble == "gone" and self._is_gone(look):
            await self._stand("gone", later.status or 0, self._is_gone, asks)
        else:
            self.standing.found()
            asks.count(later)
            await asyncio.sleep(self.standing.pause(asks.next_pause(), later.seconds))

    async def _bear_its_turn(self, later: RetryLaterError, asks: RetryBudget, began: float) -> None:
        """Have everybody wait for a server with too much to do; or the request alone that is passed over for others."""
        if later.paid:
            asks.count(later)
        elif self.standing.newest > asks.turned_away_at:
            asks.passed_over += 1
            asks.spend(later)
        else:
            asks.spare()
        asks.turned_away_at = began
        is_its_own = asks.passed_over and self.standing.is_alone_turned_away(asks)
        if is_its_own or asks.passed_over >= _MAX_PASSED_OVER:
            pause = self.standing.pause(asks.next_pause(), longest=_MAX_REFUSAL_SECONDS)
            await asyncio.sleep(max(later.seconds or 0.0, pause))
        else:
            self.standing.slow_down(later, began)

    async def _bear_absence(self, later: RetryLaterError, asks: RetryBudget) -> None:
        self.standing.lose(later)
        await self.standing.sleep(asks.next_pause(), asked=later.seconds)
        asks.spare()

    async def _bear_refusal(self, later: RetryLaterError, asks: RetryBudget, began: float) -> None:
        """Wait where it is the key that is refused; raises RequestRefusedError where it is the request."""
        asks.refused_at = min(asks.refused_at, began)
        if self.standing.newest > asks.refused_at:  # a later ask was taken with the same key
            raise RequestRefusedError(str(later))
        look = await self._look_around()
        if look.state == "away":
            await self._bear_absence(later, asks)
        elif look.state != "there":
            await self._stand(look.state, look.status, lambda now: now.state == look.state, asks)
        elif self.standing.refuse() <= _MAX_REFUSALS:
            raise RequestRefusedError(str(later))
        else:  # some list their models to anybody
            self.standing.close(later.trouble, later.status or 0)
            asks.count(later)
            await self.standing.sleep(asks.next_pause(), asked=later.seconds, longest=_MAX_REFUSAL_SECONDS)

    async def _stand(
        self, trouble: str, status: int, is_so: Callable[[EndpointProbe], bool], asks: RetryBudget
    ) -> None:
        """Wait until the list of models shows something else; none of it counts."""
        look = None
        while (look is None or is_so(look)) and not self._http.is_closed:
            self.standing.close(trouble, status, self.model)
            await self.standing.sleep(asks.next_pause())
            look = await self._look_around()
        if look is not None and look.state == "there":
            self.standing.found(time.monotonic())
        asks.spare()

    def _is_gone(self, look: EndpointProbe) -> bool:
        return look.models is not None and self.model not in look.models

    async def _look_around(self, later: RetryLaterError | None = None) -> EndpointProbe:
        """Look whether the server is there; those who want to know at one time look together."""
        if later is not None and later.trouble == "away":
            return EndpointProbe("away")
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._list(), name="look-around")
        return await asyncio.shield(self._looking)

    async def _list(self) -> EndpointProbe:
        try:
            response = await self.look(self._settings.url("/models"))
        except RetryLaterError:
            return EndpointProbe("away")
        except RuntimeError:  # httpx's, when the engine was stopped meanwhile
            return EndpointProbe("away")
        status = response.status_code
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return EndpointProbe("refused", status)
        if response.is_redirect:
            return EndpointProbe("moved", status)
        if response.is_server_error and status != HTTPStatus.NOT_IMPLEMENTED:  # which a server without a list may say
            return EndpointProbe("away", status)
        cards = read_model_cards(response.content) if response.is_success else None
        return EndpointProbe("there", status, None if cards is None else frozenset(card.name for card in cards))

    async def _post(self, body: RequestBody, answer: RemoteAnswer) -> None:
        headers = {"content-type": "application/json", "content-length": str(body.length)}
        url = self._settings.url("/chat/completions")
        try:
            async with (
                asyncio.timeout(self._settings.answer_seconds) as bound,
                self._http.stream("POST", url, content=body, headers=headers) as response,
            ):
                if not response.is_success or response.status_code == HTTPStatus.NO_CONTENT:
                    raise self._refusal(response, await read_error_body(response))
                await receive_answer(response, answer, bound)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
            if answer.has_ended:
                return  # only what it took is not known
            seconds = self._settings.answer_seconds
            slow, lost = f"no answer came within {seconds:g} s", f"the connection was lost: {type(error).__name__}"
            raise RetryLaterError(slow if isinstance(error, TimeoutError) else lost) from error

    def _refusal(self, response: httpx.Response, content: bytes) -> Exception:
        said = parse_error(content, self._settings.key)
        return error_for_reply(response.status_code, response.headers, said, self._context)

    def _unreachable(self, error: Exception) -> RetryLaterError:
        why = redact_line(str(error), self._settings.key) or type(error).__name__
        return RetryLaterError(f"it cannot be reached: {why}", "away")

    def _pay(self, later: RetryLaterError, usage: Usage | None) -> None:
        if usage and usage.prompt_tokens + usage.completion_tokens:
            later.paid = usage
            names = ("prompt_tokens", "cached_tokens", "completion_tokens")
            self.in_vain = Usage(**{name: getattr(self.in_vain, name) + getattr(usage, name) for name in names})

    @contextmanager
    def _sending(self) -> Iterator[None]:
        self.on_the_wire += 1
        try:
            yield
        finally:
            self.on_the_wire -= 1
