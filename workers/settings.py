"""What bounds a worker: requests, bytes, seconds."""

import os
from dataclasses import dataclass

import psutil

_GIB = 2**30


@dataclass(frozen=True)
class WorkerSettings:
    """Limits of one worker. Seconds and bytes; the defaults suit one engine of one machine."""

    max_requests: int = 64
    """Chats that are played at once. As many again may be claimed ahead of them."""

    ahead_bytes: int = 2 * _GIB
    """Rasters that claimed requests hold, rendered ahead or in play."""

    cache_bytes: int = _GIB
    """Rasters that are kept for requests to come."""

    render_threads: int = max(1, min(8, (os.cpu_count() or 2) - 1))
    """One core stays free for the engine."""

    lease_seconds: float = 30.0
    """A lease that is not renewed for so long passes to another worker; it is renewed three times as often."""

    claim_block_seconds: float = 1.0
    """Longest wait for new bundles before the claim is made again."""

    cancel_poll_seconds: float = 1.0
    """How often cancellations are looked for."""

    probation_wait_seconds: float = 30.0
    """A bundle on probation waits no longer than this for the worker to be idle by itself."""

    shift_seconds: float = 600.0
    """A worker of several models plays one of them for so long at most while another one waits."""

    shift_bundles: int = 100_000
    """Or for so many bundles."""

    interactive_shift_seconds: float = 60.0
    """As `shift_seconds`, when another model has interactive bundles."""

    sleep_bytes: int = psutil.virtual_memory().total // 2
    """Host memory for the weights of engines that sleep while another model plays; 0 ends them instead."""

    set_aside_seconds: float = 60.0
    """How long a model is left out whose engine did not start, while there are others."""

    heartbeat_seconds: float = 3.0
    """How often the worker announces itself; it is forgotten after five times as long."""

    grace_seconds: float = 30.0
    """What is begun when the worker is told to end may take so long to finish; the rest is handed back."""

    max_deaths: int = 2
    """Engine deaths that one turn lives through before its bundle is given up."""

    max_starts: int = 5
    """Attempts to start the engine again before the worker ends."""

    backoff_seconds: float = 1.0
    """Before the first of these attempts; doubled before each further one, up to 30 s."""
