"""A server of files by HTTP on this machine, which can misbehave in whatever way servers do."""

import functools
import hashlib
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STALL_SECONDS = 30.0


@functools.cache
def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@dataclass
class ServedFile:
    """A file, and how it is served: `faults` for so many answers each, in order, and then well.

    `after` answers, `then` is what becomes of it: other bytes, or None where it vanishes.
    """

    content: bytes
    tag: str = "etag"
    has_ranges: bool = True
    faults: list[str] = field(default_factory=list)
    after: int = 1 << 30
    then: bytes | None = None
    answers: int = 0
    odd: tuple[int, dict[str, str]] = (200, {})

    def current(self) -> bytes | None:
        """Return its bytes as they are now."""
        return self.content if self.answers < self.after else self.then


@dataclass
class FileServer:
    """What is served, and what was asked for."""

    files: dict[str, ServedFile] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    sent: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    port: int = 0
    together: threading.Barrier = field(default_factory=lambda: threading.Barrier(1))

    @property
    def prefix(self) -> str:
        """What addresses of its files begin with."""
        return f"http://127.0.0.1:{self.port}/"

    def serve(self, name: str, content: bytes, **how: Any) -> str:
        """Serve a file; returns its address."""
        self.files[f"/{name}"] = ServedFile(content, **how)
        return f"{self.prefix}{name}"


@contextmanager
def file_server() -> Iterator[FileServer]:
    """A server for as long as the block lasts."""
    state = FileServer()
    stopping = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

        def do_GET(self) -> None:
            state.requests[self.path] += 1
            served = state.files.get(self.path.partition("?")[0])
            content = served.current() if served else None
            if served is None or content is None:
                self._answer(404, b"")
                return
            served.answers += 1
            fault = served.faults.pop(0) if served.faults else ""
            getattr(self, f"_{fault}", self._well)(served, content)

        def _well(self, served: ServedFile, content: bytes, **changed: str) -> None:
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            headers = self._tags(served, content)
            if self.headers.get("If-Match") not in (None, headers.get("ETag")):
                self._answer(412, b"")
                return
            if not asked or not served.has_ranges:
                self._answer(200, content, **headers, **changed)
                return
            start, stop = int(asked[1]), min(int(asked[2]) + 1, len(content))
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            self._answer(206, content[start:stop], **{**headers, **changed})

        def _tags(self, served: ServedFile, content: bytes) -> dict[str, str]:
            digest = _digest(content)
            seconds = int(digest[:4], 16)
            modified = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(1_700_000_000 + seconds))
            kinds = {"etag": {"ETag": f'"{digest}"'}, "weak": {"ETag": f'W/"{digest}"'}, "none": {}}
            return kinds.get(served.tag, {"Last-Modified": modified})

        def _answer(self, status: int, body: bytes, *, sent: int | None = None, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            state.sent[self.path] += len(body[:sent])
            try:
                self.wfile.write(body[:sent])
            except OSError:
                self.close_connection = True

        def _busy(self, served: ServedFile, content: bytes) -> None:
            self._answer(503, b"")

        def _refused(self, served: ServedFile, content: bytes) -> None:
            self._answer(403, b"")

        def _cut(self, served: ServedFile, content: bytes) -> None:
            """Less than the length says."""
            self._answer(206, b"x" * 1000, sent=500, **self._tags(served, content), **self._range(content))
            self.close_connection = True

        def _short(self, served: ServedFile, content: bytes) -> None:
            """A length that fits the bytes, and not the range."""
            self._answer(206, b"x" * 500, **self._tags(served, content), **self._range(content))

        def _long(self, served: ServedFile, content: bytes) -> None:
            self._answer(206, content + content, **self._tags(served, content), **self._range(content))

        def _other_range(self, served: ServedFile, content: bytes) -> None:
            told = {"Content-Range": f"bytes 7-100/{len(content)}"}
            self._answer(206, content[7:101], **self._tags(served, content), **told)

        def _other_total(self, served: ServedFile, content: bytes) -> None:
            start, stop = self._asked(content)
            told = {"Content-Range": f"bytes {start}-{stop - 1}/{len(content) + 1}"}
            self._answer(206, content[start:stop], **self._tags(served, content), **told)

        def _whole(self, served: ServedFile, content: bytes) -> None:
            """All bytes, whatever range is asked for."""
            self._answer(200, content, **self._tags(served, content))

        def _together(self, served: ServedFile, content: bytes) -> None:
            """What is asked for, once as many ask as `together` of the server says."""
            state.together.wait()
            self._well(served, content)

        def _stall(self, served: ServedFile, content: bytes) -> None:
            stopping.wait(STALL_SECONDS)
            self.close_connection = True

        def _drip(self, served: ServedFile, content: bytes) -> None:
            """A byte now and then, for ever."""
            self.send_response(206)
            for name, value in {**self._tags(served, content), **self._range(content)}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            while not stopping.wait(0.05):
                try:
                    self.wfile.write(b"x")
                except OSError:
                    break
            self.close_connection = True

        def _inside(self, served: ServedFile, content: bytes) -> None:
            """Lead to an address inside of a cloud."""
            self._answer(302, b"", Location="http://169.254.169.254/latest/meta-data")

        def _elsewhere(self, served: ServedFile, content: bytes) -> None:
            self._answer(302, b"", Location=f"http://localhost:{state.port}/unlisted.tif")

        def _circle(self, served: ServedFile, content: bytes) -> None:
            served.faults.append("circle")
            self._answer(302, b"", Location=self.path)

        def _odd(self, served: ServedFile, content: bytes) -> None:
            """What `odd` of the file has, in place of the well-formed: a status and headers."""
            status, headers = served.odd
            self._answer(status, b"x", **{**self._tags(served, content), **self._range(content), **headers})

        def _moved(self, served: ServedFile, content: bytes) -> None:
            self._answer(307, b"", Location="/moved/there.tif?X-Signature=secret")

        def _asked(self, content: bytes) -> tuple[int, int]:
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            assert asked
            return int(asked[1]), min(int(asked[2]) + 1, len(content))

        def _range(self, content: bytes) -> dict[str, str]:
            start, stop = self._asked(content)
            return {"Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
