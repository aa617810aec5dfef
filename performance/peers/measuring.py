"""Measure what a process and all its children take: CPU seconds, and the peak of their resident memory."""

import threading
from collections.abc import Iterator

import psutil

_EVERY_SECONDS = 0.2


class ProcessTree:
    """A process and everything that it has started. Use as a context manager, which watches its memory."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="memory", daemon=True)
        self.peak_bytes = 0
        """Highest sum of resident memory since `forget_peak`; pages that processes share count in each of them."""

    def __enter__(self) -> "ProcessTree":
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watching.join()

    def forget_peak(self) -> None:
        """Begin a new peak from what is held now."""
        self.peak_bytes = self._resident_bytes()

    def cpu_seconds(self) -> float:
        """CPU time so far of all that run, and of those of their children that have ended."""
        spent = 0.0
        for process in self._processes():
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            spent += times.user + times.system + times.children_user + times.children_system
        return spent

    def cpu_by_name(self) -> dict[str, float]:
        """CPU time so far of each process that runs, by the module that it runs."""
        spent: dict[str, float] = {}
        for process in self._processes():
            try:
                times, words = process.cpu_times(), process.cmdline()
            except psutil.NoSuchProcess:
                continue
            spent[_module(words)] = spent.get(_module(words), 0.0) + times.user + times.system
        return spent

    def _processes(self) -> Iterator[psutil.Process]:
        try:
            yield from (self._root, *self._root.children(recursive=True))
        except psutil.NoSuchProcess:
            return

    def _resident_bytes(self) -> int:
        total = 0
        for process in self._processes():
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            self.peak_bytes = max(self.peak_bytes, self._resident_bytes())


def _module(words: list[str]) -> str:
    """Return what a command line runs.

    The module behind `-m`, what Python's multiprocessing spawned, else its first word.
    """
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    if any("multiprocessing.spawn" in word for word in words) or words[:1] == ["VLLM::EngineCore"]:
        return "engine"
    return words[0].rpartition("/")[2] if words else "?"
