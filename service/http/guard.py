"""Guard the gateway against requests that other sites' pages make in a browser."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from gigavqa.runtime.hosts import TrustedHosts, host_fault
from gigavqa.service.errors import ForeignOriginError, HostInvalidError, HostUntrustedError, ServiceError
from gigavqa.service.http.problems import error_response
from gigavqa.service.settings import GatewaySettings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


_OWN_SITE = frozenset({"same-origin", "none"})  # "none": typed into the address bar


class Guard:
    """Refuses what a page of somebody else's could make a browser send.

    Names that the gateway is not called by are refused, because a page can point its own name at this machine (DNS
    rebinding) and then read answers; addresses in figures cannot be pointed anywhere. Requests that change something
    are refused when the browser says that they come from another site, unless the operator lists its origin. Programs
    send neither header, and may pass.
    """

    def __init__(self, app: ASGIApp, settings: GatewaySettings) -> None:
        self.app = app
        self._origins = frozenset(settings.cors_origins)
        self._names = TrustedHosts(settings.host, *settings.trusted_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                if wrong := host_fault(scope):
                    raise HostInvalidError(wrong)
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
        foreign = site not in _OWN_SITE if site else origin and origin.partition("://")[2] != host
        if foreign and origin not in self._origins:
            raise ForeignOriginError(f"a page of {(origin or 'another site')[:200]} may not change anything here")
