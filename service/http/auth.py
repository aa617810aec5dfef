"""Authenticate requests: all but a few present an API key, where keys are asked for, and see what is its owner's."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any

from fastapi import Depends, Request
from redis.exceptions import RedisError
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gigavqa.contract.errors import JobsError, KeyInvalidError
from gigavqa.runtime.errors import InstallationError
from gigavqa.service.errors import ProxyUnexpectedError, RateExceededError, RoleMissingError, ServiceError
from gigavqa.service.http.guard import SAFE_METHODS
from gigavqa.service.http.problems import error_response
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.api_keys import ALL_OWNERS, NO_OWNER, ApiKey, ApiKeys, Owner, Role
from gigavqa.store.listen_settings import CHALLENGE, presented_key, proxy_fault, requires_keys
from gigavqa.store.quotas import Quotas, RateLimitStatus

_PAGES = frozenset(
    {
        "/",
        "/jobs",
        "/ask",
        "/datasets",
        "/import",
        "/models",
        "/reports",
        "/workers",
        "/watch",
        "/watch/runbook",
        "/docs",
    }
)
OPEN_PATHS = _PAGES | frozenset({"/healthz", "/readyz", "/openapi.json", "/redoc", "/favicon.ico"})
"""What is answered without a key: probes, which have none, and pages and documentation, which say nothing of anybody:
what a page shows its script asks for.
"""

RECHECK_SECONDS = 5.0  # a revoked key ends its streams by then: decision 0017
"""How long an answer is sent on before its key is looked at again."""

ROLE_HEADER = "X-Key-Role"
"""What the key that came is good for: pages say beforehand what it is too little for."""

_OPEN_FOLDERS = ("/static-offline-docs/", "/pages/", "/jobs/", "/datasets/")
_CALLER = "gigavqa.caller"


@dataclass(frozen=True)
class Caller:
    """The caller. Without a key it is everybody where keys are not asked for, and nobody where they are."""

    key: ApiKey | None = None
    asked: bool = False
    """Whether keys are asked for."""

    @property
    def is_anonymous(self) -> bool:
        """Whether a key was asked for, and none came: on the few paths that are open."""
        return self.asked and self.key is None

    @property
    def owner(self) -> str | None:
        """Whose what is made now becomes; None where keys are not asked for."""
        return self.key.owner if self.key else None

    @property
    def sees_all(self) -> bool:
        """Whether all owners' things are shown, and those that are nobody's."""
        return not self.asked or (self.key is not None and self.key.may("operate"))

    @property
    def sees(self) -> str:
        """Whose things are looked at: an owner's, `ALL_OWNERS`, or '' for those of nobody's."""
        return ALL_OWNERS if self.sees_all else self.owner or ""

    @property
    def upload_bytes(self) -> int | None:
        """Most bytes of files that the owner may keep; None where nothing bounds them but the gateway."""
        return self.key.limits.upload_bytes if self.key else None

    @property
    def as_owner(self) -> Owner:
        """The owner, with the bounds that the key puts on what is his."""
        if not self.key:
            return NO_OWNER
        limits = self.key.limits
        return Owner(self.key.owner, limits.queued_requests, limits.waiting_jobs, limits.interactive_requests)

    def may_see(self, owner: str | None) -> bool:
        """Return whether what belongs to `owner` is there for this caller."""
        return self.sees_all or (owner is not None and owner == self.owner)

    def require(self, role: Role) -> None:
        """Raise RoleMissingError unless the key is good for this."""
        if self.asked and not (self.key and self.key.may(role)):
            raise RoleMissingError(f"the key's role is '{self.key.role if self.key else 'none'}'; this needs '{role}'")


_EVERYBODY = Caller()


class Authentication:
    """Lets in who presents a key that is good for the method, at its rate, and says so in the scope.

    It stands before everything that reads a body or finds a route, so that streams, and addresses that do not exist,
    are no way around it. A stream whose key is revoked or expires ends with what it would send next.
    """

    def __init__(self, app: ASGIApp, settings: GatewaySettings) -> None:
        self.app = app
        self._settings = settings
        self._asks = requires_keys(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._asks:
            if scope["type"] == "http" and (fault := proxy_fault(self._settings, scope)):
                await error_response(scope, ProxyUnexpectedError(fault))(scope, receive, send)
                return
            scope[_CALLER] = _EVERYBODY
            await self.app(scope, receive, send)
            return
        parts: Mapping[type, Any] = scope["app"].state.parts
        keys, answer = parts[ApiKeys], _KeyCheckedResponse(parts[ApiKeys], send)
        try:
            scope[_CALLER] = await _identify_caller(scope, keys)
            await self._admit(scope, parts[Quotas], answer)
        except (ServiceError, InstallationError, JobsError, RedisError) as error:
            headers = CHALLENGE if isinstance(error, KeyInvalidError) else {}
            await error_response(scope, error, headers)(scope, receive, answer.send)
            return
        await self.app(scope, receive, answer.send)

    async def _admit(self, scope: Scope, quotas: Quotas, answer: "_KeyCheckedResponse") -> None:
        caller: Caller = scope[_CALLER]
        if not caller.key:
            return
        answer.role = caller.key.role
        answer.key_id, answer.rate = caller.key.id, await quotas.pass_request(caller.key)
        if answer.rate and not answer.rate.admitted:
            message = f"the key gvq_{caller.key.id} may ask {answer.rate.limit} times a minute"
            raise RateExceededError(message, answer.rate.retry_after)
        caller.require("read" if scope["method"] in SAFE_METHODS else "submit")


class _KeyCheckedResponse:
    """Passes an answer on with what is left of the rate, as long as the key is good."""

    def __init__(self, keys: ApiKeys, send: Send) -> None:
        self.key_id = ""
        self.role = ""
        self.rate: RateLimitStatus | None = None
        self._keys = keys
        self._send = send
        self._looked_at = time.monotonic()
        self._ended = False

    async def send(self, message: Message) -> None:
        """Pass one ASGI message on."""
        if self._ended:
            return
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if self.role:
                headers[ROLE_HEADER] = self.role
            if self.rate:
                headers.update(_rate_headers(self.rate))
        if message.get("more_body") and await self._is_locked_out():
            # The server then tells the application that its client is gone, which ends the stream.
            self._ended = True
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def _is_locked_out(self) -> bool:
        now = time.monotonic()
        if not self.key_id or now - self._looked_at < RECHECK_SECONDS:
            return False
        self._looked_at = now
        return await self._keys.recall(self.key_id) is None


def caller_of(scope: Scope) -> Caller:
    """Return who asks; nobody is known of a request that was refused before it was looked at."""
    caller: Caller = scope.get(_CALLER, _EVERYBODY)
    return caller


async def _identify_caller(scope: Scope, keys: ApiKeys) -> Caller:
    is_open = scope["path"] in OPEN_PATHS or scope["path"].startswith(_OPEN_FOLDERS)
    presented = presented_key(Headers(scope=scope))
    try:
        if presented:
            return Caller(await keys.find(presented), asked=True)
    except KeyInvalidError:
        if not is_open:
            raise
    if is_open:
        return Caller(asked=True)
    raise KeyInvalidError(
        "this gateway asks for a key: send 'Authorization: Bearer gvq_...' (GIGAVQA_API_KEY); its operator "
        "makes one by `gigavqa admin keys create`"
    )


def _rate_headers(rate: RateLimitStatus) -> dict[str, str]:
    minutes, seconds = divmod(ceil(rate.reset_after), 60)
    return {
        "x-ratelimit-limit-requests": str(rate.limit),
        "x-ratelimit-remaining-requests": str(rate.remaining),
        "x-ratelimit-reset-requests": f"{minutes}m{seconds}s" if minutes else f"{seconds}s",
    }


async def _find_caller(request: Request) -> Caller:
    return caller_of(request.scope)


CurrentCaller = Annotated[Caller, Depends(_find_caller)]
"""What a route declares to know who asks."""


async def _hold_stream_slot(request: Request, caller: CurrentCaller) -> AsyncIterator[None]:
    if caller.key is None:
        yield
        return
    quotas: Quotas = request.app.state.parts[Quotas]
    token = await quotas.open_stream(caller.key)
    try:
        yield
    finally:
        await quotas.close_stream(token)


StreamSlot = Depends(_hold_stream_slot)
"""What a route depends on that streams: the key has one stream more open until the answer's end."""


async def _require_operator(caller: CurrentCaller) -> None:
    caller.require("operate")


OperatorOnly = Depends(_require_operator)
"""What a route depends on that tells of all owners together."""
