"""A stand-in model server: it speaks OpenAI's API, no model answers, and a test says what it answers and withholds."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from gigavqa.workers.engines.engine import PromptRaster
from tests.workers.remote_server import Elsewhere, Mood

Answer = Callable[[str, int], str | Mood]
"""Takes what a call is about, and how often it was asked before; returns a reply, or what becomes of the request."""

Subject = Callable[[dict[str, Any], list[np.ndarray[Any, Any]]], str]
"""Takes the body of a chat, and the pictures that it shows, H x W x 3 uint8 RGB each."""

_ABOUT = re.compile(r"about (\w+)")


def plain(about: str, _: int) -> str:
    """Answer well."""
    return json.dumps({"about": about, "score": 0.5})


class ModelServer(Elsewhere):
    """Counts what it is asked, by what calls are about and how many messages they have, and what it answered."""

    def __init__(self) -> None:
        super().__init__()
        self.begin(plain)

    def begin(
        self, answer: Answer, *, seconds: float = 0.0, finish: str = "stop", subject: Subject | None = None
    ) -> None:
        """Forget what was asked, and answer so from now on; `subject` finds what a chat and its pictures are about."""
        self.answer, self.seconds, self.finish, self.subject = answer, seconds, finish, subject
        self.asked: Counter[tuple[str, int]] = Counter()
        self.told: Counter[tuple[str, int]] = Counter()
        self.body: dict[str, Any] = {}
        """The request that is being answered."""
        self.chats.clear()

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        key = self._key(body)
        self.body = body
        said = self.answer(key[0], self.asked[key])
        self.asked[key] += 1
        await asyncio.sleep(self.seconds)
        if isinstance(said, Mood):
            self.moods.insert(0, said)
        else:
            self.told[key] += 1
        self._said = said
        return await super()._chat(request)

    async def _answer(self, chat: Any, body: dict[str, Any]) -> dict[str, Any]:
        choice = {"index": 0, "message": {"role": "assistant", "content": self._said}, "finish_reason": self.finish}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return {"id": "chatcmpl-1", "model": f"{self.model}-stand-in", "choices": [choice], "usage": usage}

    def _key(self, body: dict[str, Any]) -> tuple[str, int]:
        """What a call is about, else its words, and how many of its replies are complained of."""
        complaints = sum(message["role"] == "assistant" for message in body["messages"])
        if self.subject:
            parts = [part for message in body["messages"] for part in self._message(message).parts]
            return self.subject(body, [part.pixels for part in parts if isinstance(part, PromptRaster)]), complaints
        told = json.dumps(body["messages"])
        found = _ABOUT.search(told)
        return found[1] if found else told, complaints
