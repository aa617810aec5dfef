"""Admit as many chats as an engine has room for at once, where more of them would put out each other's prefixes."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from gigavqa.catalogue.entry import CatalogueEntry

_CHAT_SHARE = 0.75  # more chats would put out each other's states: decision 0008
"""Of a view of the largest size: what the states and texts of a chat's turns take."""


class ChatSlots:
    """Room for chats in a KV cache of so many `tokens`: each takes `chat_tokens`, and every view is there once.

    First come, first served. One chat has room whatever it shows.
    """

    def __init__(self, tokens: int, chat_tokens: int) -> None:
        self._tokens = tokens
        self._chat_tokens = chat_tokens
        self._chats = 0
        self._showing: Counter[str] = Counter()
        self._views: dict[str, int] = {}
        self._entrance = asyncio.Lock()
        self._left = asyncio.Event()

    @asynccontextmanager
    async def hold(self, views: Mapping[str, int]) -> AsyncIterator[None]:
        """Wait for room for a chat that shows views of these keys, of so many visual tokens each, and hold it."""
        async with self._entrance:
            while not self._has_room(views):
                self._left.clear()
                await self._left.wait()
            self._chats += 1
            self._showing.update(views.keys())
            self._views.update(views)
        try:
            yield
        finally:
            self._chats -= 1
            self._showing.subtract(views.keys())
            for key in views:
                if not self._showing[key]:
                    del self._showing[key], self._views[key]
            self._left.set()

    def _has_room(self, views: Mapping[str, int]) -> bool:
        shown = sum({**self._views, **views}.values())
        return not self._chats or shown + (self._chats + 1) * self._chat_tokens <= self._tokens


def chat_slots(entry: CatalogueEntry, kv_tokens: int) -> ChatSlots | None:
    """Return the places of an engine with a KV cache of so many tokens; None where the family needs no bound.

    Recurrent states take whole blocks, several for each sequence and for each prefix that is to be found again. With
    as many chats as fit, states of chats between two turns, and of views, are gone before they are asked for:
    docs/decisions/0008-engine.md has the figures.
    """
    family = entry.known_family
    if family is None or not family.linear_attention:
        return None
    return ChatSlots(kv_tokens, int(_CHAT_SHARE * entry.visual_budget.max_visual_tokens))
