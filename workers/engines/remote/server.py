"""A server elsewhere, over connections that stay open; it is asked until it answers."""

import asyncio
import contextlib
import json
import logging
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from workers.engines.engine import EngineDeadError
from workers.engines.remote.bodies import Body
from workers.engines.remote.dialects import DIALECTS, Dialect, DialectName, vendor
from workers.engines.remote.rates import Rate
from workers.engines.remote.refusals import AgainLaterError, ServerFailedError, read_error, refusal, shown
from workers.engines.remote.streaming import Streamed

T = TypeVar("T")

log = logging.getLogger(__name__)
for _teller in ("httpx", "httpcore"):
    logging.getLogger(_teller).setLevel(logging.WARNING)  # they tell of every request, and of its headers

_LONGEST_BACKOFF = 30.0
_MOST_FAILURES = 16
_LONGEST_ANSWER = 64 * 2**20
_CONNECT_SECONDS = 10.0
_ASK_SECONDS = 30.0
_IDLE_SECONDS = 4.0  # uvicorn closes what is idle for five, and might do so just when it is used again
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),  # a machine that is gone says nothing, and answers take long
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_IDLE_SECONDS)


@dataclass(frozen=True)
class RemoteSettings:
    """Where a model is asked, and how. `endpoint` ends in `/v1`, or in what stands for it.

    `key` is the key itself, `key_name` the variable that held it. `name` is what the server calls the model, where its
    operator chose that; `dialect` None finds the server's kind out. `pictures` is as `Pictures` takes it.
    """

    endpoint: str
    name: str | None = None
    dialect: DialectName | None = None
    key: str | None = field(default=None, repr=False)
    key_name: str = ""
    pictures: str = "png"
    requests_a_minute: int = 0
    tokens_a_minute: int = 0
    answer_seconds: float = 3600.0
    backoff_seconds: float = 1.0

    @property
    def host(self) -> str:
        """The machine, by name or address."""
        return urlsplit(self.endpoint).hostname or ""

    @property
    def known_dialect(self) -> Dialect | None:
        """What kind of server it is, where that is known before it is asked."""
        return DIALECTS[self.dialect] if self.dialect else vendor(self.host)

    @property
    def headers(self) -> dict[str, str]:
        """What every request says of who asks."""
        dialect, key = self.known_dialect or DIALECTS["openai"], self.key
        given = (
            {"authorization": f"Bearer {key}", **({dialect.key_header: key} if dialect.key_header else {})}
            if key
            else {}
        )
        return {**dialect.headers, **given}


@dataclass(frozen=True)
class Reply:
    """An answer of status 200: `found` is its JSON, `content` all of it; `is_told` where its text was told already."""

    found: Any
    content: bytes
    is_told: bool = False


