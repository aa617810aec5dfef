"""Ends the engine's processes with the worker, however the worker ended.

Runs twice in each of them: first thing, because multiprocessing runs `workers/__main__.py` again in what it spawns, and
as a vLLM plugin (entry point group `vllm.general_plugins`), for engines that something else than a worker has started.
"""

import contextlib
import functools
import os
import select
import signal
import threading
import time

_OWNER = "GIGAVQA_ENGINE_OWNER"
_POLL_SECONDS = 0.5


def own_engine() -> None:
    """Make this process the one that the engine's processes, to be started by it, end with."""
    os.environ[_OWNER] = str(os.getpid())


@functools.cache
def tie_to_owner() -> None:
    """End this process when the engine's owner ends; does nothing in the owner itself, and where nobody owns an engine.

    The process also leaves the terminal's process group: Ctrl-C is for the worker, which needs the engine to drain.
    """
    owner = int(os.environ.get(_OWNER, os.getpid()))
    if owner != os.getpid():
        if os.getpgrp() != os.getpid():  # who leads a session may not, and need not
            os.setpgid(0, 0)
        threading.Thread(target=_follow, args=(owner,), name="tie-to-owner", daemon=True).start()


def _follow(owner: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended before it was looked for
        _wait_for_end(owner)
    os.kill(os.getpid(), signal.SIGKILL)


def _wait_for_end(owner: int) -> None:
    if hasattr(os, "pidfd_open"):
        # Unlike a look at the process table, this tells the end of a process that nobody has reaped yet.
        ended = select.poll()
        ended.register(os.pidfd_open(owner), select.POLLIN)
        ended.poll()
    else:
        while True:
            os.kill(owner, 0)
            time.sleep(_POLL_SECONDS)
