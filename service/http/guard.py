"""Who may speak to the gateway through a browser, where it listens, and whether it asks who somebody is."""

import asyncio
import logging
from contextlib import nullcontext
from urllib.parse import urlsplit

from redis.exceptions import ConnectionError as RedisConnectionError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from jobs.access import ApiKeys
from jobs.connection import connect
from jobs.errors import SettingsInvalidError
from jobs.hosts import OwnNames, is_loopback
from jobs.server import borrowed_server
from service.errors import ForeignOriginError, HostUntrustedError, ServiceError
from service.http.problems import error_response
from service.settings import Settings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

_PATIENCE_SECONDS = 5.0
_OWN_SITE = frozenset({"same-origin", "none"})  # "none": typed into the address bar

log = logging.getLogger(__name__)


class Guard:
    """Refuses what a page of somebody else's could make a browser send.

    Names that the gateway is not called by are refused, because a page can point its own name at this machine (DNS
    rebinding) and then read answers; addresses in figures cannot be pointed anywhere. Requests that change something
    are refused when the browser says that they come from another site. Programs send neither header, and may pass.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._names = OwnNames(settings.host, *settings.trusted_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http":
            try:
                self._require_trusted(scope["method"], Headers(scope=scope))
            except ServiceError as error:
                await error_response(scope, error)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _require_trusted(self, method: str, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._names.trusts(host):
            raise HostUntrustedError(
                f"'{host[:200]}' is no name of this gateway; add it to GIGAVQA_TRUSTED_HOSTS if it should be"
            )
        if method in SAFE_METHODS:
            return
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        foreign = site not in _OWN_SITE if site else origin and urlsplit(origin).netloc != host
        if foreign:
            raise ForeignOriginError(f"a page of {origin or 'another site'} may not change anything here")


def asks_for_keys(settings: Settings) -> bool:
    """Whether a request must present a key: wherever other machines can connect, unless the operator said otherwise.

    Raises SettingsInvalidError.
    """
    if settings.require_keys and settings.allow_unauthenticated:
        raise SettingsInvalidError("GIGAVQA_REQUIRE_KEYS and GIGAVQA_ALLOW_UNAUTHENTICATED contradict each other")
    return settings.require_keys or not (settings.allow_unauthenticated or is_loopback(settings.host))


def require_protected(settings: Settings) -> None:
    """Refuse to serve where keys are asked for and there is none, so that nobody could do anything.

    Raises SettingsInvalidError.
    """
    asks = asks_for_keys(settings)
    if asks and not _has_key(settings):
        where = "" if settings.require_keys else f"{settings.host} can be reached from other machines, so "
        raise SettingsInvalidError(
            f"{where}whoever connects is asked for a key, and there is none yet. Make one with `gigavqa keys create "
            "--name NAME --owner OWNER --role operate`; or listen on 127.0.0.1; or, where the network lets in only who "
            "may read, cancel and delete every job, say GIGAVQA_ALLOW_UNAUTHENTICATED=1 (or --allow-unauthenticated)"
        )


def _has_key(settings: Settings) -> bool:
    url = settings.redis_url
    if not url and not settings.server.exists():
        return False  # an installation that never ran
    with nullcontext(url) if url else borrowed_server(settings.server) as found:
        return asyncio.run(_any_key(found))


async def _any_key(url: str) -> bool:
    redis = connect(url)
    try:
        return await asyncio.wait_for(ApiKeys(redis).any_valid(), _PATIENCE_SECONDS)
    except (TimeoutError, RedisConnectionError):
        # Nobody is let in before it answers, so that the gateway may start before it.
        log.warning("the server at REDIS_URL does not answer yet, and so nobody knows whether there is a key")
        return True
    finally:
        await redis.aclose()