class Server:
    """What stands at an endpoint. `context` is how many tokens the model's holds.

    Whatever is not answered because the server is away, or has too much to do, is asked again: after what it asks to be
    left alone for, else after `backoff_seconds`, doubled each time, up to half a minute. The first answer after it was
    away wakes everybody.
    """

    def __init__(self, settings: RemoteSettings, *, context: int) -> None:
        self.endpoint = settings.endpoint
        self._key = settings.key
        self._context = context
        self._backoff = settings.backoff_seconds
        self._requests = Rate(settings.requests_a_minute)
        self._random = random.Random()
        self._waiters: set[asyncio.Future[None]] = set()
        self.answers = 0
        """How many requests were answered."""
        self.trouble: str | None = None
        """Why nobody is answered now; None when the last one was."""
        self.retries = self.on_the_wire = 0
        self._http = httpx.AsyncClient(
            headers=settings.headers,
            timeout=httpx.Timeout(settings.answer_seconds, connect=_CONNECT_SECONDS, pool=None),
            limits=_LIMITS,
            transport=_transport(settings),
        )

    async def look(self, url: str, content: dict[str, Any] | None = None) -> httpx.Response:
        """Ask for an address of the server's, or post JSON to it, once. Raises AgainLaterError when it is away."""
        method = "GET" if content is None else "POST"
        try:
            return await self._http.request(method, url, json=content, timeout=_ASK_SECONDS)
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise AgainLaterError(f"it cannot be reached: {shown(str(error), self._key)}") from error

    def refusal(self, response: httpx.Response) -> Exception:
        """What is to be raised for an answer that is none."""
        said = read_error(response.content, self._key)
        return refusal(response.status_code, response.headers, said, self._context)

    async def complete(
        self, body: Body, read: Callable[[Reply], T], stream: Callable[[], Streamed] | None = None
    ) -> tuple[T, float]:
        """Post a chat until `read` can read the answer; returns what it read, and the seconds that the answer took.

        `stream` makes what takes an answer that comes as a stream. Raises what `read` raises but AgainLaterError, and
        EngineError, EngineDeadError.
        """
        failures = _Failures(self)
        for attempt in count():
            await self._requests.take(1)
            if self._http.is_closed:
                raise EngineDeadError("the engine is not running")
            began = time.monotonic()
            try:
                with self._sending():
                    answer = read(await self._post(body, stream() if stream else None))
            except AgainLaterError as later:
                failures.count(later)
                await self.wait(later, attempt)
            else:
                self.is_back()
                return answer, time.monotonic() - began
        raise AssertionError("counts have no end")

    async def wait(self, later: AgainLaterError, attempt: int) -> None:
        """Wait before the next attempt, of which there were `attempt` before this one."""
        if later.is_away:
            if self.trouble is None:
                log.warning("%s is away (%s); everything waits for it", self.endpoint, later)
            self.trouble = str(later)
        backoff = min(_LONGEST_BACKOFF, self._backoff * 2 ** min(attempt, 10)) * self._random.uniform(0.5, 1.0)
        seconds = later.seconds + self._random.random() * self._backoff if later.seconds else backoff
        self.retries += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if later.is_away and not later.seconds:
            self._waiters.add(woken)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken, seconds)
        finally:
            self._waiters.discard(woken)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _post(self, body: Body, streamed: Streamed | None) -> Reply:
        headers = {"content-type": "application/json", "content-length": str(body.length)}
        url = f"{self.endpoint}/chat/completions"
        try:
            async with self._http.stream("POST", url, content=body, headers=headers) as response:
                streamed = streamed if _is_stream(response) else None
                content = await self._read(response, streamed)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise AgainLaterError(f"it cannot be reached: {shown(str(error), self._key)}") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            lost = f"the connection was lost: {type(error).__name__}"
            raise AgainLaterError(lost, may_be_ours=True) from error
        if response.status_code != HTTPStatus.OK:
            said = read_error(content, self._key)
            raise refusal(response.status_code, response.headers, said, self._context)
        if streamed:
            found = streamed.found
            return Reply(found, json.dumps(found).encode(), is_told=True)
        try:
            return Reply(json.loads(content), content)
        except ValueError:
            raise AgainLaterError("an answer is no JSON", may_be_ours=True) from None

    async def _read(self, response: httpx.Response, streamed: Streamed | None) -> bytes:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if streamed:
                streamed.take(piece)
            if len(content) > _LONGEST_ANSWER:
                raise AgainLaterError(f"an answer is longer than {_LONGEST_ANSWER} bytes", may_be_ours=True)
        return bytes(content)

    @contextmanager
    def _sending(self) -> Iterator[None]:
        self.on_the_wire += 1
        try:
            yield
        finally:
            self.on_the_wire -= 1

    def is_back(self) -> None:
        """Wake who waits: the server answered."""
        self.answers += 1
        if self.trouble is not None:
            log.warning("%s is back", self.endpoint)
        self.trouble = None
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


class _Failures:
    """How often a server failed at one request, and answered others between."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._number = 0
        self._answers = -1

    def count(self, later: AgainLaterError) -> None:
        """Count what may be the request's fault. Raises ServerFailedError when it was too often."""
        if not later.may_be_ours or self._answers == self._server.answers:
            return
        self._number, self._answers = self._number + 1, self._server.answers
        if self._number >= _MOST_FAILURES:
            raise ServerFailedError(f"the server failed at this request {self._number} times: {later}") from later


def _is_stream(response: httpx.Response) -> bool:
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    return is_stream and response.status_code == HTTPStatus.OK


def _transport(settings: RemoteSettings) -> httpx.AsyncHTTPTransport | None:
    """Connections that notice a peer that is gone; None, for httpx's own, where the environment names a proxy."""
    if urlsplit(settings.endpoint).scheme in getproxies() and not proxy_bypass(settings.host):
        return None
    return httpx.AsyncHTTPTransport(limits=_LIMITS, socket_options=_KEEP_ALIVE)
