"""Builds a small checkpoint of every family, laid out as the published ones: the product's own, and those of tests."""

from collections.abc import Mapping
from pathlib import Path

from gigavqa.workers.checkpoints import build
from gigavqa.workers.checkpoints.writing import CheckpointDesign
from tests.checkpoints.deepseek_vl2 import DEEPSEEK_VL2
from tests.checkpoints.gemma4 import GEMMA4
from tests.checkpoints.glm4v import GLM4V
from tests.checkpoints.internvl import INTERNVL_CHAT, INTERNVL_HF
from tests.checkpoints.kimi_vl import KIMI_VL
from tests.checkpoints.minicpmv import MINICPM_V
from tests.checkpoints.phi4 import PHI4_VISION
from tests.checkpoints.qwen2_5_vl import QWEN2_5_VL
from tests.checkpoints.qwen3 import QWEN3
from tests.checkpoints.qwen3_5 import QWEN3_5

DESIGNS: Mapping[str, CheckpointDesign] = {
    **build.DESIGNS,
    "qwen2.5-vl": QWEN2_5_VL,
    "qwen3.5": QWEN3_5,
    "qwen3": QWEN3,
    "internvl3.5-hf": INTERNVL_HF,
    "glm-4.5v": GLM4V,
    "gemma-4": GEMMA4,
    "internvl3.5": INTERNVL_CHAT,
    "kimi-vl": KIMI_VL,
    "deepseek-vl2": DEEPSEEK_VL2,
    "minicpm-v-4.5": MINICPM_V,
    "phi-4-reasoning-vision": PHI4_VISION,
}


def ensure_checkpoint(weights: str, folder: Path, *, seed: int = 0) -> Path:
    """Build the checkpoint of any family in `folder`, unless it is there."""
    return build.ensure_checkpoint(weights, folder, seed=seed, designs=DESIGNS)
