"""The hosts that take no connection, so that not every file of theirs is waited for."""

import time
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

from cachetools import TTLCache

from gigavqa.tiling.errors import ImageUnavailableError

FAILURES = 3
"""Files in a row, each with all its attempts, of which none got a connection: then the host is down."""
_MOST_HOSTS = 4096


class Outages:
    """Remembers for `seconds` that a host is down. What answers at all is not, whatever it answers."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._failures: Counter[str] = Counter()
        self._told: TTLCache[str, str] = TTLCache(_MOST_HOSTS, seconds, clock)

    def require_up(self, url: str) -> None:
        """Raise ImageUnavailableError for a file of a host that is down."""
        if told := self._told.get(_host(url)):
            raise ImageUnavailableError(
                f"{url}: its server does not give it: {told}; it took no connection for {FAILURES} files in a row, and "
                "is not asked for others now"
            )

    def note(self, url: str, told: str = "") -> None:
        """Count a file of which no attempt got a connection, as is `told`; without that, its host is up."""
        host = _host(url)
        if not told:
            self._failures.pop(host, None)
            return
        self._failures[host] += 1
        if self._failures[host] >= FAILURES:
            del self._failures[host]
            self._told[host] = told


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
