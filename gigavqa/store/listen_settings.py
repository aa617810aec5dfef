"""Processes that others connect to: where each listens, what it is called, and whether it asks who somebody is."""

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field
from redis.exceptions import ConnectionError as RedisConnectionError

from gigavqa.runtime.embedded_store import running_store
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home
from gigavqa.runtime.hosts import host_name, is_local_name, is_loopback
from gigavqa.runtime.settings import CommaSeparated, FieldSpelling
from gigavqa.store.api_keys import ApiKeys
from gigavqa.store.connection import connect

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="gigavqa"'}
"""The header of an answer that asks for a key."""

_SECURITY_HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
_PAGE_POLICY = "frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
"""What holds for every page, beside what it says of its own scripts."""

_PATIENCE_SECONDS = 5.0
_PROXY_HEADERS = frozenset({b"x-real-ip", b"x-forwarded-host", b"forwarded"})
_FORWARDED = re.compile(r"""(?:for|host)="?([^\s",;]+)""", re.IGNORECASE)

log = logging.getLogger(__name__)


def security_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers beside those of an answer that keep browsers from guessing its kind, telling its address, framing it."""
    if headers.get("content-type", "").startswith("text/html") and "content-security-policy" not in headers:
        return {**_SECURITY_HEADERS, "content-security-policy": _PAGE_POLICY}
    return _SECURITY_HEADERS


def lowercase_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of machines, which are the same in any case."""
    return tuple(name.lower() for name in names)


class HttpServerSettings(Home):
    """Settings of a process that others connect to."""

    everybody_may: ClassVar[str] = ""
    """What whoever connects could do where no key is asked for."""

    host: Annotated[str, FieldSpelling(metavar="ADDRESS")] = Field(
        default="127.0.0.1", description="address to listen on"
    )
    port: int = Field(default=0, ge=0, le=65535, description="its port; 0 takes any free one")
    allow_unauthenticated: bool = Field(
        default=False,
        description="listen beyond this machine without keys, though anybody who connects may do or see everything",
    )
    require_keys: bool = Field(
        default=False, description="ask for API keys on this machine's own address, too, such as behind a proxy"
    )
    trusted_hosts: Annotated[CommaSeparated, AfterValidator(lowercase_names), FieldSpelling("trusted-host", "NAME")] = (
        Field(
            default=(),
            description="names that clients call it by, besides `localhost` and addresses: `*.example.org`; keys are "
            "asked for then",
        )
    )

    @property
    def public_names(self) -> tuple[str, ...]:
        """Names of `trusted_hosts`, and others that it is called by, that are not this machine's own to itself."""
        return tuple(name for name in self.trusted_hosts if not is_local_name(name))


def requires_keys(settings: HttpServerSettings) -> bool:
    """Return whether a request must present a key: wherever other machines can connect, be it by a proxy that gives
    it a name, unless the operator said otherwise.

    Raises SettingsInvalidError.
    """
    if settings.require_keys and settings.allow_unauthenticated:
        prefix = _prefix(settings)
        raise SettingsInvalidError(f"{prefix}REQUIRE_KEYS and {prefix}ALLOW_UNAUTHENTICATED contradict each other")
    if settings.require_keys or settings.allow_unauthenticated:
        return settings.require_keys
    return bool(settings.public_names) or not is_loopback(settings.host)


def proxy_fault(settings: HttpServerSettings, scope: Mapping[str, Any]) -> str:
    """Say what is wrong with a request, an ASGI scope, that a proxy brought from elsewhere where nobody needs a key.

    Nothing where the operator said that nobody shall: what listens on the loopback is reached from elsewhere by a
    proxy alone, whose X-Forwarded-For uvicorn takes the client from.
    """
    client = scope.get("client")
    if settings.allow_unauthenticated or not client:
        return ""
    brought = next((name for name in _told_names(client[0], scope["headers"]) if not is_local_name(name)), None)
    if brought is None:
        return ""
    prefix = _prefix(settings)
    return (
        f"a proxy brings this from {brought}, and nobody is asked for a key here; set {prefix}REQUIRE_KEYS=1, or "
        f"{prefix}ALLOW_UNAUTHENTICATED=1 where the proxy lets in only who may {settings.everybody_may}"
    )


def _told_names(client: str, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[str]:
    """Yield the client, which uvicorn takes of X-Forwarded-For, and what else proxies tell of clients and hosts."""
    yield client
    told = {name: value.decode("latin-1") for name, value in headers if name in _PROXY_HEADERS}
    for name in (b"x-real-ip", b"x-forwarded-host"):
        if value := told.get(name, "").strip():
            yield host_name(value.rpartition(",")[2].strip())
    for value in _FORWARDED.findall(told.get(b"forwarded", "")):
        yield host_name(value)


def require_protected(settings: HttpServerSettings) -> None:
    """Refuse to serve where keys are asked for and there is none, so that nobody could do anything.

    Nor where what belongs to one owner lies among the pictures that all share. Raises SettingsInvalidError.
    """
    if not requires_keys(settings):
        return
    if not _has_key(settings):
        named = ", ".join(settings.public_names) or settings.host
        where = "" if settings.require_keys else f"{named} can be reached from other machines, so "
        raise SettingsInvalidError(
            f"{where}whoever connects is asked for a key, and there is none yet. Make one with "
            "`gigavqa admin keys create --name NAME --owner OWNER --role operate`; or listen on 127.0.0.1; or, where "
            f"the network lets in only who may {settings.everybody_may}, say "
            f"{_prefix(settings)}ALLOW_UNAUTHENTICATED=1 (or --allow-unauthenticated)"
        )
    _require_separate_folders(settings)


def presented_key(headers: Mapping[str, str]) -> str:
    """Return the key that a request presents, or ''; the names of `headers` are in small letters."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()


def _require_separate_folders(settings: Home) -> None:
    results = settings.results_uri.removeprefix("file://")
    owned = {"GIGAVQA_UPLOADS": settings.uploads, "RESULTS_URI": None if "://" in results else Path(results)}
    for name, folder in owned.items():
        if folder and folder.resolve().is_relative_to(settings.data.resolve()):
            raise SettingsInvalidError(
                f"{name}, {folder}, lies below the data root, {settings.data}, of which every key may see every "
                "picture; move it elsewhere"
            )


def _prefix(settings: HttpServerSettings) -> str:
    return str(settings.model_config.get("env_prefix", ""))


def _has_key(settings: Home) -> bool:
    url = settings.redis_url
    if not url and not settings.server.exists():
        return False  # an installation that never ran
    with nullcontext(url) if url else running_store(settings.server) as found:
        return asyncio.run(_any_key(found))


async def _any_key(url: str) -> bool:
    redis = connect(url)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await ApiKeys(redis).any_valid()
    except (TimeoutError, RedisConnectionError):
        # Nobody is let in before it answers, so that the process may start before it.
        log.warning("the state store at REDIS_URL does not answer yet, and so nobody knows whether there is a key")
        return True
    finally:
        await redis.aclose()
