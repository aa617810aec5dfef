"""Ends the engine's processes with the worker, however the worker ended.

Runs twice in each of them: first thing, because multiprocessing imports `workers.__main__` again in what it spawns, and
as a vLLM plugin (entry point group `vllm.general_plugins`), for engines that something else than a worker has started.
"""

import functools
import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

TIED = "GIGAVQA_TIE_ENGINE"


@functools.cache
def tie_to_parent() -> None:
    """End this process when its parent ends; does nothing in processes that `multiprocessing` did not start for us.

    The process also leaves the terminal's process group: Ctrl-C is for the worker, which needs the engine to drain.
    """
    parent = multiprocessing.parent_process()
    if parent is None or TIED not in os.environ:
        return
    os.setpgid(0, 0)
    threading.Thread(target=_follow, args=(parent,), name="tie-to-parent", daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    parent.join()  # returns when the parent's end of a pipe closes
    os.kill(os.getpid(), signal.SIGKILL)
