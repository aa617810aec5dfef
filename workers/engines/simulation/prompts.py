"""A prompt as caches see it: how many tokens, where its pictures lie, and the names of its blocks."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, lru_cache

from gigavqa.workers.engines.engine import Message

_TOKEN = re.compile(r"\s*\S{1,4}")
ROLES = {"system": "<s>", "user": "<u>", "assistant": "<a>"}
"""What stands before a message: one token."""
_NAME_BYTES = 8


@dataclass(frozen=True)
class RasterSpan:
    """A raster's place in a prompt: its key, its first token and how many there are."""

    key: str
    start: int
    tokens: int

    @property
    def end(self) -> int:
        """The first token behind it."""
        return self.start + self.tokens


def split_tokens(text: str) -> list[str]:
    """Cut a text into tokens, reckoned: four letters, or a shorter word."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=1024)
def count_tokens(text: str) -> int:
    """Return how many tokens a text has."""
    return len(split_tokens(text))


def first_tokens(text: str, most: int) -> str:
    """Return the beginning of a text, no longer than so many tokens."""
    found = _token_pattern(most).match(text) if most > 0 else None
    return found.group() if found else ""


class SimulatedPrompt:
    """Grows from its beginning. `blocks` names each full block by all tokens up to its end, as prefix caches do."""

    def __init__(self, block_tokens: int, salt: str = "") -> None:
        self.blocks: list[int] = []
        self.pictures: list[RasterSpan] = []
        self.tokens = 0
        self._block_tokens = block_tokens
        self._parent = _name(0, salt) if salt else 0
        self._open: list[str] = []

    def add_text(self, text: str) -> None:
        """Append the tokens of a text."""
        text, position = text.rstrip(), 0
        while found := _token_pattern(self._room).match(text, position):
            position = found.end()
            self._open.append(found.group())
            self._advance(self._room if position < len(text) else count_tokens(found.group()))

    def add_picture(self, key: str, tokens: int) -> None:
        """Append a raster's visual tokens, each of which is itself alone.

        A whole block inside of a picture is named by counting on from the first, so that a picture of many tokens
        costs no more hashing than a small one.
        """
        self.pictures.append(RasterSpan(key, self.tokens, tokens))
        head = min(tokens, -self.tokens % self._block_tokens)
        whole, tail = divmod(tokens - head, self._block_tokens)
        self._add_part(key, 0, head)
        if whole:
            first = _name(self._parent, f"{key}#{head}")
            self.blocks.extend(range(first, first + whole))
            self._parent = first + whole - 1
            self.tokens += whole * self._block_tokens
        self._add_part(key, tokens - tail, tail)

    def followed_by(self, text: str) -> "SimulatedPrompt":
        """Return a prompt that goes on from this one."""
        longer = copy(self)
        longer.blocks, longer.pictures, longer._open = [*self.blocks], [*self.pictures], [*self._open]
        longer.add_text(text)
        return longer

    @property
    def digest(self) -> int:
        """A number that all tokens together decide."""
        return _name(self._parent, "\0".join(self._open))

    @property
    def _room(self) -> int:
        return self._block_tokens - self.tokens % self._block_tokens

    def _add_part(self, key: str, start: int, tokens: int) -> None:
        if tokens:
            self._open.append(f"{key}#{start}:{start + tokens}")
            self._advance(tokens)

    def _advance(self, tokens: int) -> None:
        self.tokens += tokens
        if self.tokens % self._block_tokens == 0:
            self._parent = self.digest
            self.blocks.append(self._parent)
            self._open = []


def lay_out_prompt(
    chat: Sequence[Message], visual_tokens: Mapping[str, int], block_tokens: int, *, is_answered: bool = True
) -> SimulatedPrompt:
    """Lay out a chat whose rasters, by key, have so many visual tokens; an answer follows, or nothing does."""
    prompt = SimulatedPrompt(block_tokens, chat[0].salt if chat else "")
    for message in chat:
        prompt.add_text(ROLES[message.role])
        for part in message.parts:
            if isinstance(part, str):
                prompt.add_text(part)
            else:
                prompt.add_picture(part.key, visual_tokens[part.key])
    if is_answered:
        prompt.add_text(ROLES["assistant"])
    return prompt


def _name(parent: int, content: str) -> int:
    """Name what follows `parent`. Never negative."""
    digest = hashlib.blake2b(f"{parent}\0{content}".encode(), digest_size=_NAME_BYTES)
    return int.from_bytes(digest.digest(), "big")


@cache
def _token_pattern(tokens: int) -> re.Pattern[str]:
    return re.compile(rf"(?:{_TOKEN.pattern}){{1,{tokens}}}")
