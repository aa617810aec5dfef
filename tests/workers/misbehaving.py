"""A server elsewhere that misbehaves: raw bytes over real connections, in a way that each question names.

A question is the name of a way in `tests.workers.server_faults`; what stands behind a blank only tells it from others.
"""

import asyncio
import json
import ssl
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.workers.examples import ENTRY

KEY = "sk-test-4f1d0c9b8a7e6f5d4c3b2a19"
USAGE = {"prompt_tokens": 100, "completion_tokens": 5}

Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Bytes that are sent as they are, before the connection is kept or cut; or what does it."""
Manners = Mapping[str, Reply | list[Reply]]
"""Replies by the name of what is wrong with them; of a list one after the other, the last one from there on."""


def http(body: Any, status: int = 200, close: bool = False, **headers: str) -> bytes:
    """A whole reply; what is no bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {"content-type": "application/json", "content-length": str(len(content)), **headers}
    told |= {"connection": "close"} if close else {}
    lines = [f"HTTP/1.1 {status} Said", *(f"{name.replace('_', '-')}: {value}" for name, value in told.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


def error(status: int, message: str = "trouble", **more: Any) -> bytes:
    """An error as OpenAI tells it, which repeats the key."""
    return http({"error": {"message": f"{message} Bearer {KEY}", **more}}, status)


def answer(content: Any = "A", reason: Any = "stop", **changes: Any) -> dict[str, Any]:
    """A completion; `changes` are of it, and those in `choice` and `message` of these."""
    message = {"role": "assistant", "content": content, **changes.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": reason, **changes.pop("choice", {})}
    return {"id": "c1", "model": "fake-2026", "choices": [choice], "usage": USAGE, **changes}


def said(content: Any = "A", reason: Any = "stop", **changes: Any) -> bytes:
    """A completion as a whole reply."""
    return http(answer(content, reason, **changes))


def raw(text: str) -> bytes:
    """JSON as it is written here."""
    return http(text.encode())


def cut(beginning: bytes) -> Reply:
    """Send a beginning, and reset the connection."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.transport.abort()

    return send


def drip(beginning: bytes, piece: bytes, seconds: float = 0.02, times: int = 10_000) -> Reply:
    """Send a beginning, and then a piece again and again."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        for _ in range(times):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(seconds)

    return send


def without_length(body: bytes) -> bytes:
    """A reply that ends where its connection does."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n" + body


def events(*chunks: Any, done: bool = True, end: str = "\n\n") -> bytes:
    """A stream of chunks; texts are sent as they are."""
    lines = [each if isinstance(each, str) else f"data: {json.dumps(each)}{end}" for each in chunks]
    body = "".join([*lines, f"data: [DONE]{end}" if done else ""]).encode("utf-8", "surrogatepass")
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + body


def chunk(content: Any = None, reason: Any = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    told = ({} if content is None else {"content": content}) | delta
    return {"model": "fake-2026", "choices": [{"index": index, "delta": told, "finish_reason": reason}]}


class Misbehaving:
    """The server: `asked` counts the chats by their question. It sends each reply of `twice` two times at once."""

    def __init__(self, replies: Manners, streams: Manners) -> None:
        self._replies = replies
        self._streams = streams
        self.asked: Counter[str] = Counter()
        self.heads: list[str] = []
        self.connections = 0
        self.url = ""
        self.twice: Mapping[str, str] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer whatever comes on one connection."""
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                length = next(
                    (line[15:] for line in head.lower().split("\r\n") if line.startswith("content-length")), "0"
                )
                body = await reader.readexactly(int(length))
                if not await self._reply(writer, head, body):
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _reply(self, writer: asyncio.StreamWriter, head: str, body: bytes) -> bool:
        """Reply to one request; returns whether the connection goes on."""
        if head.startswith("GET"):
            writer.write(http({"data": [{"id": ENTRY.id, "owned_by": "me"}]}))
            return True
        reply = self._chosen(json.loads(body))
        if not isinstance(reply, bytes):
            await reply(writer)
            return False
        writer.write(reply)
        await writer.drain()
        return b"connection: close" not in reply and reply.startswith(b"HTTP/1.1") and b" 204 " not in reply[:20]

    def _chosen(self, chat: dict[str, Any]) -> Reply:
        content = chat["messages"][-1]["content"]
        question = content if isinstance(content, str) else content[-1]["text"]
        self.asked[question] += 1
        if question in self.twice:
            return http(answer(self.twice[question])) * 2
        replies = (self._streams if chat.get("stream") else self._replies)[question.split()[0]]
        if not isinstance(replies, list):
            return replies
        return replies[min(self.asked[question], len(replies)) - 1]


@contextmanager
def misbehaving(replies: Manners, streams: Manners, context: ssl.SSLContext | None = None) -> Iterator[Misbehaving]:
    """Serve in a thread of this process for as long as the block lasts, over TLS with a `context`."""
    there, loop, started = Misbehaving(replies, streams), asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        server = await asyncio.start_server(there.serve, "127.0.0.1", 0, ssl=context, limit=2**26)
        scheme = "https" if context else "http"
        there.url = f"{scheme}://localhost:{server.sockets[0].getsockname()[1]}/v1"
        started.set()
        await asyncio.Event().wait()

    def run() -> None:
        asyncio.set_event_loop(loop)
        serving = loop.create_task(serve())
        ending.append(lambda: loop.call_soon_threadsafe(serving.cancel))
        try:
            loop.run_until_complete(serving)
        except asyncio.CancelledError:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
        finally:
            loop.close()

    ending: list[Callable[[], Any]] = []
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    started.wait(60)
    try:
        yield there
    finally:
        ending[0]()
        thread.join(60)
