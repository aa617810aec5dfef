"""Asks for what prompts begin with before the prompts themselves, where all that come together would prefill it.

vLLM 0.32 looks for a prompt's prefix once, when it first schedules a part of it (v1/core/sched/scheduler.py). Prompts
that begin with more views than one step prefills are begun before the views of the first are computed, and go on beside
it. And it keeps a state of linear attention only where a prompt ended, or where a second prompt was found to part from
a first (config/cache.py, `prefix_cache_retention_interval`; `_mamba_block_aligned_split` of the scheduler). So the
first two questions about a picture would both prefill it, and so would all that are asked at once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, Self

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.engine import Message, PromptRaster, with_cache_salt

_MAX_PREFIXES = 10_000
_RENEWAL_PROMPTS = 4  # idle states are put out: decision 0008
"""Prompts; each of them leaves up to two states, and a cache of 300 blocks has room for some 20 that nobody uses."""
_PrefixKey = tuple[str, ...]
Prefill = Callable[[Sequence[Message], int], Awaitable[int]]
"""Prefills a chat up to the end of its last view, at a priority; returns how many tokens others will find of it."""
IsWorthWarming = Callable[[Sequence[Message]], bool]
"""Whether a beginning is to be asked for by itself."""


class WarmPrefix(NamedTuple):
    """The number of tokens of its prefix that a chat will find, and the priority to ask it at."""

    tokens: int
    priority: int


class _WarmupTask(NamedTuple):
    """The task that asks for a prefix, or did, and the number of prompts before it."""

    task: "asyncio.Task[int]"
    after: int


@dataclass
class _ActivePrefix:
    """A beginning of so many prompts that are being answered."""

    beginning: Sequence[Message]
    priority: int
    prompts: int = 0


class PrefixWarmer:
    """The beginnings that an engine was asked for, each once however many chats wait for it.

    Asking for what is there costs one short step, and tells the cache that it is in use. With `renewed` each chat asks,
    and what prompts begin with that are being answered is asked for every few prompts: only the first turns of chats
    look at a recurrent state of it, and the states that later ones leave would put it out.
    """

    def __init__(self, ask: Prefill, is_worth: IsWorthWarming = lambda _: True, *, renewed: bool = False) -> None:
        self._ask = ask
        self._is_worth = is_worth
        self._renewed = renewed
        self._asked: OrderedDict[_PrefixKey, _WarmupTask] = OrderedDict()
        self._in_use: dict[_PrefixKey, _ActivePrefix] = {}
        self._prompts = 0
        self.count = 0
        """How many were asked for."""

    @classmethod
    def of(cls, entry: CatalogueEntry, batched_tokens: int, ask: Prefill) -> Self:
        """Return the primers of an entry's engine, whose steps prefill so many tokens."""
        family = entry.known_family
        return cls(ask, worth_warming(entry, batched_tokens), renewed=family is not None and family.linear_attention)

    @asynccontextmanager
    async def primed(self, chat: Sequence[Message], priority: int) -> AsyncIterator[WarmPrefix]:
        """Tell, when the engine has what `chat` begins with, how many tokens it will find; 0 if nothing is worth it.

        To be held until the chat is answered. What begins with several views goes right behind its primer: it is
        large, and others would put it out.

        Raises what asking raises.
        """
        self._prompts += 1
        self._ask_again()
        found = 0
        last = asked_at = 2 * priority + 1
        begun = {_prefix_key(beginning): beginning for beginning in filter(self._is_worth, shared_prefixes(chat))}
        for key, beginning in begun.items():
            # Shielded: other chats may wait for the same one when this chat is cancelled.
            found = await asyncio.shield(self._once(key, beginning, last, 1))
            asked_at = last - (len(beginning[-1].rasters) > 1)
        for key, beginning in begun.items():
            self._in_use.setdefault(key, _ActivePrefix(beginning, last)).prompts += 1
        try:
            yield WarmPrefix(found, asked_at)
        finally:
            for key in begun:
                self._in_use[key].prompts -= 1
                if not self._in_use[key].prompts:
                    del self._in_use[key]

    def forget(self, chat: Sequence[Message]) -> None:
        """Ask anew next time: the engine had no room to keep what `chat` begins with."""
        for beginning in shared_prefixes(chat):
            self._asked.pop(_prefix_key(beginning), None)

    def forget_all(self) -> None:
        """Ask anew for everything: the engine lost its caches."""
        self._asked.clear()

    def _ask_again(self) -> None:
        for key, used in self._in_use.items():
            self._once(key, used.beginning, used.priority, _RENEWAL_PROMPTS)

    def _once(self, key: _PrefixKey, beginning: Sequence[Message], priority: int, again: int) -> "asyncio.Task[int]":
        """Ask for a beginning unless that is under way, or was done no more than `again` prompts ago."""
        asked = self._asked.get(key)
        if asked is None or (self._renewed and asked.task.done() and self._prompts - asked.after >= again):
            self.count += 1
            asked = _WarmupTask(asyncio.ensure_future(self._ask(beginning, priority)), self._prompts)
            asked.task.add_done_callback(lambda task: self._drop_failed(key, task))
            self._asked[key] = asked
        self._asked.move_to_end(key)
        while len(self._asked) > _MAX_PREFIXES:
            self._asked.popitem(last=False)
        return asked.task

    def _drop_failed(self, key: _PrefixKey, task: "asyncio.Task[int]") -> None:
        asked = self._asked.get(key)
        if (task.cancelled() or task.exception()) and asked and asked.task is task:
            del self._asked[key]


def worth_warming(entry: CatalogueEntry, batched_tokens: int) -> IsWorthWarming:
    """Return what of the entry's prompts is worth asking for, where a step prefills so many tokens.

    With recurrent states, all that the context holds. Else beginnings of more than half a step: prompts that begin with
    less share the blocks of the step that they are scheduled in.
    """
    family = entry.known_family
    least = 0 if family and family.linear_attention else batched_tokens // 2
    plan = lru_cache(maxsize=4096)(entry.visual_budget.plan)

    def is_worth(beginning: Sequence[Message]) -> bool:
        sizes = [Size(*raster.pixels.shape[1::-1]) for message in beginning for raster in message.rasters]
        return least < sum(plan(size, len(sizes)).visual_tokens for size in sizes) < entry.max_model_len

    return is_worth


def shared_prefixes(chat: Sequence[Message]) -> Iterator[list[Message]]:
    """Yield the prefixes that `chat` shares with others, as chats of their own: up to its first view, and up to its
    last leading one.

    Every further beginning would cost a state of its own, and few chats part between these two.
    """
    head = list(takewhile(lambda message: message.role == "system", chat))
    leading = tuple(takewhile(lambda part: isinstance(part, PromptRaster), chat[len(head)].parts))
    for number in sorted({1, len(leading)} if leading else ()):
        yield with_cache_salt([*head, Message("user", (*leading[:number], "."))], chat[0].salt)


def _prefix_key(beginning: Sequence[Message]) -> _PrefixKey:
    parts = (part if isinstance(part, str) else part.key for message in beginning for part in message.parts)
    return (beginning[0].salt, *parts)
