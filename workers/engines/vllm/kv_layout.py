"""Lay out a model's KV cache as vLLM 0.32 does it: blocks of one size for all layers, in groups of equally many layers
(v1/core/kv_cache_utils.py, `unify_kv_cache_spec_page_size` and `_get_kv_cache_groups_uniform_page_size`).
"""

import math
from dataclasses import dataclass

from gigavqa.catalogue.shapes import LanguageShape

_BLOCK = 16
_IN_FLIGHT_STEPS = 2
"""Steps of the scheduler at once, whose tokens windows keep (`max_concurrent_batches`)."""
_STATE_COPIES = 2
"""States of a running sequence in each layer of linear attention (MambaSpec in mode `align`)."""
_FEW_MORE = 1.5
"""Below so many times as many layers of one kind as of another, groups are as large as the larger number."""


@dataclass(frozen=True)
class KvLayout:
    """What one GPU's KV cache holds, in bytes: of a token in all layers that see everything, and in all that see a
    window; of the states of one sequence in all layers of linear attention. Layers that vLLM adds to fill its groups
    are among them. Blocks have `block` tokens, and `window_block` where layers see a window.
    """

    full_token: int
    window_token: int = 0
    window: int = 0
    states: int = 0
    block: int = _BLOCK
    window_block: int = _BLOCK

    def request_bytes(self, tokens: int, batched: int) -> int:
        """Bytes of one running sequence of so many tokens, as vLLM reserves them: a window begins inside of a block."""
        kept = min(tokens, self.window - 1 + _IN_FLIGHT_STEPS * batched)
        near = (_whole(kept, self.window_block) + self.window_block) * self.window_token if self.window else 0
        return _whole(tokens, self.block) * self.full_token + near + _STATE_COPIES * self.states

    def kept_bytes(self, tokens: int) -> int:
        """Bytes of a prefix that is kept to be found again: windows keep every token, and a state its end."""
        full, near = _whole(tokens, self.block), _whole(tokens, self.window_block)
        return full * self.full_token + near * self.window_token + self.states


def kv_layout(language: LanguageShape, number: int, itemsize: float, dtype_size: int = 2) -> KvLayout:
    """Return what a token takes of the KV cache of each of `number` GPUs; heads are divided, latent vectors are not.

    Keys and values have `itemsize` bytes, and what the model computes with `dtype_size`.
    """
    if mla := language.latent:
        return KvLayout(math.ceil(mla.layers * mla.token_bytes(itemsize)))
    tokens = {part.window: part.token_bytes(number, itemsize) for part in language.attention}
    largest = max(tokens.values())
    blocks = {
        window: _BLOCK * round(largest / token) if _divides(token, largest) else _BLOCK
        for window, token in tokens.items()
    }
    costs = {window: largest * _BLOCK / blocks[window] for window in tokens}  # a page that does not divide is padded
    rec = language.recurrent
    padded = _padded([part.layers for part in language.attention] + ([rec.layers] if rec else []))
    layers = {part.window: count for part, count in zip(language.attention, padded, strict=False)}
    states, block = 0, blocks.get(None, _BLOCK)
    if rec:
        channels = 2 * rec.key_heads * rec.key + rec.value_heads * rec.value
        state = (rec.value_heads * rec.key * rec.value * 4 + channels * (rec.kernel - 1) * dtype_size) // number
        block = math.ceil(state / largest / _BLOCK) * _BLOCK  # vLLM makes a block as large as a state
        states = math.ceil(padded[-1] * block * largest)
    window = next((each for each in tokens if each is not None), None)
    return KvLayout(
        full_token=math.ceil(layers.get(None, 0) * costs.get(None, 0)),
        window_token=math.ceil(layers[window] * costs[window]) if window else 0,
        window=window or 0,
        states=states,
        block=block,
        window_block=blocks.get(window, _BLOCK),
    )


def _padded(kinds: list[int]) -> list[int]:
    """Numbers of layers of each kind, filled up to groups of one size."""
    least, most = min(kinds), max(kinds)
    size = most if most < least * _FEW_MORE else least
    return [-(-layers // size) * size for layers in kinds]


def _divides(token: float, largest: float) -> bool:
    return not largest % token


def _whole(tokens: int, block: int) -> int:
    return -(-tokens // block) * block
