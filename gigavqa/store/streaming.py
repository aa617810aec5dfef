"""The text of an answer while it grows: told on a channel to whoever waits for it, kept nowhere."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from pydantic import Field, TypeAdapter, ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from gigavqa.contract.base import Contract
from gigavqa.contract.responses import OnTokens, TokenLogprob

log = logging.getLogger(__name__)

_WAIT_SECONDS = 5.0
_MAX_CHUNKS = 512
"""Pieces in one message: what came while the one before was on its way."""


class TokenChunk(Contract):
    """A piece of an answer's text. `at` counts the characters before it, so that whoever misses one can tell.

    An answer that is written anew, because the engine or the worker died, begins at 0 again. A piece without text has
    the logprobs of tokens that wrote none, such as the one that ended the answer.
    """

    chat: str
    request: str = ""
    at: int = 0
    text: str = ""
    logprobs: tuple[TokenLogprob, ...] | None = Field(default=None, exclude_if=lambda value: value is None)


_CHUNKS: TypeAdapter[list[TokenChunk]] = TypeAdapter(list[TokenChunk])


class TokenPublisher:
    """Tells growing texts: at once while the channel is free, else together when it is free again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._untold: dict[str, list[TokenChunk]] = {}
        self._telling: asyncio.Task[None] | None = None

    def grow(self, channel: str, chat: str, request: str) -> OnTokens:
        """Make what tells of one answer."""

        def tell(at: int, text: str, logprobs: tuple[TokenLogprob, ...] | None) -> None:
            self._tell(channel, TokenChunk(chat=chat, request=request, at=at, text=text, logprobs=logprobs))

        return tell

    def _tell(self, channel: str, piece: TokenChunk) -> None:
        self._untold.setdefault(channel, []).append(piece)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell_all(), name="tell-growth")

    async def _tell_all(self) -> None:
        while self._untold:
            untold, self._untold = self._untold, {}
            async with self._redis.pipeline(transaction=False) as pipeline:
                for channel, pieces in untold.items():
                    for start in range(0, len(pieces), _MAX_CHUNKS):
                        pipeline.publish(channel, _CHUNKS.dump_json(pieces[start : start + _MAX_CHUNKS]))
                try:
                    await pipeline.execute()
                except RedisError as error:  # whoever does not hear of it reads the recorded response
                    log.warning("growing texts are not told: %s", error)


async def subscribe(redis: Redis, channel: str) -> AsyncIterator[Sequence[TokenChunk]]:
    """Yield what is told on a channel from now on, and nothing whenever it is listened to anew. Raises RedisError."""
    async with aclosing(redis.pubsub()) as listening:
        await listening.subscribe(channel)
        while True:
            message = await listening.get_message(timeout=_WAIT_SECONDS)
            if message is not None:
                yield _read(message["data"]) if message["type"] == "message" else ()


def _read(data: bytes) -> Sequence[TokenChunk]:
    try:
        # The scripts tell of one chat alone, without a list.
        return _CHUNKS.validate_json(data if data.startswith(b"[") else b"[" + data + b"]")
    except ValidationError:  # of a worker of another release; the recorded response will do
        return ()
