"""A server that answers searches and has pages, on a port of this machine."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gigavqa.retrieval.sources import SearchSource

Answer = tuple[int, Mapping[str, str], bytes]


@dataclass
class Server:
    """What was asked of it, and what it answers by path; a path's answers go one after the other, the last for ever.

    A path of `made` is answered by what is made of each body.
    """

    port: int = 0
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    made: dict[str, Callable[[Mapping[str, Any]], Answer]] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    wait: Callable[[], object] = lambda: None

    def address(self, path: str = "/search", host: str = "127.0.0.1") -> str:
        """Where a path is."""
        return f"http://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        """The paths that were asked for."""
        return [one["path"] for one in self.asked]


def told(content: object, status: int = 200, **headers: str) -> Answer:
    """An answer in JSON."""
    return status, {"Content-Type": "application/json", **headers}, json.dumps(content).encode()


def shown(html: str | bytes, kind: str = "text/html", status: int = 200, **headers: str) -> Answer:
    """A page."""
    return status, {"Content-Type": kind, **headers}, html.encode() if isinstance(html, str) else html


def adapter_of(source: SearchSource) -> Callable[[Mapping[str, Any]], Answer]:
    """Answers searches from another source, a corpus say, as servers of the shape `adapter` do."""

    def answer(asked: Mapping[str, Any]) -> Answer:
        pages = asyncio.run(source.search(asked["query"], asked.get("topK", 20)))
        results = [{"title": page.title, "snippet": page.snippet, "url": page.link} for page in pages]
        return told({"status": 0, "data": {"results": results}})

    return answer


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server in a thread."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer({"body": json.loads(body)})

        def _answer(self, more: dict[str, Any]) -> None:
            path, _, query = self.path.partition("?")
            state.asked.append({"path": path, "query": query, "headers": dict(self.headers), **more})
            state.wait()
            if path in state.made:
                status, headers, content = state.made[path](more["body"])
            else:
                answers = state.answers.get(path, [shown("gone", status=404)])
                status, headers, content = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
