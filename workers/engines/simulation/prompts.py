"""Prompts of the simulated engine: how many tokens they have, and which of them it was given before."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache

from gigavqa.workers.engines.engine import Message, PromptRaster

_TOKEN = re.compile(r"\s*\S{1,4}")
VisualTokens = Callable[[PromptRaster], int]


def split_tokens(text: str) -> list[str]:
    """Cut a text into tokens, reckoned: four letters, or a shorter word. White space at its end is none."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=1024)
def _count_tokens(text: str) -> int:
    return len(split_tokens(text))


class PromptPrefixes:
    """The beginnings of a prompt, each up to the end of a part of a message: a name of all that is in it, its tokens.

    A message begins with a token that tells its role. Salts are no part of the names.
    """

    def __init__(self, visual_tokens: VisualTokens) -> None:
        self.found: list[tuple[bytes, int]] = []
        self.tokens = 0
        self._visual_tokens = visual_tokens
        self._digest = hashlib.blake2b(digest_size=16)

    @property
    def name(self) -> bytes:
        """Of all that was added."""
        return self._digest.digest()

    @property
    def asked_tokens(self) -> int:
        """With the token behind all that tells the role of the answer."""
        return self.tokens + 1

    def add(self, message: Message) -> None:
        """Append a message."""
        self._advance(message.role, 1)
        for part in message.parts:
            if isinstance(part, str):
                self._advance(f"text {part}", _count_tokens(part))
            else:
                self._advance(f"raster {part.key}", self._visual_tokens(part))
            self.found.append((self.name, self.tokens))

    def _advance(self, content: str, tokens: int) -> None:
        added = content.encode("utf-8", "surrogatepass")
        self._digest.update(len(added).to_bytes(8, "big") + added)
        self.tokens += tokens


class SeenKeys:
    """The keys that were seen last, so many at most."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._keys: OrderedDict[Hashable, None] = OrderedDict()

    def see(self, key: Hashable) -> bool:
        """Return whether a key is among them; from now on it is."""
        is_known = key in self._keys
        self._keys[key] = None
        self._keys.move_to_end(key)
        if len(self._keys) > self._most:
            self._keys.popitem(last=False)
        return is_known
