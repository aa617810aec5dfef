"""Ties a child's life to this process, also when this process is killed and can end nothing itself."""

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1

# Looked up before any fork: between fork and exec only async-signal-safe work is allowed.
_prctl: Callable[[int, int], int] | None = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def end_with_parent() -> None:
    """Have the kernel send SIGTERM when the thread that started this process ends; for `preexec_fn` (Linux)."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def die_with_parent() -> None:
    """As `end_with_parent`, with SIGKILL: for processes that could not end in order without their supervisor."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
