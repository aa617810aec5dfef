"""Chats in their fifth round, whose worker is killed: nothing lost, nothing twice, and the same chats as ever."""

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from gigavqa.contract.tool_loops import SearchTool
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.workers.engines.engine import Message
from tests.waiting import wait_until
from tests.workers.examples import job_of, responses_of, submit_requests
from tests.workers.processes import worker_process
from tests.workers.remote_server import Holding, serving
from tests.workers.test_processes import until_recorded
from tests.workers.tool_chats import LOOP, call, looping, zoom

CHATS, HELD_ROUND = 12, 5
LOOK_UP = SearchTool(name="look_up", source="town", found="{query}: {result}", nothing="no {query}")
SEARCHING = LOOP.model_copy(update={"tools": (*LOOP.tools[:1], LOOK_UP, *LOOP.tools[2:])})


class Town(ThreadingHTTPServer):
    """A search engine on loopback, which counts what it is asked, by the job whose name is in it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: Counter[str] = Counter()

    def handle_error(self, *who: Any) -> None:
        """Whoever asked may have been killed meanwhile."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*who)


class _Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["query"]
        assert isinstance(self.server, Town)
        self.server.asked[query] += 1
        page = {"title": query, "url": f"https://pages.invalid/{query}", "snippet": f"All about {query}."}
        body = json.dumps({"status": 0, "data": {"results": [page]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


class Asking(Holding):
    """Writes calls by what it was asked, and holds chats in one of their rounds."""

    async def _answer(self, chat: list[Message], body: dict[str, Any]) -> dict[str, Any]:
        number = 1 + sum(message.role == "assistant" for message in chat)
        if number == HELD_ROUND:
            await self.hold()
        answer = await super()._answer(chat, body)
        name = chat[1].text.partition("it, ")[2].rstrip("?")
        asked = call("look_up", query=f"{name} {number % 3}") if number % 2 else zoom(10 * number, 0, 500, 500 + number)
        answer["choices"][0]["message"]["content"] = asked if number < 8 else f"{name} says {chat[-1].text}"
        return answer


@pytest.fixture
def town() -> Iterator[Town]:
    """A source elsewhere that ends with the test."""
    town = Town()
    threading.Thread(target=town.serve_forever, daemon=True).start()
    yield town
    town.shutdown()
    town.server_close()


async def _told(redis: Redis, job_id: str) -> dict[str, Any]:
    """What the chats of a job were, without what depends on time or on who asked first."""
    return {
        response.request_id: (
            [(turn.text, turn.call and turn.call.model_dump(exclude={"seconds", "cached"})) for turn in response.turns],
            [(raster.turn, raster.key) for raster in response.rasters],
            response.stop,
            response.failure,
        )
        for response in await responses_of(redis, job_id)
    }


@pytest.mark.slow
async def test_a_worker_that_is_killed_in_round_five_loses_nothing(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path, town: Town
) -> None:
    """Every response comes once and is that of an undisturbed run; each job searches once for the same."""
    sources = tmp_path / "sources.toml"
    address = f"http://127.0.0.1:{town.server_address[1]}/search"
    sources.write_text(f'[town]\nshape = "adapter"\naddress = "{address}"\nversion = "1"\nprivate = true\n')
    chats = [looping(f"chat-{number}", SEARCHING) for number in range(CHATS)]
    with serving(Asking()) as asking:
        arguments = ("--engine", "remote", "--endpoint", asking.url, "--search", str(sources), "--lease", "1")
        disturbed = await submit_requests(redis, *chats)
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            wait_until(lambda: asking.held == CHATS, timeout=120, what="the fifth round of all chats")
            worker.kill()
        assert not await responses_of(redis, disturbed)
        asking.go_on()
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            await until_recorded(redis, disturbed, CHATS)
        searched = Counter(town.asked)
        undisturbed = await submit_requests(redis, *chats)
        with worker_process(tmp_path, data, server.url, *arguments, "--max-requests", "1") as worker:
            await until_recorded(redis, undisturbed, CHATS)
            assert "Traceback" not in worker.log
    assert await _told(redis, disturbed) == await _told(redis, undisturbed)
    assert len(await responses_of(redis, disturbed)) == CHATS
    assert (await job_of(redis, disturbed)).request_counts.failed == 0
    assert set(searched.values()) == {1}
    assert town.asked == searched + searched
