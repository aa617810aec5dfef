"""The ways to files by HTTP: where each is asked for, and where its server may lead to."""

from collections.abc import Callable
from typing import Protocol

from gigavqa.runtime.public_addresses import is_public
from gigavqa.tiling.errors import ImageAddressError, quote_text
from gigavqa.tiling.remote.addresses import check_remote_name, without_secrets


class Route(Protocol):
    """Leads from the name of a file to addresses that are called; what they may hold of secrets is in no error."""

    refusal: str
    """Said behind the status of a server that refuses a file: what may help."""

    async def begin(self, url: str) -> str:
        """Return the address to ask first for a file. Raises ImageAddressError, ImageUnavailableError."""

    def follow(self, url: str, leads: str) -> str:
        """Return where a redirect leads to, if that may be asked. Raises ImageAddressError."""

    def may_call(self, host: str | None, address: str) -> bool:
        """Return whether a host may be called at an address of a network."""


class ListedRoute:
    """Goes to files by their own addresses. `require_allowed` raises for those that are not listed."""

    refusal = ""

    def __init__(self, require_allowed: Callable[[str], None], private_hosts: frozenset[str]) -> None:
        self._require_allowed = require_allowed
        self._private = private_hosts

    async def begin(self, url: str) -> str:
        """Return the address itself."""
        self._require_allowed(url)
        return url

    def follow(self, url: str, leads: str) -> str:
        """Return where a redirect leads to, if that is listed: by a signature, too, which nothing keeps."""
        try:
            self._require_allowed(check_remote_name(leads.partition("?")[0]))
        except ImageAddressError as error:
            raise ImageAddressError(f"{url}: it leads elsewhere, and {error}") from error
        if not leads.startswith("https://" if url.startswith("https://") else ("http://", "https://")):
            told = quote_text(without_secrets(leads))
            raise ImageAddressError(f"{url}: it leads to '{told}', which is not encrypted")
        return leads

    def may_call(self, host: str | None, address: str) -> bool:
        """Return whether an address is public, or its host one whose private ones are listed."""
        return host in self._private or is_public(address)
