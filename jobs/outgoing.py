"""Calls that a process makes for somebody else: to public addresses alone, unless the operator says otherwise."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import SplitResult

_LOOKUP_SECONDS = 5.0
NO_COOKIES = CookieJar(DefaultCookiePolicy(allowed_domains=()))
"""Keeps nothing: what one reply sets is not to be sent with the next request, which may be somebody else's."""
IsPublic = Callable[[str], bool]


class AddressRefusedError(Exception):
    """Nobody is called there."""


class AddressUnknownError(AddressRefusedError):
    """The name leads nowhere, or not at the moment."""


def is_public(address: str) -> bool:
    """Whether an address is anybody's to reach: none of a private network, of this machine, or of a cloud's own."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_global and not (mapped or found).is_multicast


async def resolve(parts: SplitResult, is_allowed: IsPublic = is_public) -> str:
    """The one address that is then called: a name cannot be pointed elsewhere between the look and the call.

    Raises AddressRefusedError unless all addresses of the name are allowed, AddressUnknownError where there are none.
    """
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        async with asyncio.timeout(_LOOKUP_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, ValueError, TimeoutError) as error:
        raise AddressUnknownError(f"'{parts.netloc[:200]}' is no address") from error
    addresses = [str(each[4][0]) for each in found]
    if not addresses or not all(map(is_allowed, addresses)):
        raise AddressRefusedError(f"'{parts.hostname}' is an address inside of a network, and not called")
    return addresses[0]


def pinned(parts: SplitResult, address: str) -> dict[str, Any]:
    """What httpx calls the address with, under the name that it was found by."""
    host = f"[{address}]" if ":" in address else address
    url = parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
    return {"url": url, "headers": {"Host": parts.netloc}, "extensions": {"sni_hostname": parts.hostname}}
