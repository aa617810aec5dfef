"""The installation of this machine, for commands that work on what it keeps and need no gateway."""

from collections.abc import Iterator
from contextlib import contextmanager

from gigavqa.runtime.embedded_store import running_store
from gigavqa.runtime.home import Home


@contextmanager
def installation_store(home: Home) -> Iterator[str]:
    """The URL of the installation's server for the length of a block: the operator's, or the embedded one.

    One that does not run is started for the block. Raises StateStoreUnavailableError.
    """
    if home.redis_url:
        yield home.redis_url
        return
    with running_store(home.server) as url:
        yield url
