"""Keeps the embedded server running as long as the service runs; uses the operator's own where REDIS_URL names one."""

import asyncio
import os

from cli.supervisor import Announce
from jobs.errors import ServerUnavailableError
from jobs.home import Home
from jobs.server import ServerProcess, ensure_server, start_server

_LOOK_SECONDS = 0.25


class ServerKeeper:
    """The server of an installation: the operator's, one that another process started, or one of our own."""

    def __init__(self, home: Home, announce: Announce) -> None:
        self._home = home
        self._announce = announce
        self._own: ServerProcess | None = None
        self.url = home.redis_url or ""

    def __enter__(self) -> "ServerKeeper":
        if not self.url:
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._own.stop()

    async def keep(self) -> None:
        """Start our own server again whenever it is gone; its append-only file brings everything back."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._own and not _runs(self._own.pid):
                self._announce(f"the embedded server is gone; starting it again (log: {self._home.server}/server.log)")
                self._own.stop()
                self._start()

    def _start(self) -> None:
        # In the main thread: the kernel ends the server with the thread that started it.
        try:
            self._own = start_server(self._home.server)
            self.url = self._own.url
        except ServerUnavailableError:
            self.url = ensure_server(self._home.server)
            self._own = None


def _runs(pid: int) -> bool:
    # WNOWAIT leaves the reaping to the one that started it.
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
