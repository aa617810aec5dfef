"""Ask NVIDIA's driver by nvidia-smi, and read its rows: each value is understood, known to be unknown, or refused.

What a driver cannot tell of a GPU that is well stands in brackets: `[N/A]` of memory that is the machine's, say. An
error stands there alike, `[GPU is lost]` or `ERR!`, and means a GPU that no engine can be given.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gigavqa.launcher.errors import DevicesUnusableError
from gigavqa.workers.engines.vllm.device_support import OLDEST_DRIVER, read_version

ANSWER_SECONDS = 30.0
"""Without persistence mode the driver of eight GPUs may be loaded first."""
_END_SECONDS = 1.0
_UNKNOWN = re.compile(r"(\[)?(?:n/a|not supported|insufficient permissions)(?(1)\])", re.IGNORECASE)
_FAULT = re.compile(r"|\[.*\]|err!?|unknown(?: error)?|no data|gpu is lost|gpu requires reset", re.IGNORECASE)
_NAMES = ("index", "gpu_uuid", "uuid", "pci.bus_id")
_REPAIR = "look at `dmesg` for lines of NVRM or Xid, and restart the machine"
_NUMBER = re.compile(r"(\d+)(?: (?:MiB|%))?")
_FLAGS: Mapping[str, bool] = {"yes": True, "enabled": True, "no": False, "disabled": False}
_NO_DEVICES = "No devices were found"
_UNKNOWN_FIELD = re.compile(r'Field "?([\w.]+)"? is not a valid field')


@dataclass(frozen=True)
class DriverRow:
    """What the driver tells of one thing that it was asked about, by field; nothing of what it does not know."""

    values: Mapping[str, str]

    @classmethod
    def read(cls, line: str, fields: Sequence[str]) -> "DriverRow":
        """Read a line of values apart by commas.

        Raises DevicesUnusableError for one of another number of values, and for a GPU of which an error is told.
        """
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(fields):
            raise DevicesUnusableError(f"nvidia-smi lists a GPU in a way that is not understood: {line.strip()}")
        told = {field: value for field, value in zip(fields, values, strict=True) if not _UNKNOWN.fullmatch(value)}
        for field, value in told.items():
            if _FAULT.fullmatch(value):
                name = next((told[name] for name in _NAMES if not _FAULT.fullmatch(told.get(name, ""))), "?")
                raise DevicesUnusableError(f"GPU {name}: nvidia-smi says '{value}' for its {field}: {_REPAIR}")
        return cls(told)

    def text(self, field: str) -> str:
        """Return a value as it is written; nothing where it is unknown."""
        return self.values.get(field, "")

    def name(self, field: str) -> str:
        """Return a value without which nothing can be done. Raises DevicesUnusableError where it is unknown."""
        if field not in self.values:
            raise DevicesUnusableError(
                f"nvidia-smi does not tell {field} of a GPU of which it tells {self._told}: {_REPAIR}"
            )
        return self.values[field]

    def number(self, field: str) -> int | None:
        """Return a whole number, None where it is unknown. Raises DevicesUnusableError for what is no number."""
        value = self.values.get(field)
        if value is None:
            return None
        if number := _NUMBER.fullmatch(value):
            return int(number[1])
        raise self._not_understood(field, "whole number")

    def flag(self, field: str) -> bool | None:
        """Return whether something is so: Yes, Enabled, or a count above 0; None where it is unknown.

        Raises DevicesUnusableError for another word.
        """
        value = self.values.get(field)
        if value is None:
            return None
        if value.lower() in _FLAGS:
            return _FLAGS[value.lower()]
        if value.isdecimal():
            return int(value) > 0
        raise self._not_understood(field, "yes or no")

    def version(self, field: str) -> str:
        """Return a version as it is written, nothing where it is unknown. Raises DevicesUnusableError for none."""
        value = self.text(field)
        if value and read_version(value) is None:
            raise self._not_understood(field, "version")
        return value

    @property
    def _told(self) -> str:
        return ", ".join(self.values.values()) or "nothing"

    def _not_understood(self, field: str, kind: str) -> DevicesUnusableError:
        return DevicesUnusableError(f"nvidia-smi says '{self.values[field]}' for {field}, which is no {kind}")


def has_driver() -> bool:
    """Whether there is a driver to ask."""
    return shutil.which("nvidia-smi") is not None


def ask_driver(fields: Sequence[str], of: str = "gpu") -> list[DriverRow]:
    """Ask nvidia-smi, which is there, for these fields: a row for each GPU, or for what else `of` names.

    Raises DevicesUnusableError where it does not answer, as of a GPU that fell off its bus, or refuses to.
    """
    ended = _run(fields, of)
    said = (ended.stderr or ended.stdout).strip() or f"it ended with status {ended.returncode}"
    if _NO_DEVICES in f"{ended.stdout}{ended.stderr}":
        return []
    if unknown := _UNKNOWN_FIELD.search(said):
        raise DevicesUnusableError(
            f"NVIDIA's driver is too old: nvidia-smi does not know {unknown[1]}; install {OLDEST_DRIVER} or later"
        )
    if ended.returncode:
        raise DevicesUnusableError(
            f"the driver does not list its GPUs; nvidia-smi: {said} (a restart of the machine loads a driver that was "
            "updated or has stopped)"
        )
    return list(_rows(ended.stdout, fields))


def ask_driver_if_known(fields: Sequence[str], of: str = "gpu") -> list[DriverRow]:
    """Ask as `ask_driver` does; a driver that does not know the question, or the answer, has no rows."""
    ended = _run(fields, of)
    is_answered = not ended.returncode and not _UNKNOWN.fullmatch(ended.stdout.strip())
    return list(_rows(ended.stdout, fields)) if is_answered else []


def _run(fields: Sequence[str], of: str) -> "subprocess.CompletedProcess[str]":
    path = shutil.which("nvidia-smi") or "nvidia-smi"
    words = [path, f"--query-{of}={','.join(fields)}", "--format=csv,noheader,nounits"]
    if path not in _SILENT:
        try:
            return _wait_for(words)
        except subprocess.TimeoutExpired:
            _SILENT.add(path)
    raise DevicesUnusableError(
        f"nvidia-smi has not answered for {ANSWER_SECONDS:g} s: {_REPAIR}; where it is only slow, `nvidia-smi -pm 1` "
        "keeps the driver loaded"
    )


_SILENT = set[str]()
"""Each nvidia-smi that did not answer: asked again it would cost as long, or contradict what was said of it."""


def _wait_for(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, or for ANSWER_SECONDS at most; nothing that it started is left behind.

    Raises subprocess.TimeoutExpired.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # not as a context, which would wait for its end: the kernel may never let go of it
        words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True
    )
    try:
        out, err = process.communicate(timeout=ANSWER_SECONDS)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_END_SECONDS)
        raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def _rows(text: str, fields: Sequence[str]) -> Iterator[DriverRow]:
    for line in filter(None, map(str.strip, text.splitlines())):
        if not line.startswith("WARNING:"):  # of a corrupted infoROM, say, behind the rows
            yield DriverRow.read(line, fields)
