"""A server of streamed chats whose delays are known; what a model is called says how it answers.

`steady`: the first token after FIRST seconds, each further one GAP later, TOKENS of them, and their counts.
`uncounted`: the same, and it refuses `stream_options`; `silent`: it takes them, and sends no counts.
`thinking`: its first token is a thought. `bursts`: all further tokens in one chunk, with their counts.
`busy`: 429. `falters`: every other chat 503. `breaks`: leaves in the middle. `ends`: ends without saying so.
`hangs`: never goes on behind the first token. `whole`: no stream. `refuses`: an error in the stream. `empty`: no text.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

FIRST, GAP, TOKENS, PROMPT_TOKENS = 0.06, 0.02, 5, 7
_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@dataclass
class StreamingServer:
    """Where it is, the bodies and keys of the chats that it got, and how many were open at most."""

    url: str = ""
    chats: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    open: int = 0
    most_open: int = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if head.startswith("GET"):
                writer.write(_whole(200, {"data": [{"id": "steady"}, {"id": "busy"}]}))
            else:
                self.keys.add(headers.get("authorization", ""))
                await self._answer(json.loads(body), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.chats.append(body)
        model, number = body["model"], len(self.chats)
        if model == "uncounted" and "stream_options" in body:
            writer.write(_whole(400, {"error": {"message": "unknown field: stream_options"}}))
        elif model == "busy":
            writer.write(_whole(429, {"error": {"message": "too many chats"}}))
        elif model == "falters" and number % 2 == 0:
            writer.write(_whole(503, "down for repairs"))
        elif model == "nowhere":
            writer.write(_whole(404, {"detail": "no such model"}))
        elif model == "whole":
            writer.write(_whole(200, {"choices": [{"message": {"content": "all of it"}, "finish_reason": "stop"}]}))
        else:
            self.open += 1
            self.most_open = max(self.most_open, self.open)
            try:
                await self._stream(model, writer)
            finally:
                self.open -= 1

    async def _stream(self, model: str, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD.encode() + _event({"choices": [{"delta": {"role": "assistant", "content": ""}}]}))
        await writer.drain()
        await asyncio.sleep(FIRST)
        if model == "refuses":
            writer.write(_event({"error": {"message": "the engine is gone"}}))
            return
        pieces = ["a", "bcde"] if model == "bursts" else ["a", "b", "c", "d", "e"]
        for place, piece in enumerate(pieces if model != "empty" else []):
            name = "reasoning_content" if model == "thinking" and place == 0 else "content"
            writer.write(_event({"choices": [{"delta": {name: piece}}]}))
            await writer.drain()
            if model == "hangs":
                await asyncio.sleep(3600)
            if model == "breaks":
                writer.transport.abort()
                return
            if place < len(pieces) - 1:
                await asyncio.sleep(GAP)
        if model == "ends":
            return
        writer.write(_event({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
        if model not in {"uncounted", "silent"}:
            counts = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": TOKENS}
            writer.write(_event({"choices": [], "usage": counts}))
        writer.write(b"data: [DONE]\n\n")


def _event(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _whole(status: int, value: Any) -> bytes:
    content = (value if isinstance(value, str) else json.dumps(value)).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + content


@contextmanager
def streaming_server() -> Iterator[StreamingServer]:
    """Serve in a thread of this process for as long as the block lasts."""
    there, loop, started = StreamingServer(), asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        server = await asyncio.start_server(there._serve, "127.0.0.1", 0, limit=2**24)
        there.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        started.set()

    def run() -> None:
        loop.create_task(serve())
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(60)
    try:
        yield there
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
