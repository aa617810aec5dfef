"""Blocks of a KV cache: counted once however many sequences hold them, and kept while there is room when none does."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence


def _one(name: int) -> int:
    return 1


class KvPool:
    """A pool of `capacity` blocks, as vLLM's (vllm/v1/core/block_pool.py): named ones are shared, idle ones evicted.

    The block that was let go longest ago is evicted first, and of one sequence the last block first, so that no block
    is cached without those before it. `size` says how many blocks a name takes.
    """

    def __init__(self, capacity: int, size: Callable[[int], int] = _one) -> None:
        self.capacity = capacity
        self._size = size
        self._holders: dict[int, int] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()
        self._used = 0
        self._num_idle = 0

    @property
    def used(self) -> int:
        """Blocks that sequences hold."""
        return self._used

    def __contains__(self, name: int) -> bool:
        return name in self._holders or name in self._idle

    def count_prefix(self, names: Sequence[int], most: int) -> int:
        """Return how many of the first `most` names are cached before the first one that is not."""
        for number in range(min(most, len(names))):
            if names[number] not in self:
                return number
        return min(most, len(names))

    def fits(self, new: int, names: Iterable[int]) -> bool:
        """Return whether so many new blocks could be held beside these cached ones."""
        idle = sum(self._size(name) for name in names if name in self._idle)
        return self._used + idle + new <= self.capacity

    def reserve(self, blocks: int) -> None:
        """Take blocks without a name; to be returned by `free`, or named."""
        self._used += blocks
        self._evict()

    def free(self, blocks: int) -> None:
        """Return blocks without a name."""
        self._used -= blocks

    def hold(self, names: Iterable[int]) -> None:
        """Hold cached blocks."""
        for name in names:
            if name in self._idle:
                del self._idle[name]
                self._num_idle -= self._size(name)
                self._used += self._size(name)
            self._holders[name] = self._holders.get(name, 0) + 1

    def name(self, names: Iterable[int]) -> list[int]:
        """Name reserved blocks, which makes them findable; returns those that were not cached from elsewhere before.

        The others stay blocks without a name.
        """
        named = [name for name in names if name not in self]
        self._holders.update(dict.fromkeys(named, 1))
        return named

    def release(self, names: Sequence[int]) -> None:
        """Let named blocks go, in the order of their tokens; what nobody else holds is kept until room is needed."""
        for name in reversed(names):
            holders = self._holders[name] - 1
            if holders:
                self._holders[name] = holders
                continue
            del self._holders[name]
            self._idle[name] = None
            self._used -= self._size(name)
            self._num_idle += self._size(name)
        self._evict()

    def _evict(self) -> None:
        while self._idle and self._used + self._num_idle > self.capacity:
            name, _ = self._idle.popitem(last=False)
            self._num_idle -= self._size(name)
