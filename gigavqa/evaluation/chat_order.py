"""The order in which the chats about one picture are asked: those that share work stand beside each other.

A prompt begins with what it shows, so prompts with equal leading views share a prefix, and chats are told in a walk
through the trie of these views. An engine keeps for a while what it encoded, and finds a view again also where it
stands behind others: what shows only the end of longer views comes right before them.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Protocol, TypeVar

from gigavqa.contract.requests import Turn
from gigavqa.tiling.views import View

ORDER_VERSION = 2  # part of a bundle's id: decision 0004
"""Version of the order. It is part of the ids of bundles, since bundles of another order hold other requests."""


class HasTurns(Protocol):
    """A chat, as far as its place depends on it."""

    @property
    def turns(self) -> Sequence[Turn]:
        """Its turns; the first one begins with what the chat shows."""
        ...


_ChatT = TypeVar("_ChatT", bound=HasTurns)
_ViewSequence = tuple[View, ...]
_ChatsByViews = Mapping[_ViewSequence, list[_ChatT]]


def order_chats(chats: Iterable[_ChatT]) -> list[_ChatT]:
    """Return all chats, those with equal leading views as neighbours and the longest chains first among them.

    Of different views, those behind which the longest chain and then the most chats stand go first. Chats that begin
    without a view share no more than text, and go last.
    """
    groups: dict[_ViewSequence, list[_ChatT]] = {}
    for chat in chats:
        groups.setdefault(_leading_views(chat.turns), []).append(chat)
    plain = groups.pop((), [])
    ordered = [
        chat
        for views in _move_suffixes(_visit_depth_first(groups))
        for chat in sorted(groups[views], key=_chain_sort_key)
    ]
    return ordered + sorted(plain, key=_chain_sort_key)


def _leading_views(turns: Sequence[Turn]) -> _ViewSequence:
    views: list[View] = []
    for part in turns[0].parts:
        if isinstance(part, str):
            break
        views.append(part)
    return tuple(views)


def _chain_sort_key(chat: HasTurns) -> tuple[int, int]:
    """Less for more turns that wait for an answer of the model's own, and then for more turns in all."""
    return -sum(turn.given is None for turn in chat.turns), -len(chat.turns)


def _visit_depth_first(groups: _ChatsByViews[_ChatT]) -> list[_ViewSequence]:
    """Return the views of all groups, depth first; what stands below a node of the trie decides when it is visited."""
    numbers = count()
    nodes: dict[
        _ViewSequence, tuple[int, int, int]
    ] = {}  # its longest chain and its chats, both negative, its first chat
    for views, chats in groups.items():
        longest, size, first = min(map(_chain_sort_key, chats))[0], -len(chats), next(numbers)
        for depth in range(1, len(views) + 1):
            known = nodes.get(views[:depth], (0, 0, first))
            nodes[views[:depth]] = min(known[0], longest), known[1] + size, known[2]
    # A node's path is the beginning of those below it, and so goes before them.
    return sorted(groups, key=lambda views: [nodes[views[:depth]] for depth in range(1, len(views) + 1)])


def _move_suffixes(walk: Sequence[_ViewSequence]) -> list[_ViewSequence]:
    """Return the same views, but those that are the end of longer ones stand right before the first of these."""
    known, told = set(walk), dict[_ViewSequence, None]()
    ends = {views[start:] for views in walk for start in range(1, len(views))} & known
    for views in walk:
        if views not in ends:
            told |= dict.fromkeys(views[start:] for start in range(len(views) - 1, 0, -1) if views[start:] in known)
            told[views] = None
    return list(told)
