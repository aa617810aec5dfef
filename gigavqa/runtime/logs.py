"""Lines of the log: for people, or JSON for programs, with the ids of what they are about."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

LogFormat = Literal["text", "json"]

_TALKATIVE = ("aiobotocore", "botocore", "httpcore", "httpx")
"""Packages that tell at INFO what no operator asks, and what may hold a signature: addresses of requests."""

_CONTEXT: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Name these ids in each line that is logged within, by tasks that are begun within, too."""
    before = _CONTEXT.set({**_CONTEXT.get(), **ids})
    try:
        yield
    finally:
        _CONTEXT.reset(before)


def configure_logging(form: LogFormat, process: str) -> None:
    """Log to standard error, one line an event; `process` says in JSON whose it is."""
    handler = logging.StreamHandler()
    if form == "json":
        handler.setFormatter(_JsonFormatter(process))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


class _JsonFormatter(logging.Formatter):
    """One object a line, in ASCII: no text of a client's can end one. `extra={"fields": {...}}` adds to it."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
            **_CONTEXT.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
