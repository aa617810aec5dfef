"""Asks servers that the operator names, again where that may help, and takes no more of an answer than is allowed."""

import asyncio
import json
import logging
import ssl
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

import httpx
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt
from pydantic_core import PydanticCustomError

from gigavqa.retrieval.errors import SourceFailedError
from gigavqa.runtime.public_addresses import (
    AddressRefusedError,
    AddressUnknownError,
    is_public,
    pinned_request_arguments,
    resolve,
)

log = logging.getLogger(__name__)

_MAX_PAUSE_SECONDS = 20.0
_RETRYABLE_STATUSES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


def _check_address(given: str) -> str:
    try:
        url = urlsplit(given)
        is_whole = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0 and given.isascii()
    except ValueError:
        is_whole = False
    if not is_whole or url.query or url.fragment:
        raise PydanticCustomError(
            "address", "is to be an address such as https://search.example.org/search; `fields` are sent with it"
        )
    if "@" in url.netloc:
        raise PydanticCustomError("address", "has a name or password in it; `key_env` names a variable with a key")
    return given


EndpointAddress = Annotated[str, AfterValidator(_check_address)]
"""Where a server is, as an operator writes it."""


class EndpointLimits(BaseModel):
    """Bounds of asking a server: retries, seconds, requests at once, and bytes of an answer.

    It may be inside of a network where it is `private`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    private: bool = False
    tries: int = Field(3, ge=1, le=10)
    pause_seconds: PositiveFloat = 1.0
    try_seconds: PositiveFloat = 20.0
    concurrency: PositiveInt = 8
    answer_bytes: PositiveInt = 2**21


class _RetryableError(Exception):
    """The server may answer when it is asked again, in `seconds` where it says so."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class JsonEndpoint:
    """One address that answers in JSON; `name` stands in every error, and `headers`, which may hold a key, in none."""

    def __init__(self, name: str, address: str, headers: Mapping[str, str], bounds: EndpointLimits) -> None:
        self._name = name
        self._address = urlsplit(address)
        self._headers = headers
        self._bounds = bounds

    async def ask(self, method: str, **sent: Any) -> Any:
        """Return what it answers to what httpx sends.

        Raises SourceFailedError when its tries are spent, or it is wrong.
        """
        tries = self._bounds.tries
        for number in range(tries):
            try:
                return await self._ask(method, sent)
            except (_RetryableError, httpx.HTTPError, TimeoutError) as error:
                told = str(error) or type(error).__name__
                if number == tries - 1:
                    raise self.failed(f"{told}, asked {tries} time(s)") from error
                wanted = max(self._bounds.pause_seconds * 2**number, getattr(error, "seconds", 0.0))
                pause = min(wanted, _MAX_PAUSE_SECONDS)
                log.info("%s: %s; it is asked again in %g s", self._name, told, pause)
                await asyncio.sleep(pause)
        raise AssertionError("a server is asked once at least")

    def failed(self, told: str) -> SourceFailedError:
        """Return an error with the server's name."""
        return SourceFailedError(f"{self._name}: {told}")

    async def _ask(self, method: str, sent: Mapping[str, Any]) -> Any:
        bounds = self._bounds
        try:
            call = await pin_address(self._address, allowed=bounds.private)
        except AddressUnknownError as error:
            raise _RetryableError(str(error)) from error
        except AddressRefusedError as error:
            raise self.failed(f"{error}; `private = true` allows it") from error
        call["headers"] |= self._headers
        async with (
            asyncio.timeout(bounds.try_seconds),
            make_http_client(bounds.try_seconds) as asking,
            asking.stream(method, **call, **sent) as response,
        ):
            self._check(response)
            body = await read_body(response, bounds.answer_bytes)
        if len(body) > bounds.answer_bytes:
            raise self.failed(f"the answer has more than {bounds.answer_bytes} bytes")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.failed("its answer is no JSON") from error

    def _check(self, response: httpx.Response) -> None:
        status = response.status_code
        if status in _RETRYABLE_STATUSES or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            after = response.headers.get("Retry-After", "")
            raise _RetryableError(f"answers {status}", float(after) if after.isdecimal() else 0.0)
        if status != HTTPStatus.OK:
            raise self.failed(f"answers {status}")
        if is_compressed(response):
            raise self.failed("sends compressed answers, which were not asked for")


async def pin_address(parts: SplitResult, *, allowed: bool) -> dict[str, Any]:
    """Return what httpx calls an address with that was looked at. Raises AddressRefusedError."""
    call = pinned_request_arguments(parts, await resolve(parts, (lambda _: True) if allowed else is_public))
    call["headers"]["Accept-Encoding"] = "identity"  # what is small on the way would not be bounded here
    return call


def make_http_client(seconds: float) -> httpx.AsyncClient:
    """Return a client of one call's: connections are pinned to addresses, and are not to be shared between names."""
    return httpx.AsyncClient(timeout=seconds, follow_redirects=False, trust_env=False, verify=_ssl_context())


def is_compressed(response: httpx.Response) -> bool:
    """Return whether it came compressed although that was not asked for."""
    return bool(response.headers.get("Content-Encoding", "identity") != "identity")


async def read_body(response: httpx.Response, most: int) -> bytes:
    """Return the body, or so much of it that it is longer than `most`."""
    found = bytearray()
    async for piece in response.aiter_raw():
        found += piece
        if len(found) > most:
            break
    return bytes(found)


def value_at_path(value: Any, path: str) -> Any:
    """Return what a path such as `a.b.0` leads to in JSON; None where it leads nowhere."""
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)
