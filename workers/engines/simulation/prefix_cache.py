"""What prompts find again of those before them, and what they leave: blocks of the KV cache, and recurrent states.

After vLLM 0.32 (vllm/v1/core/kv_cache_coordinator.py, single_type_kv_cache_manager.py and `_mamba_block_aligned_split`
of v1/core/sched/scheduler.py): a prefix is found in units of `match_tokens`, which may be a fraction of a block
(`prefix_match_unit`). Of a block that is not full only the last unit of a prompt is named.
"""

from dataclasses import dataclass, field
from math import ceil

from gigavqa.workers.engines.simulation.kv_pool import KvPool
from gigavqa.workers.engines.simulation.prompts import SimulatedPrompt, count_tokens
from gigavqa.workers.engines.simulation.roofline import Roofline


@dataclass
class SequenceBlocks:
    """What a running sequence holds of the KV cache, and where it has to stop."""

    found: int = 0
    """Tokens that were there."""
    names: list[int] = field(default_factory=list)
    unnamed: int = 0
    """Reserved blocks without a name."""
    seen: int = 0
    """Blocks of the prompt that are named, or never will be."""
    stops: list[int] = field(default_factory=list)
    """Tokens at which a step ends, since a recurrent state is to be kept there or lies there in a block."""
    states: list[int] = field(default_factory=list)
    """Those of them, in units, at which it is to be kept."""


class PrefixCache:
    """The KV cache of one engine, with the recurrent states in it."""

    def __init__(self, roofline: Roofline) -> None:
        model = roofline.model
        self._block = model.block_tokens
        self._unit = model.match_tokens
        self._scale = model.block_tokens // model.match_tokens
        self._state = model.state_blocks
        # A recurrent state is named by the negative of the unit that it follows.
        self._pool = KvPool(roofline.kv_tokens // self._block, lambda name: 1 if name >= 0 else self._state)
        self._spare = int(roofline.watermark * self._pool.capacity)
        self._fresh: set[int] = set()

    def begin_step(self) -> None:
        """Let the states be found that the last step made."""
        self._fresh.clear()

    def enter(self, prompt: SimulatedPrompt, answer_tokens: int, *, alone: bool) -> SequenceBlocks | None:
        """Hold what is there of a prompt, and room for the rest and its answer; None when something has to end first.

        One that is `alone` gets its room whatever it is. A state of this very step is waited for, as in vLLM.
        """
        shared, found = self._find(prompt)
        units, state = prompt.blocks, self._state and found and -prompt.blocks[found - 1]
        if state in self._fresh:
            return None
        seen = found // self._scale
        names = self._full(units[: seen * self._scale])
        tail = [units[found - 1]] if found % self._scale and units[found - 1] in self._pool else []
        copied = [*tail, *([state] if state else [])]  # into blocks of its own
        blocks = ceil((prompt.tokens + answer_tokens) / self._block) - seen + self._state
        if not alone and not self._pool.fits(blocks + self._spare, [*names, *copied]):
            return None
        self._pool.hold([*names, *copied])
        self._pool.reserve(blocks)
        self._pool.release(copied)
        stops, states = self._stops(prompt, shared, found) if self._state else ([], [])
        return SequenceBlocks(found * self._unit, names, blocks, seen, stops, states)

    def end_of_step(self, prompt: SimulatedPrompt, held: SequenceBlocks, start: int, end: int) -> int:
        """Return where a part of a prompt that could end at `end` does: at whole blocks, and where it has to stop."""
        if not self._state:
            return end
        if end < prompt.tokens:
            end = max(start, end // self._block * self._block)
        return min((stop for stop in held.stops if start < stop < end), default=end)

    def compute(self, prompt: SimulatedPrompt, held: SequenceBlocks, end: int) -> None:
        """Name what a prompt has up to `end`, the moment that it is scheduled: sequences of one step share blocks."""
        units = prompt.blocks
        full = end // self._block
        self._name(held, self._full(units[held.seen * self._scale : full * self._scale]))
        held.seen = max(held.seen, full)
        last = (prompt.tokens - 1) // self._unit
        if held.states and held.states[0] * self._unit <= end:
            self._keep(-units[held.states.pop(0) - 1])
        if self._state and last % self._scale and last * self._unit <= end:
            self._name(held, [units[last - 1]])
            if end > last * self._unit:
                self._fresh.add(-units[last - 1])  # it is copied, since what follows changes the block that it lies in

    def leave(self, prompt: SimulatedPrompt, held: SequenceBlocks, said: str = "") -> None:
        """Let go of everything; what is named stays until its room is needed, and so does what was `said`."""
        if prompt.tokens % self._block + count_tokens(said) >= self._block:
            self._pool.reserve(1)  # the block that ends in the answer may have a name already, and then has two
            held.unnamed += 1
            self._name(held, self._full(prompt.followed_by(said).blocks)[held.seen :])
        self._pool.free(held.unnamed)
        self._pool.release(held.names)

    def _find(self, prompt: SimulatedPrompt) -> tuple[int, int]:
        """Units of a prompt that are cached, and units behind which a state is as well; all but the last token."""
        units, most = prompt.blocks, (prompt.tokens - 1) // self._unit
        full = self._pool.count_prefix(self._full(units), most // self._scale) * self._scale
        inside = range(min(full + self._scale - 1, most), full, -1)
        shared = next((end for end in inside if units[end - 1] in self._pool), full)
        if not self._state:
            return shared, shared
        return shared, next((end for end in range(shared, 0, -1) if -units[end - 1] in self._pool), 0)

    def _stops(self, prompt: SimulatedPrompt, shared: int, found: int) -> tuple[list[int], list[int]]:
        """Return where steps end, in tokens, and where states are kept, in units.

        As vLLM does with `prefix_cache_retention_interval` 0, its default: at the prompt's last block and its last
        unit, and at the last whole block that another prompt shared.
        """
        last = (prompt.tokens - 1) // self._unit
        ends = {last, last // self._scale * self._scale, shared // self._scale * self._scale}
        states = sorted(end for end in ends if end > found)
        onto_block = [ceil(found / self._scale) * self._scale] if found % self._scale else []
        return [end * self._unit for end in [*onto_block, *states]], states

    def _keep(self, state: int) -> None:
        self._fresh.add(state)
        if state not in self._pool and self._pool.fits(self._state, ()):
            self._pool.reserve(self._state)
            self._pool.release(self._pool.name([state]))

    def _name(self, held: SequenceBlocks, names: list[int]) -> None:
        named = self._pool.name(names)
        held.names.extend(named)
        held.unnamed -= len(named)

    def _full(self, units: list[int]) -> list[int]:
        """Names of the whole blocks in these units."""
        return units[self._scale - 1 :: self._scale]
