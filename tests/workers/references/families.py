"""Which reference a family has."""

from collections.abc import Callable, Mapping
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from tests.workers.references.deepseek_vl2 import DeepseekVL2Reference
from tests.workers.references.internvl_chat import InternVLChatReference
from tests.workers.references.kimi_vl import KimiVLReference
from tests.workers.references.minicpmv import MiniCPMVReference
from tests.workers.references.ovis import OvisReference
from tests.workers.references.phi4 import Phi4Reference
from tests.workers.references.reference import FlatTransformersReference, Reference, TransformersReference

_COMPOSED: Mapping[str, Callable[[Path], Reference]] = {
    "deepseek-vl2": DeepseekVL2Reference,
    "internvl3.5-chat": InternVLChatReference,
    "kimi-vl": KimiVLReference,
    "minicpm-o-2.6": MiniCPMVReference,
    "minicpm-v-4.5": MiniCPMVReference,
    "ovis2.5": OvisReference,
    "phi-4-vision": Phi4Reference,
}

_CROPPED_ALONE = {"llava-onevision"}
"""Families whose processor shows pictures otherwise that come together, and whose engine does not."""


def reference_of(entry: CatalogueEntry, checkpoint: Path) -> Reference:
    """The reference with the weights of a small checkpoint, as the entry has it served."""
    composed = _COMPOSED.get(entry.family or "")
    if composed:
        return composed(checkpoint)
    kind = FlatTransformersReference if entry.family in _CROPPED_ALONE else TransformersReference
    return kind(checkpoint, entry.engine.get("hf_overrides", {}))
