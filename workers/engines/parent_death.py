"""Ends the engine's processes with the worker, however the worker ended.

Runs twice in each of them: first thing, because multiprocessing runs `workers/__main__.py` again in what it spawns, and
as a vLLM plugin (entry point group `vllm.general_plugins`), for engines that something else than a worker has started.
Neither runs in what multiprocessing forks, should an operator want that of vLLM: there it runs right after the fork.
"""

import contextlib
import functools
import multiprocessing.util
import os
import select
import signal
import threading
import time

_OWNER_VARIABLE = "GIGAVQA_ENGINE_OWNER"
_POLL_SECONDS = 0.5


def become_engine_owner() -> None:
    """Make this process the one that the engine's processes, to be started by it, end with."""
    os.environ[_OWNER_VARIABLE] = str(os.getpid())
    _watch_owner_in_forks()


def tie_to_owner() -> None:
    """End this process when the engine's owner ends; does nothing in the owner itself, and where nobody owns an engine.

    The process also leaves the terminal's process group: Ctrl-C is for the worker, which needs the engine to drain.
    """
    _watch_owner(int(os.environ.get(_OWNER_VARIABLE, os.getpid())), os.getpid())


@functools.cache  # by the process, since a fork copies what its parent has cached
def _watch_owner(owner: int, process: int) -> None:
    if owner != process:
        if os.getpgrp() != process:  # who leads a session may not, and need not
            os.setpgid(0, 0)
        threading.Thread(target=_die_with_owner, args=(owner,), name="tie-to-owner", daemon=True).start()


@functools.cache
def _watch_owner_in_forks() -> None:
    # Not `os.register_at_fork`: that runs in children of `subprocess`, too, which lead no group before their session.
    multiprocessing.util.register_after_fork(_watch_owner_after_fork, lambda tie: tie())


def _watch_owner_after_fork() -> None:
    # Else each signal to the child would wake the owner's event loop, which takes it for its own.
    signal.set_wakeup_fd(-1)
    tie_to_owner()


def _die_with_owner(owner: int) -> None:
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
