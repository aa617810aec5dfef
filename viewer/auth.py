"""Authenticate requests: where keys are asked for, whoever wants more than the page presents one, or a session's
cookie.

A program sends its key with each request. A browser cannot with pictures of a page: the page presents the key once, and
is given a cookie that no script reads, that no other site's page can use, and that ends with the browser.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gigavqa.contract.errors import KeyInvalidError
from gigavqa.store.api_keys import ApiKey, ApiKeys
from gigavqa.store.listen_settings import CHALLENGE, presented_key, proxy_fault, requires_keys
from gigavqa.store.sessions import Sessions
from gigavqa.viewer.iiif import external_url
from gigavqa.viewer.problems import problem_response
from gigavqa.viewer.settings import ViewerSettings

COOKIE = "gigavqa-viewer"

_OPEN_PATHS = frozenset({"/", "/view", "/healthz"})
_OPEN_FOLDER = "/files/"
_OPERATOR_PATHS = frozenset({"/metrics"})  # which count all that anybody looks at
_RETRY_SECONDS = 2
_SCOPE_KEY = "gigavqa.key"


class AuthStore(NamedTuple):
    """The stores of keys and of sessions."""

    keys: ApiKeys
    sessions: Sessions

    @classmethod
    def at(cls, redis: Redis) -> "AuthStore":
        """Of the installation whose server this is."""
        return cls(ApiKeys(redis), Sessions(redis))


class ViewerAuthentication:
    """Lets in who may look, where keys are asked for. What is open says nothing of anybody: the page, and probes."""

    def __init__(self, app: ASGIApp, settings: ViewerSettings) -> None:
        self.app = app
        self._settings = settings
        self._asks = requires_keys(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal: Response | None = None
        if scope["type"] == "http" and self._asks:
            refusal = await self._refusal(scope)
        elif scope["type"] == "http" and (fault := proxy_fault(self._settings, scope)):
            refusal = problem_response(403, fault)
        await (refusal or self.app)(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        path = scope["path"]
        # A browser asks, before it sends a key for another site's page, whether it may; it says nothing of anybody.
        if path in _OPEN_PATHS or path.startswith(_OPEN_FOLDER) or scope["method"] == "OPTIONS":
            return None
        try:
            key = await _find_key(Request(scope))
        except KeyInvalidError as error:
            return problem_response(401, str(error), CHALLENGE, kind=type(error))
        except RedisError:
            told = "the server that knows the keys does not answer; come again"
            return problem_response(503, told, {"Retry-After": str(_RETRY_SECONDS)})
        if path in _OPERATOR_PATHS and not key.may("operate"):
            return problem_response(403, f"the key's role is '{key.role}'; this needs 'operate'")
        scope[_SCOPE_KEY] = key
        return None


async def begin_session(request: Request) -> Response:
    """Give a cookie for the key that is presented; where none is asked for, there is nothing to give."""
    key: ApiKey | None = request.scope.get(_SCOPE_KEY)
    answer = Response(status_code=204, headers={"Cache-Control": "no-store"})
    if key and presented_key(request.headers):  # a session does not prolong itself
        settings: ViewerSettings = request.app.state.settings
        named = await request.app.state.desk.sessions.begin(key, settings.session_seconds)
        base = urlsplit(external_url(request, settings))
        answer.set_cookie(
            COOKIE, named, path=f"{base.path}/", secure=base.scheme == "https", httponly=True, samesite="strict"
        )
    return answer


async def _find_key(request: Request) -> ApiKey:
    desk: AuthStore = request.app.state.desk
    if presented := presented_key(request.headers):
        return await desk.keys.find(presented)
    if named := request.cookies.get(COOKIE):
        return await desk.sessions.find(named)
    raise KeyInvalidError("this viewer asks for a key: send 'Authorization: Bearer gvq_...', or open its page, /view")
