"""Ends an engine of vLLM though its processes end by themselves meanwhile.

vLLM kills what outlives its time after a look at its children. A process that ends between the two makes its
`shutdown` raise, with other processes still alive and its sockets still open.
"""

from contextlib import suppress
from typing import Any


def shut_down(llm: Any, timeout: float | None) -> None:
    """End an AsyncLLM and all its processes; blocks for about `timeout` seconds, vLLM's own patience if None."""
    import psutil

    try:
        llm.shutdown(timeout)
    except psutil.NoSuchProcess:
        resources = llm.engine_core.resources
        _kill_all(resources.engine_manager.processes)
        resources()


def _kill_all(processes: Any) -> None:
    from psutil import NoSuchProcess
    from vllm.v1.utils import shutdown

    while any(process.is_alive() for process in processes):
        with suppress(NoSuchProcess):
            shutdown(processes, timeout=0)
