"""Embeddings of pictures, kept within a budget of visual tokens."""

from collections import OrderedDict


class EncoderCache:
    """As vLLM's (vllm/v1/core/encoder_cache_manager.py): what no sequence needs goes first, oldest first."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._holders: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        self._idle: OrderedDict[str, None] = OrderedDict()
        self._used = 0

    def __contains__(self, key: str) -> bool:
        return key in self._tokens

    def hold(self, key: str) -> None:
        """Keep a cached picture until it is released as often as it was held."""
        self._idle.pop(key, None)
        self._holders[key] = self._holders.get(key, 0) + 1

    def make_room(self, tokens: int) -> bool:
        """Evict what nobody holds until so many tokens fit; False, and nothing evicted, where they cannot.

        A picture larger than the whole cache fits when nothing is held.
        """
        held = self._used - sum(self._tokens[key] for key in self._idle)
        if held and held + tokens > self.capacity:
            return False
        while self._idle and self._used + tokens > self.capacity:
            key, _ = self._idle.popitem(last=False)
            self._used -= self._tokens.pop(key)
        return True

    def add(self, key: str, tokens: int) -> None:
        """Cache a picture for which there is room, and hold it."""
        self._tokens[key] = tokens
        self._used += tokens
        self.hold(key)

    def release(self, key: str) -> None:
        """Let a picture go; it stays until its room is needed."""
        self._holders[key] -= 1
        if not self._holders[key]:
            del self._holders[key]
            self._idle[key] = None
