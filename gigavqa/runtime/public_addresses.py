"""Calls that a process makes for somebody else: to public addresses alone, unless the operator says otherwise."""

import asyncio
import functools
import ipaddress
import socket
import ssl
from collections.abc import Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx

_LOOKUP_SECONDS = 5.0
NO_COOKIES = CookieJar(DefaultCookiePolicy(allowed_domains=()))
"""Keeps nothing: what one reply sets is not to be sent with the next request, which may be somebody else's."""
IsPublic = Callable[[str], bool]
_ENDS_IN_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
"""NAT64's well-known prefix (RFC 6052), what is compatible with IPv4 (RFC 4291), and SIIT's (RFC 2765)."""
_ISATAP = (0x00005EFE, 0x02005EFE)
"""What stands before the IPv4 address in the host's part of an address (RFC 5214)."""
_RESERVED_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",
            "192.88.99.0/24",
            "168.63.129.16/32",
            "fec0::/10",
            "3fff::/20",
            "5f00::/16",
            "100::/64",
            "2001:db8::/32",
        ),
    )
)
"""What `ipaddress` takes for global: the IETF's own, relays of 6to4, a cloud's own host, sites, examples, segment
routing.
"""
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
"""NAT64 of a network's own (RFC 8215)."""


@functools.cache
def certificates() -> ssl.SSLContext:
    """Return the authorities that servers are believed by: read once, since each reading takes 30 ms of everybody."""
    return httpx.create_ssl_context(trust_env=False)


class AddressRefusedError(Exception):
    """The address is not one that may be called."""


class AddressUnknownError(AddressRefusedError):
    """The name leads nowhere, or not at the moment."""


def is_public(address: str) -> bool:
    """Return whether an address is anybody's to reach.

    None of a private network, of this machine, or of a cloud's own.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if found in _LOCAL_NAT64:  # the network chose where in it the address lies that it leads to
        return False
    within = _ipv4_within(found) if isinstance(found, ipaddress.IPv6Address) else ()
    return all(map(_is_global, within or (found,)))


def _is_global(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    is_own = any(address in network for network in _RESERVED_NETWORKS if network.version == address.version)
    return address.is_global and not address.is_multicast and not is_own


def _ipv4_within(address: ipaddress.IPv6Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses that a packet to an IPv6 address may end at, where a network translates or tunnels it."""
    if address.ipv4_mapped:
        return (address.ipv4_mapped,)
    if address.sixtofour:
        return (address.sixtofour,)
    if address.teredo:
        return address.teredo
    is_isatap = int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    if is_isatap or any(address in network for network in _ENDS_IN_IPV4):
        return (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
    return ()


def parse_url(url: str) -> SplitResult:
    """Take an address apart. Raises AddressUnknownError for one that no call could be made with."""
    try:
        parts = urlsplit(url)
        is_whole = parts.port != 0 and parts.netloc.isascii() and url.isprintable()
    except ValueError as error:  # brackets that do not close, ports that are no number
        raise AddressUnknownError(f"'{url[:200]}' is no address") from error
    if not is_whole:
        raise AddressUnknownError(f"{url[:200]!a} is no address: a host is written in ASCII, and nothing unprintable")
    return parts


async def resolve(parts: SplitResult, is_allowed: IsPublic = is_public) -> str:
    """Return the one address that is then called: a name cannot be pointed elsewhere between the look and the call.

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
        raise AddressRefusedError(f"'{str(parts.hostname)[:200]}' is an address inside of a network, and not called")
    return addresses[0]


def pinned_request_arguments(parts: SplitResult, address: str) -> dict[str, Any]:
    """Return what httpx calls the address with, under the name that it was found by."""
    host = f"[{address}]" if ":" in address else address
    url = parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
    return {"url": url, "headers": {"Host": parts.netloc}, "extensions": {"sni_hostname": parts.hostname}}
