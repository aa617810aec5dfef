"""Responses as the service stores them, made by seed, and which of several copies of one counts."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

Line = dict[str, Any]


class Made(NamedTuple):
    """A data set that was drawn, with responses to it, and the texts of files beside its records."""

    benchmark: str
    records: Sequence[Line]
    lines: Sequence[Line]
    beside: Mapping[str, str] = {}
    judges: Sequence[Sequence[Line]] = ()
    """What models that judge said, each of them in a file of its own."""

    def write(self, folder: Path, files: int = 1) -> list[Path]:
        """Write the data set, and the responses in so many files beside it; return these in the order of reading."""
        (folder / "data" / "samples").mkdir(parents=True)
        (folder / "data" / "dataset.toml").write_text(f'name = "data"\nbenchmark = "{self.benchmark}"\n')
        for name, text in self.beside.items():
            (folder / "data" / name).write_text(text)
        (folder / "data" / "samples" / "all.jsonl").write_text(_lines(self.records))
        paths = [folder / f"responses-{at}.ndjson" for at in range(files)]
        for at, path in enumerate(paths):
            path.write_text(_lines(self.lines[at::files]))
        return paths

    def write_judges(self, folder: Path) -> list[Path]:
        """Write what models said that judge, and return the files."""
        paths = [folder / f"judge-{at}.ndjson" for at in range(len(self.judges))]
        for path, said in zip(paths, self.judges, strict=True):
            path.write_text(_lines(said))
        return paths


ABSTENTION = "I cannot tell."
_START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Asked(NamedTuple):
    """Who was asked, how, what was shown, and the how manieth time."""

    model: str
    protocol: str
    condition: str
    repeat: int = 0


def response(sample: str, asked: Asked, **said: Any) -> Line:
    """Make one response; `said` gives its turns, and replaces any other field."""
    model, protocol, condition, repeat = asked
    return {
        "version": 2,
        "job_id": "job",
        "request_id": f"{sample}:{model}:{protocol}-{condition}:{repeat}",
        "sample_id": sample,
        "model": model,
        "protocol": protocol,
        "condition": condition,
        "repeat": repeat,
        "sampling": {"temperature": 0.0, "max_tokens": 64},
        "worker": "worker",
        "engine": {"name": "vllm", "version": "1"},
        "created_at": stamp(0),
    } | said


def stamp(seconds: float) -> str:
    """Write a time of creation, so many seconds behind the first one."""
    return (_START + timedelta(seconds=seconds)).isoformat()


def turn(text: str, finish: str = "stop", **said: Any) -> Line:
    """Make one answer; a text has as many tokens as words, an empty one none."""
    tokens = 64 if finish == "length" else len(text.split())
    return {"text": text, "finish_reason": finish, "usage": {"prompt_tokens": 500, "completion_tokens": tokens}} | said


def failed(kind: str = "ImageUnreadableError") -> Line:
    """What a response says of a request that failed."""
    return {"failure": {"type": kind, "message": "made"}, "turns": []}


def outgrown() -> Line:
    """What a response says of a chat whose model wrote more than its context holds."""
    return {"failure": {"type": "PromptTooLongError", "message": "made", "by_model": True}, "turns": []}


def copies(draw: random.Random, lines: Sequence[Line], other: Mapping[int, Line]) -> list[Line]:
    """Add copies of some responses, made at other times or at the same; what they say is that of `other`, by number."""
    added = [
        {name: value for name, value in lines[number].items() if name not in _SAID}
        | {name: another[name] for name in _SAID if name in another}
        | {"created_at": stamp(draw.choice((0, 0, 60, -60)))}
        for number, another in other.items()
    ]
    return [*lines, *added]


def counted(lines: Iterable[Line], samples: Iterable[str]) -> list[Line]:
    """Which responses count: those to known samples, and of copies of one the first that is best.

    An answer goes before a failure and before one without a token, then the earlier one, then what stands first.
    """
    known, best = set(samples), dict[tuple[Any, ...], Line]()
    for line in lines:
        key = tuple(line.get(name) for name in _IDENTITY)
        if line["sample_id"] in known and (key not in best or _rank(line) < _rank(best[key])):
            best[key] = line
    return list(best.values())


_SAID = ("turns", "failure", "stop", "rasters")
_IDENTITY = ("model", "protocol", "condition", "max_rounds", "job_id", "request_id")


def _rank(line: Line) -> tuple[bool, bool, str]:
    return is_failed(line), is_empty(line), line["created_at"]


def is_failed(line: Line) -> bool:
    """Whether the request failed, and not by what its model wrote."""
    return bool(line.get("failure")) and not line["failure"].get("by_model")


def is_empty(line: Line) -> bool:
    """Whether any answer ended before a token of it was written."""
    return not is_failed(line) and any(
        not one["text"] and not one["usage"]["completion_tokens"] and one["finish_reason"] != "content_filter"
        for one in line["turns"]
    )


def is_outgrown(line: Line) -> bool:
    """Whether the chat outgrew its model's context."""
    return bool(line.get("failure")) and bool(line["failure"].get("by_model"))


def absence(line: Line) -> str:
    """Say why a response has no text to be read: outgrown, filtered or thought without an end; '' where it has one."""
    if is_outgrown(line):
        return "overflowed"
    last = line["turns"][-1]
    if last["finish_reason"] == "content_filter":
        return "filtered"
    return "unfinished" if last["text"].startswith("<think>") else ""


def _lines(records: Iterable[Line]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)
