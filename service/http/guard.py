"""Who may speak to the gateway through a browser."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from gigavqa.runtime.hosts import TrustedHosts
from gigavqa.service.errors import ForeignOriginError, HostInvalidError, HostUntrustedError, ServiceError
from gigavqa.service.http.problems import error_response
from gigavqa.service.settings import GatewaySettings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def require_one_host(scope: Scope) -> None:
    """Raise HostInvalidError unless a request has its one `Host` (RFC 9112, section 3.2); HTTP/1.0 need have none."""
    number = sum(name == b"host" for name, _ in scope["headers"])
    if number > 1 or (number == 0 and scope.get("http_version") != "1.0"):
        raise HostInvalidError(f"the request has {number or 'no'} `Host`; it must have one")


_OWN_SITE = frozenset({"same-origin", "none"})  # "none": typed into the address bar


class Guard:
    """Refuses what a page of somebody else's could make a browser send.

    Names that the gateway is not called by are refused, because a page can point its own name at this machine (DNS
    rebinding) and then read answers; addresses in figures cannot be pointed anywhere. Requests that change something
    are refused when the browser says that they come from another site. Programs send neither header, and may pass.
    """

    def __init__(self, app: ASGIApp, settings: GatewaySettings) -> None:
        self.app = app
        self._names = TrustedHosts(settings.host, *settings.trusted_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http":
            try:
                require_one_host(scope)
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
        if foreign:
            raise ForeignOriginError(f"a page of {(origin or 'another site')[:200]} may not change anything here")
