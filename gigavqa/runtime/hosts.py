"""The names that a process is called by, and whether other machines can reach where it listens."""

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from gigavqa.runtime.errors import SettingsInvalidError


class TrustedHosts:
    """Names by which clients may call a process, besides `localhost` and addresses in figures.

    A page of somebody else's can point its own name at this machine (DNS rebinding) and then read answers; addresses in
    figures cannot be pointed anywhere. `*` trusts every name, `*.example.org` those directly below.
    """

    def __init__(self, *names: str) -> None:
        self._names = {"localhost", *(name.lower() for name in names)}

    def trusts(self, host: str) -> bool:
        """Return whether a request with this Host header may be answered; programs send none at times, and may pass."""
        if not host:
            return True
        name = host_name(host)
        trusted = name in self._names or "*" in self._names or name.endswith(".localhost")
        return trusted or _address(name) is not None or f"*.{name.partition('.')[2]}" in self._names


def host_name(host: str) -> str:
    """Return the name or address of a Host header, without port and brackets; nothing of one that is none."""
    return _name_of(f"//{host}")


def is_local_name(name: str) -> bool:
    """Return whether a name or an address in figures is this machine's to itself, whoever answers for names."""
    address = _address(name)
    return address.is_loopback if address else name == "localhost" or name.endswith(".localhost")


def host_fault(scope: Mapping[str, Any]) -> str:
    """Say what is wrong with the `Host` of a request, an ASGI scope; nothing where it has its one.

    So RFC 9112, section 3.2, wants it; requests of HTTP/1.0 need have none.
    """
    number = sum(name == b"host" for name, _ in scope["headers"])
    if number == 1 or (number == 0 and scope.get("http_version") == "1.0"):
        return ""
    return f"the request has {number or 'no'} `Host`; it must have one"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches what listens on `host`.

    Raises SettingsInvalidError where that is nowhere.
    """
    try:
        addresses: Iterable[str] = {str(found[4][0]) for found in socket.getaddrinfo(host or "0.0.0.0", None)}
    except socket.gaierror as error:
        raise SettingsInvalidError(f"host '{host}' is no address of this machine: {error.strerror}") from error
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses)


def _name_of(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return None
