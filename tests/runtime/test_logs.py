"""Lines of the log as JSON: one object each, with the ids of what they are about."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator

import pytest

from gigavqa.runtime.logs import configure_logging, log_context

log = logging.getLogger("tests.logs")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a process that logs JSON has written to standard error."""
    root, stderr = logging.getLogger(), io.StringIO()
    before, level = list(root.handlers), root.level
    monkeypatch.setattr("sys.stderr", stderr)
    root.handlers = []
    configure_logging("json", "worker")
    yield stderr
    root.handlers = before
    root.setLevel(level)


async def test_each_line_names_the_request_that_its_task_is_about(written: io.StringIO) -> None:
    """Tasks that take turns do not take each other's ids; those that a task begins have its own."""

    async def say() -> None:
        await asyncio.sleep(0)
        log.info("child")

    async def play(request_id: str) -> None:
        with log_context(job_id="j", request_id=request_id):
            await asyncio.sleep(0)
            log.info("parent")
            await asyncio.create_task(say())

    await asyncio.gather(play("r1"), play("r2"))
    log.info("outside")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    told = sorted((line["message"], line.get("job_id"), line.get("request_id")) for line in lines if line != lines[-1])
    assert told == [("child", "j", "r1"), ("child", "j", "r2"), ("parent", "j", "r1"), ("parent", "j", "r2")]
    assert "request_id" not in lines[-1]
    assert {line["process"] for line in lines} == {"worker"}


def test_an_error_is_one_line_whatever_it_says(written: io.StringIO) -> None:
    """With its traceback, and with line ends and controls of somebody else's text escaped."""
    try:
        raise ValueError("two\nlines \x1b[31m")
    except ValueError:
        log.exception("it %s", "failed\r\n")
    (line,) = written.getvalue().splitlines()
    read = json.loads(line)
    assert (read["level"], read["message"]) == ("error", "it failed\r\n")
    assert "ValueError: two" in read["exception"]
    assert line.isascii()
    assert line.isprintable()
