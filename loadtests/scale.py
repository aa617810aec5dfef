"""Weigh the processes of an installation while a shape of traffic is sent, and check that they do not grow."""

import csv
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from loadtests.installation import Installation
from loadtests.verdicts import ThresholdResult

_SECONDS = 1.0
_WARM_UP_SHARE = 0.2
"""The share of a run that is warming up, where growth is looked for."""


@dataclass(frozen=True)
class ProcessUsage:
    """Of one process over a run: MiB of resident memory, and CPU seconds it had used, at each of `seconds`."""

    seconds: "np.ndarray[tuple[int], np.dtype[np.float64]]"
    mib: "np.ndarray[tuple[int], np.dtype[np.float64]]"
    cpu: "np.ndarray[tuple[int], np.dtype[np.float64]]"

    @property
    def slope(self) -> float:
        """MiB a minute of the line through what was seen when it had settled."""
        settled = self.seconds >= _WARM_UP_SHARE * self.seconds[-1]
        return 60 * float(np.polyfit(self.seconds[settled], self.mib[settled], 1)[0]) if settled.sum() > 2 else 0.0

    @property
    def busy(self) -> float:
        """The share of one core that it used."""
        return float((self.cpu[-1] - self.cpu[0]) / max(self.seconds[-1] - self.seconds[0], 1e-9))


@contextmanager
def sample_usage(installation: Installation, file: Path) -> Iterator[None]:
    """Weigh the installation's processes every second for the length of a block, into a CSV file."""
    stopping = threading.Event()
    pids = {
        "server": installation.server.pid,
        "gateway": installation.gateway.pid,
        **{worker.name: worker.pid for worker in installation.workers},
    }
    scale = threading.Thread(target=_sample, args=(pids, file, stopping))
    scale.start()
    try:
        yield
    finally:
        stopping.set()
        scale.join()


def _sample(pids: dict[str, int], file: Path, stopping: threading.Event) -> None:
    processes = {name: psutil.Process(pid) for name, pid in pids.items()}
    began = time.monotonic()
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["seconds", "load", *(f"{name} {of}" for name in pids for of in ("MiB", "CPU s"))])
        while True:
            seen = [f"{time.monotonic() - began:.1f}", f"{os.getloadavg()[0]:.2f}"]
            try:
                for process in processes.values():
                    used = process.cpu_times()
                    seen += [f"{process.memory_info().rss / 2**20:.1f}", f"{used.user + used.system:.2f}"]
            except psutil.NoSuchProcess:
                return  # who is gone fails the calls
            writer.writerow(seen)
            lines.flush()
            if stopping.wait(_SECONDS):
                return


def read(file: Path) -> tuple[dict[str, ProcessUsage], float]:
    """Return what a file tells of each process, and the machine's mean load average."""
    with file.open(newline="") as lines:
        names, *rows = list(csv.reader(lines))
    columns = dict(zip(names, np.array(rows, dtype=float).T, strict=True))
    processes = [name.removesuffix(" MiB") for name in names if name.endswith(" MiB")]
    of = {one: ProcessUsage(columns["seconds"], columns[f"{one} MiB"], columns[f"{one} CPU s"]) for one in processes}
    return of, float(columns["load"].mean())


def judge_usage(file: Path, most_slope: float | None, most_mib: float = 512) -> Iterator[ThresholdResult]:
    """Yield whether the gateway held no more than this, and every process grew by no more than so many MiB a minute.

    By default the gateway may hold half of what `deploy/k8s` requests for it.
    """
    of, _ = read(file)
    most = of["gateway"].mib.max()
    yield ThresholdResult(
        "memory of the gateway", f"at most {most_mib:,.0f} MiB", f"{most:,.0f} MiB", bool(most <= most_mib)
    )
    for name, weights in of.items() if most_slope is not None else ():
        limit, found = f"at most {most_slope:g} MiB a minute", f"{weights.slope:+.2f} MiB a minute"
        yield ThresholdResult(f"steady growth of the {name}", limit, found, weights.slope <= (most_slope or 0.0))
