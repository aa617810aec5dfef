"""A server elsewhere: the simulated engine behind OpenAI's API over real HTTP, with the manners of several kinds.

No model answers here. What it is told (`moods`), it does to the next chats instead of answering them. As a process,
`python -m tests.workers.remote_server PORT OWNER SPEED`, it can be killed.
"""

import asyncio
import base64
import hashlib
import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gigavqa.contract.requests import GenerationConstraints, Sampling, StructuredOutput
from gigavqa.launcher.preflight import free_port
from gigavqa.workers.engines.engine import ContextExceededError, Message, PromptRaster
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.waiting import wait_until
from tests.workers.examples import ENTRY


@dataclass
class Mood:
    """What happens to one chat: an answer of this status and body, a lost connection, or a wait of some seconds."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    drops: bool = False


@dataclass
class Elsewhere:
    """The server's manners, and what it has seen: bodies of chats, pictures by their names, and keys.

    It fails at every chat with `poison` in it, ends every answer before its first token while it `is_silent`, and lists
    its model to whoever has the key that it is `locked` with; to nobody while it `refuses` all with a status, chats
    too, or `is_broken` for all.
    """

    owner: str = "vllm"
    model: str = ENTRY.id
    speed: float = 0.0
    lists: bool = True
    locked: str | None = None
    poison: str | None = None
    refuses: int | None = None
    is_broken: bool = False
    is_silent: bool = False
    moods: list[Mood] = field(default_factory=list)
    chats: list[dict[str, Any]] = field(default_factory=list)
    pictures: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    connections: set[Any] = field(default_factory=set)
    vocabulary: dict[str, list[int]] | None = None
    uploads: int = 0
    answered: int = 0
    refused: int = 0
    url: str = ""

    def app(self) -> Starlette:
        """The application."""
        routes = [
            Route("/v1/models", self._models),
            Route("/version", self._version),
            Route("/tokenize", self._tokenize, methods=["POST"]),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _models(self, request: Request) -> Response:
        self.keys.add(request.headers.get("authorization", ""))
        if self.is_broken or self.refuses:
            return Response(status_code=self.refuses or 503)
        if self.locked and request.headers.get("authorization") != self.locked:
            return JSONResponse({"error": "Unauthorized"}, 401)
        card = {"id": self.model, "object": "model", "owned_by": self.owner, "max_model_len": ENTRY.max_model_len}
        return JSONResponse({"object": "list", "data": [card] if self.lists else []})

    async def _version(self, request: Request) -> Response:
        return JSONResponse({"version": "0.32.0"}) if self.owner == "vllm" else Response(status_code=404)

    async def _tokenize(self, request: Request) -> Response:
        body = await request.json()
        return JSONResponse({"tokens": self.vocabulary[body["prompt"]]} if self.vocabulary else {}, 200)

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        self.chats.append(body)
        self.keys.add(request.headers.get("authorization", ""))
        self.connections.add(request.client)
        if self.refuses or self.is_broken:
            self.refused += 1
            repeated = f"no GPU {request.headers.get('authorization')}"
            return JSONResponse({"error": {"message": repeated}}, self.refuses or 503)
        if self.moods:
            mood = self.moods.pop(0)
            if mood.drops:
                raise _DropError
            content = mood.body if isinstance(mood.body, str) else None
            made = Response(content, mood.status) if content is not None else JSONResponse(mood.body, mood.status)
            made.headers.update(mood.headers)
            return made
        if self.poison and self.poison in str(body["messages"]):
            return Response("CUDA error", 500)
        try:
            answer = await self._answer([self._message(message) for message in body["messages"]], body)
        except KeyError as error:
            return _refusal(f"{error} is not cached", 400)
        except ContextExceededError as error:
            return _refusal(str(error), "context_length_exceeded")
        self.answered += 1
        streamed = body.get("stream")
        return StreamingResponse(_chunks(answer), media_type="text/event-stream") if streamed else JSONResponse(answer)

    async def _answer(self, chat: list[Message], body: dict[str, Any]) -> dict[str, Any]:
        engine = SimulatedEngine(ENTRY, speed=self.speed)
        await engine.start()
        try:
            limit = body.get("max_tokens") or body.get("max_completion_tokens") or ENTRY.max_model_len
            sampling = Sampling(seed=body.get("seed"), max_tokens=limit, steering=_steering(body))
            turn = await engine.generate(chat, sampling, "chat")
        finally:
            await engine.stop()
        text, tokens = ("", 0) if self.is_silent else (turn.text, turn.usage.completion_tokens)
        usage = {"prompt_tokens": turn.usage.prompt_tokens, "completion_tokens": tokens}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": turn.finish_reason}
        return {"id": "chatcmpl-1", "model": f"{self.model}-2026", "choices": [choice], "usage": usage}

    def _message(self, message: dict[str, Any]) -> Message:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return Message(message["role"], tuple(map(self._part, parts)))

    def _part(self, part: dict[str, Any]) -> str | PromptRaster:
        if part["type"] == "text":
            return str(part["text"])
        if part["image_url"] is None:
            return PromptRaster(part["uuid"], self.pictures[part["uuid"]])
        url = part["image_url"]["url"]
        self.uploads += 1
        name = part.get("uuid") or hashlib.sha256(url.encode()).hexdigest()
        with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
            self.pictures[name] = np.asarray(image.convert("RGB"))
        return PromptRaster(name, self.pictures[name])


def _refusal(message: str, code: int | str) -> Response:
    return JSONResponse({"error": {"message": message, "code": code}}, 400)


def _steering(body: dict[str, Any]) -> GenerationConstraints:
    """What the simulated engine heeds of what was asked."""
    held = StructuredOutput(choice=body.get("structured_outputs", {}).get("choice"))
    return GenerationConstraints(stop=tuple(body.get("stop", ())), structure=held if held.choice else None)


def _chunks(answer: dict[str, Any]) -> Iterator[str]:
    """An answer word by word, as servers stream it."""
    around = {name: answer[name] for name in ("id", "model")}
    (choice,) = answer["choices"]
    for number, word in enumerate(choice["message"]["content"].split(" ")):
        delta = {"index": 0, "delta": {"content": f" {word}" if number else word}, "finish_reason": None}
        yield f"data: {json.dumps({**around, 'choices': [delta]})}\n\n"
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield f"data: {json.dumps({**around, 'choices': [end]})}\n\n"
    yield f"data: {json.dumps({**around, 'choices': [], 'usage': answer['usage']})}\n\ndata: [DONE]\n\n"


class _DropError(Exception):
    """The connection is to be cut."""


def _cutting(app: Any) -> Any:
    async def cut(scope: Any, receive: Any, send: Any) -> None:
        try:
            await app(scope, receive, send)
        except _DropError:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
            await send({"type": "http.response.body", "body": b"{", "more_body": False})

    return cut


def _server(elsewhere: Elsewhere, port: int) -> uvicorn.Server:
    app = _cutting(elsewhere.app())
    return uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical", lifespan="off"))


class Holding(Elsewhere):
    """Holds chats, those that a subclass chooses, until it is told not to, and tells how many it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.held = 0
        self._may_go_on = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def go_on(self) -> None:
        """Hold nobody any more."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._may_go_on.set)

    async def hold(self) -> None:
        """Wait until nobody is held any more."""
        self._loop = asyncio.get_running_loop()
        self.held += 1
        await self._may_go_on.wait()


@contextmanager
def serving(elsewhere: Elsewhere, port: int = 0) -> Iterator[Elsewhere]:
    """Serve in a thread of this process for as long as the block lasts."""
    port = port or free_port("127.0.0.1")
    server = _server(elsewhere, port)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, what="the server elsewhere")
    elsewhere.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield elsewhere
    finally:
        server.should_exit = server.force_exit = True
        thread.join(60)


if __name__ == "__main__":
    asyncio.run(_server(Elsewhere(owner=sys.argv[2], speed=float(sys.argv[3])), int(sys.argv[1])).serve())
