"""Builds a small checkpoint of every family, laid out as the published ones: the product's own, and those of tests."""

from collections.abc import Mapping
from pathlib import Path

from gigavqa.workers.checkpoints import build
from gigavqa.workers.checkpoints.writing import CheckpointDesign
from tests.checkpoints.deepseek_vl2 import DEEPSEEK_VL2
from tests.checkpoints.gemma4 import GEMMA4
from tests.checkpoints.glm4v import GLM4V
from tests.checkpoints.idefics3 import IDEFICS3
from tests.checkpoints.internlm2 import INTERNVL2
from tests.checkpoints.internvl import INTERNVL_CHAT, INTERNVL_HF, INTERNVL_QWEN2
from tests.checkpoints.kimi_vl import KIMI_VL
from tests.checkpoints.llava_onevision import LLAVA_ONEVISION
from tests.checkpoints.minicpmv import MINICPM_O, MINICPM_V
from tests.checkpoints.ovis import OVIS25
from tests.checkpoints.phi4 import PHI4_VISION
from tests.checkpoints.qwen2_vl import QWEN2_5_VL, QWEN2_VL
from tests.checkpoints.qwen3 import QWEN3
from tests.checkpoints.qwen3_5 import QWEN3_5

DESIGNS: Mapping[str, CheckpointDesign] = {
    **build.DESIGNS,
    "qwen2-vl": QWEN2_VL,
    "qwen2.5-vl": QWEN2_5_VL,
    "qwen3.5": QWEN3_5,
    "qwen3": QWEN3,
    "internvl3.5-hf": INTERNVL_HF,
    "glm-4.5v": GLM4V,
    "gemma-4": GEMMA4,
    "internvl3.5": INTERNVL_CHAT,
    "internvl2": INTERNVL2,
    "internvl3": INTERNVL_QWEN2,
    "kimi-vl": KIMI_VL,
    "llava-onevision": LLAVA_ONEVISION,
    "idefics3": IDEFICS3,
    "ovis2.5": OVIS25,
    "deepseek-vl2": DEEPSEEK_VL2,
    "minicpm-o-2.6": MINICPM_O,
    "minicpm-v-4.5": MINICPM_V,
    "phi-4-reasoning-vision": PHI4_VISION,
}


def ensure_checkpoint(weights: str, folder: Path, *, seed: int = 0) -> Path:
    """Build the checkpoint of any family in `folder`, unless it is there."""
    return build.ensure_checkpoint(weights, folder, seed=seed, designs=DESIGNS)
