"""Watch an installation while it works: its CPU and memory, and how soon the status of a job comes."""

import http.client
import json
import multiprocessing
import statistics
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import psutil

_STATUS_SECONDS = 0.1
_SETTLED = 0.1
"""Share of the run that passes before memory counts: processes load what they need once."""


class ProcessWatch:
    """CPU and memory of some processes over a run."""

    def __init__(self, pids: Mapping[str, Sequence[int]]) -> None:
        self._processes = {name: [psutil.Process(pid) for pid in each] for name, each in pids.items()}
        self._began = self._cpu()
        self.points: list[tuple[int, dict[str, float]]] = []

    def note(self, done: int) -> None:
        """Note the memory of each when so many responses are recorded."""
        self.points.append((done, self.mib()))

    def mib(self) -> dict[str, float]:
        """Resident memory of now; of several processes under one name, the mean."""
        return {
            name: statistics.mean(each.memory_info().rss for each in processes) / 2**20
            for name, processes in self._processes.items()
        }

    def cpu_us(self, responses: int) -> dict[str, float]:
        """CPU since the beginning, a response."""
        return {name: (now - self._began[name]) / responses * 1e6 for name, now in self._cpu().items()}

    def _cpu(self) -> dict[str, float]:
        def of(process: psutil.Process) -> float:
            times = process.cpu_times()
            return float(times.user + times.system)

        return {name: sum(map(of, each)) for name, each in self._processes.items()}

    def slope(self, name: str) -> float:
        """MiB a million responses, by least squares over what follows the beginning."""
        points = self.settled()
        done, mib = [at for at, _ in points], [sizes[name] for _, sizes in points]
        if len(set(done)) < 2:
            return 0.0
        return statistics.linear_regression(done, mib).slope * 1e6

    def settled(self) -> list[tuple[int, dict[str, float]]]:
        """Return the points after the beginning."""
        last = self.points[-1][0]
        return [point for point in self.points if point[0] >= _SETTLED * last] or self.points


class StatusProbe:
    """Asks for a job's status ten times a second, in a process that does nothing else, until the block ends."""

    def __init__(self, url: str) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._told, telling = spawn.Pipe()
        self._process = spawn.Process(target=_ask_for_status, args=(url, telling), daemon=True)
        self.milliseconds: list[float] = []

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._told.send("end")
        if self._told.poll(60):
            self.milliseconds = self._told.recv()
        self._process.join(60)


def _ask_for_status(url: str, telling: Connection) -> None:
    address = urlsplit(url)
    server = http.client.HTTPConnection(address.hostname or "", address.port)
    took = []
    while not telling.poll(_STATUS_SECONDS):
        began = time.perf_counter()
        server.request("GET", address.path)
        json.loads(server.getresponse().read())
        took.append(1000 * (time.perf_counter() - began))
    telling.send(took)
