"""Lines of the log: for people, or JSON for programs, with the ids of what they are about."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

LogForm = Literal["text", "json"]

_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Name these ids in each line that is logged within, by tasks that are begun within, too."""
    before = _ABOUT.set({**_ABOUT.get(), **ids})
    try:
        yield
    finally:
        _ABOUT.reset(before)


def configure_logging(form: LogForm, process: str) -> None:
    """Log to standard error, one line an event; `process` says in JSON whose it is."""
    handler = logging.StreamHandler()
    if form == "json":
        handler.setFormatter(_Json(process))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


class _Json(logging.Formatter):
    """One object a line, in ASCII: no text of a client's can end one. `extra={"fields": {...}}` adds to it."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Write one event."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
            **_ABOUT.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
