"""Match the names of modules that quantization leaves out, or chooses, with those of a model's layers."""

import fnmatch
import re
from collections.abc import Iterable

_ROOTS = ("model.", "model.language_model.", "language_model.model.", "")
"""What families put before `layers.0.self_attn.q_proj`."""
_VISION = re.compile(r"visual|vision|vit|vpm|resampler|merger|projector|mlp1|connector|aligner|mm_")
_ANY_LAYER = "layers."


class ModuleNames:
    """Names as checkpoints write them: of one module, of all modules below one, a part of many names (`self_attn`), a
    regular expression after `re:`, or a pattern with `*`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        names = tuple(names)
        own = [name for name in names if not _VISION.search(name)]
        self.name_vision = len(own) < len(names)
        patterns = [name for name in own if name.startswith("re:") or "*" in name]
        self._patterns = [re.compile(_expression(name)) for name in patterns]
        plain = [name for name in own if name not in patterns]
        self._below = {name[name.index(_ANY_LAYER) :] for name in plain if _ANY_LAYER in name}
        self._parts = [f".{name}." for name in plain if _ANY_LAYER not in name]

    def share(self, module: str, present: int, layers: int) -> float:
        """Share of the layers in which a module is named, such as `self_attn.q_proj`, which `present` of all have."""
        named = sum(self._has(f"{_ANY_LAYER}{layer}.{module}") for layer in range(layers))
        return min(1.0, named / present)

    def _has(self, name: str) -> bool:
        words = name.split(".")
        return (
            any(".".join(words[:end]) in self._below for end in range(2, len(words) + 1))
            or any(part in f".{name}." for part in self._parts)
            or any(pattern.match(root + name) for pattern in self._patterns for root in _ROOTS)
        )


def _expression(name: str) -> str:
    return name.removeprefix("re:") if name.startswith("re:") else fnmatch.translate(name)
