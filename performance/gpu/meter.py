"""Meter a GPU and a tree of processes: busy share, device memory, resident memory, CPU."""

import os
import subprocess
import threading
import time
from statistics import fmean

import psutil

from gigavqa.launcher.driver import DriverRow, has_driver

_EVERY_MS = 200
_FIELDS = ("utilization.gpu", "memory.used")


class ResourceMeter:
    """Samples of a GPU and of a process with its children, until `stop`; times are those of `time.monotonic`."""

    def __init__(self, pid: int) -> None:
        self._gpu: list[tuple[float, float, float | None]] = []
        self._resident: list[tuple[float, float]] = []
        self._ended = threading.Event()
        self._query = _start_query()
        self._threads = [threading.Thread(target=self._watch_processes, args=(pid,), daemon=True)]
        if self._query:
            self._threads.append(threading.Thread(target=self._watch_gpu, args=(self._query,), daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the watching."""
        self._ended.set()
        if self._query:
            self._query.terminate()
            self._query.wait()
        for thread in self._threads:
            thread.join(5)

    def within(self, began: float, ended: float) -> dict[str, float]:
        """Mean busy share of the GPU and peaks of memory, between two moments."""
        gpu = [(busy, used) for at, busy, used in self._gpu if began <= at <= ended]
        resident = [used for at, used in self._resident if began <= at <= ended]
        found = {"host_gib": max(resident, default=0) / 2**30}
        if gpu:
            found["gpu_busy"] = fmean(busy for busy, _ in gpu) / 100
        if known := [used for _, used in gpu if used is not None]:
            found["gpu_gib"] = max(known) / 1024
        return found

    def _watch_gpu(self, query: "subprocess.Popen[str]") -> None:
        assert query.stdout is not None
        for line in query.stdout:
            row = DriverRow.read(line, _FIELDS)
            if (busy := row.number("utilization.gpu")) is not None:
                self._gpu.append((time.monotonic(), busy, row.number("memory.used")))

    def _watch_processes(self, pid: int) -> None:
        while not self._ended.wait(_EVERY_MS / 1000):
            self._resident.append((time.monotonic(), sum(_resident(each) for each in family(pid))))


class MeasurementWindow:
    """The time in which the work is done, and the CPU seconds that it takes."""

    def __init__(self) -> None:
        self.began, self._cpu = time.monotonic(), cpu_seconds(os.getpid())

    def close(self) -> dict[str, float]:
        """Begin, end, and CPU seconds of this process and its children."""
        return {"began": self.began, "ended": time.monotonic(), "cpu_seconds": cpu_seconds(os.getpid()) - self._cpu}


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all that live because of it."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of its living children."""
    total = 0.0
    for process in family(pid):
        try:
            times = process.cpu_times()
            total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return total


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _start_query() -> "subprocess.Popen[str] | None":
    if not has_driver():
        return None
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    query = ["nvidia-smi", "-i", first, f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"]
    return subprocess.Popen([*query, f"--loop-ms={_EVERY_MS}"], stdout=subprocess.PIPE, text=True)
