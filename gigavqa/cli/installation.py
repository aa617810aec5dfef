"""The installation of this machine, for commands that work on what it keeps and need no gateway."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from gigavqa.runtime.embedded_store import running_store
from gigavqa.runtime.home import Home
from gigavqa.store.reachability import described_store_errors, require_answer


@contextmanager
def installation_store(home: Home) -> Iterator[str]:
    """The URL of the installation's server for the length of a block: the operator's, or the embedded one.

    One that does not run is started for the block. Raises StateStoreUnavailableError, also for what the server refuses
    in the block.
    """
    if not home.redis_url:
        with running_store(home.server) as url:
            yield url
        return
    with operators_store(home.redis_url):
        yield home.redis_url


@contextmanager
def operators_store(url: str) -> Iterator[None]:
    """Look at the operator's server, and say in a sentence what it refuses in the block.

    Raises StateStoreUnavailableError.
    """
    asyncio.run(require_answer(url))
    with described_store_errors():
        yield
