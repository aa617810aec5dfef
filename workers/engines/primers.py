"""Asks for what prompts begin with before the prompts themselves, where a prefix is found again only at a prompt's end.

vLLM 0.32 keeps a state of linear attention only where a prompt ended, or where a second prompt was found to part from a
first (config/cache.py, `prefix_cache_retention_interval`; v1/core/sched/scheduler.py, `_mamba_block_aligned_split`). So
the first two questions about a picture would both prefill it, and so would all that are asked at once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import takewhile

from workers.engines.engine import Message, PromptRaster

_MOST_KNOWN = 10_000
_Key = tuple[str, ...]
Ask = Callable[[Sequence[Message], int], Awaitable[int]]
"""Prefills a chat up to the end of its last view, at a priority; returns how many tokens others will find of it."""


class Primers:
    """The beginnings that an engine was asked for, each once however many chats begin with it."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asked: OrderedDict[_Key, asyncio.Task[int]] = OrderedDict()
        self.count = 0
        """How many were asked for."""

    async def prime(self, chat: Sequence[Message], priority: int) -> int:
        """Return, when the engine has what `chat` begins with, how many tokens it will find; 0 without views.

        Raises what asking raises.
        """
        found = 0
        for beginning in beginnings(chat):
            # Shielded: other chats may wait for the same one when this chat is cancelled.
            found = await asyncio.shield(self._once(beginning, priority))
        return found

    def forget(self, chat: Sequence[Message]) -> None:
        """Ask anew next time: the engine had no room to keep what `chat` begins with."""
        for beginning in beginnings(chat):
            self._asked.pop(_key(beginning), None)

    def forget_all(self) -> None:
        """Ask anew for everything: the engine lost its caches."""
        self._asked.clear()

    def _once(self, beginning: Sequence[Message], priority: int) -> "asyncio.Task[int]":
        key = _key(beginning)
        if key not in self._asked:
            self.count += 1
            self._asked[key] = asyncio.ensure_future(self._ask(beginning, priority))
            self._asked[key].add_done_callback(lambda task: self._drop_failed(key, task))
        self._asked.move_to_end(key)
        while len(self._asked) > _MOST_KNOWN:
            self._asked.popitem(last=False)
        return self._asked[key]

    def _drop_failed(self, key: _Key, task: "asyncio.Task[int]") -> None:
        if (task.cancelled() or task.exception()) and self._asked.get(key) is task:
            del self._asked[key]


def beginnings(chat: Sequence[Message]) -> Iterator[list[Message]]:
    """What `chat` shares with others, as chats of their own: up to its first view, and up to its last leading one.

    Every further beginning would cost a state of its own, and few chats part between these two.
    """
    head = list(takewhile(lambda message: message.role == "system", chat))
    leading = tuple(takewhile(lambda part: isinstance(part, PromptRaster), chat[len(head)].parts))
    for number in sorted({1, len(leading)} if leading else ()):
        yield [*head, Message("user", (*leading[:number], "."))]


def _key(beginning: Sequence[Message]) -> _Key:
    return tuple(part if isinstance(part, str) else part.key for message in beginning for part in message.parts)
