"""Threads that help whoever reads an image: they decode tiles, and resize bands while the next one is decoded."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def helpers() -> ThreadPoolExecutor:
    """The helpers of this process, one for each core that it may use; their tasks must not wait for other tasks."""
    return ThreadPoolExecutor(_num_cores(), thread_name_prefix="helper")


def _num_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
