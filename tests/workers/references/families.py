"""Which reference a family has."""

from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from tests.workers.references.deepseek_vl2 import DeepseekVL2Reference
from tests.workers.references.internvl_chat import InternVLChatReference
from tests.workers.references.kimi_vl import KimiVLReference
from tests.workers.references.minicpmv import MiniCPMVReference
from tests.workers.references.phi4 import Phi4Reference
from tests.workers.references.reference import Reference, TransformersReference

_COMPOSED = {
    "deepseek-vl2": DeepseekVL2Reference,
    "internvl3.5-chat": InternVLChatReference,
    "kimi-vl": KimiVLReference,
    "minicpm-v-4.5": MiniCPMVReference,
    "phi-4-vision": Phi4Reference,
}


def reference_of(entry: CatalogueEntry, checkpoint: Path) -> Reference:
    """The reference with the weights of a small checkpoint, as the entry has it served."""
    composed = _COMPOSED.get(entry.family or "")
    return composed(checkpoint) if composed else TransformersReference(checkpoint, entry.engine.get("hf_overrides", {}))
