"""The record of a stage's calls, `calls/STAGE.jsonl`: each prompt and each reply, appended and synced as it comes.

A line is an event: `call` (a prompt, once), `asked` (requests that go out, each with what it costs at most), `batch`
(the id under which the gateway plays them), `answered`, `failed`, and `ended` (of a batch or of some chats). A process
that is killed leaves at most one torn line, which is cut off when the record is opened next.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.construction.calls.errors import CallLogError
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.runtime.durable_files import sync

_BLOCK_BYTES = 1 << 20


class ReplyUsage(NamedTuple):
    """Tokens of one reply as the service counted them; `dollars` by the catalogue's prices, None where it has none."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    dollars: float | None


class RecordedReply(NamedTuple):
    """What a model answered to a call; `engine` is what the service says of who answered."""

    call: str
    text: str
    finish_reason: str
    usage: ReplyUsage
    engine: str = ""


class RequestFailure(NamedTuple):
    """A request of a call came back without an answer."""

    call: str
    message: str
    retryable: bool


@dataclass
class OpenBatch:
    """Calls that were sent together and whose end is not recorded; `id` is None where its answer was never heard."""

    token: str
    model: str
    calls: tuple[str, ...]
    id: str | None = None


@dataclass
class Spending:
    """What the calls of one model came to. `at_most` is what is owed at most for requests whose end nobody knows."""

    asked: int = 0
    answered: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    at_most: float = 0.0
    timed_calls: int = 0
    timed_seconds: float = 0.0

    def add(self, other: "Spending") -> None:
        """Add another's."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def take(self, usage: ReplyUsage) -> None:
        """Count a reply."""
        self.answered += 1
        self.prompt_tokens += usage.prompt_tokens
        self.cached_tokens += usage.cached_tokens
        self.completion_tokens += usage.completion_tokens
        self.dollars += usage.dollars or 0.0
        self.unpriced += usage.dollars is None


@dataclass
class _Index:
    """What of a record is kept in memory: never a prompt or a reply."""

    models: dict[str, str] = field(default_factory=dict)
    replies: dict[str, int] = field(default_factory=dict)
    owed: dict[str, float] = field(default_factory=dict)
    batches: dict[str, OpenBatch] = field(default_factory=dict)
    failures: dict[str, RequestFailure] = field(default_factory=dict)
    spending: dict[str, Spending] = field(default_factory=dict)


class CallLog:
    """The record of one stage. Whoever holds it has the build's lock."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = 0
        self._index = _Index()
        self._load()
        sync(path.parent)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    @property
    def spending(self) -> Mapping[str, Spending]:
        """What was spent, by model."""
        return self._index.spending

    @property
    def open_batches(self) -> Sequence[OpenBatch]:
        """Batches whose end is not recorded."""
        return list(self._index.batches.values())

    def has_reply(self, call: str) -> bool:
        """Return whether a call is answered."""
        return call in self._index.replies

    def reply(self, call: str) -> RecordedReply | None:
        """Return the answer to a call, if it is recorded."""
        offset = self._index.replies.get(call)
        if offset is None:
            return None
        with self.path.open("rb") as file:
            file.seek(offset)
            line = json.loads(file.readline())
        usage = ReplyUsage(**line["usage"])
        return RecordedReply(call, line["text"], line["finish_reason"], usage, line["engine"])

    def last_failure(self, call: str) -> RequestFailure | None:
        """Return why the last request of a call brought no answer, if it did not."""
        return self._index.failures.get(call)

    def add_calls(self, calls: Iterable[ModelCall]) -> None:
        """Record prompts that are not there yet."""
        new = {call.id: call for call in calls if call.id not in self._index.models}
        self._append({"event": "call", "id": key, "call": call.document()} for key, call in new.items())

    def ask(self, costs: Mapping[str, float], *, batch: str | None = None) -> None:
        """Record that requests go out now; each call has what its answer costs at most, in US dollars."""
        self._append([{"event": "asked", "calls": dict(costs), "batch": batch}])

    def name_batch(self, token: str, batch: str) -> None:
        """Record under which id the gateway plays a batch."""
        self._append([{"event": "batch", "batch": token, "id": batch}])

    def add_results(self, results: Iterable[RecordedReply | RequestFailure]) -> None:
        """Record what came of calls; it is on the disk when this returns."""
        self._append(_result_line(result) for result in results)

    def end(self, model: str, calls: int, seconds: float, *, batch: str | None = None) -> None:
        """Record that calls which went out together have all come back, and how long that took."""
        self._append([{"event": "ended", "model": model, "calls": calls, "seconds": round(seconds, 3), "batch": batch}])

    def _append(self, events: Iterable[Mapping[str, Any]]) -> None:
        block = bytearray()
        for event in events:
            self._take(event, self._size + len(block))
            block += json.dumps(event, separators=(",", ":")).encode() + b"\n"
            if len(block) >= _BLOCK_BYTES:
                self._write(block)
                block = bytearray()
        self._write(block)
        os.fsync(self._file)

    def _write(self, block: bytearray) -> None:
        left = memoryview(block)
        while left:
            left = left[os.write(self._file, left) :]
        self._size += len(block)

    def _load(self) -> None:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    os.ftruncate(self._file, self._size)
                    os.fsync(self._file)
                    return
                try:
                    self._take(json.loads(line), self._size)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise CallLogError(
                        f"{self.path}:{number} is no event of a record of calls; put the file aside, and what is in it "
                        "is asked again"
                    ) from error
                self._size += len(line)

    def _take(self, event: Mapping[str, Any], offset: int) -> None:
        index = self._index
        match event["event"]:
            case "call":
                index.models[event["id"]] = event["call"]["model"]
            case "asked":
                self._take_asked(event)
            case "batch":
                index.batches[event["batch"]].id = event["id"]
            case "answered":
                if event["call"] not in index.replies:
                    index.replies[event["call"]] = offset
                self._spent(event["call"]).take(ReplyUsage(**event["usage"]))
                self._settle(event["call"])
            case "failed":
                self._spent(event["call"]).failed += 1
                index.failures[event["call"]] = RequestFailure(event["call"], event["message"], event["retryable"])
                self._settle(event["call"])
            case "ended":
                index.batches.pop(event["batch"], None)
                spent = index.spending.setdefault(event["model"], Spending())
                spent.timed_calls += event["calls"]
                spent.timed_seconds += event["seconds"]
            case other:
                raise ValueError(f"there is no event '{other}'")

    def _take_asked(self, event: Mapping[str, Any]) -> None:
        index, calls = self._index, event["calls"]
        for call, most in calls.items():
            spent = self._spent(call)
            spent.asked += 1
            spent.at_most += most
            index.owed[call] = most  # one that nobody heard of again stays owed beside
        if token := event["batch"]:
            index.batches[token] = OpenBatch(token, index.models[next(iter(calls))], tuple(calls))

    def _settle(self, call: str) -> None:
        self._spent(call).at_most -= self._index.owed.pop(call, 0.0)

    def _spent(self, call: str) -> Spending:
        return self._index.spending.setdefault(self._index.models[call], Spending())


def spending_by_model(logs: Iterable[CallLog]) -> dict[str, Spending]:
    """Sum up what several stages spent."""
    total: dict[str, Spending] = {}
    for log in logs:
        for model, spent in log.spending.items():
            total.setdefault(model, Spending()).add(spent)
    return total


def _result_line(result: RecordedReply | RequestFailure) -> dict[str, Any]:
    if isinstance(result, RequestFailure):
        return {"event": "failed", **result._asdict()}
    return {"event": "answered", **result._asdict(), "usage": result.usage._asdict()}
