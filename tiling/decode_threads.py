"""Threads that help whoever reads an image: they decode tiles, and resize bands while the next one is decoded."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

_NICENESS = 10  # engines go first: decision 0007


@cache
def decode_pool() -> ThreadPoolExecutor:
    """Return the helpers of this process, one for each core that it may use.

    Their tasks must not wait for other tasks.
    """
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="helper", initializer=lower_priority)


def lower_priority() -> None:
    """Let the thread that calls this have what cores others leave: on Linux each thread has a niceness of its own."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        # Only root may take back what a process that was begun under `nice` gives way.
        os.setpriority(os.PRIO_PROCESS, thread, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
