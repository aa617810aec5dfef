"""Builds the checkpoints that come as code, on first use."""

import os
import shutil
import tempfile
from pathlib import Path

from workers.checkpoints.deepseek_vl2 import DEEPSEEK_VL2
from workers.checkpoints.gemma4 import GEMMA4
from workers.checkpoints.glm4v import GLM4V
from workers.checkpoints.internvl import INTERNVL_CHAT, INTERNVL_HF
from workers.checkpoints.kimi_vl import KIMI_VL
from workers.checkpoints.minicpmv import MINICPM_V
from workers.checkpoints.phi4 import PHI4_VISION
from workers.checkpoints.qwen2_5_vl import QWEN2_5_VL
from workers.checkpoints.qwen3_5 import QWEN3_5
from workers.checkpoints.qwen3_vl import QWEN3_VL
from workers.checkpoints.writing import Design, write_checkpoint
from workers.errors import CheckpointUnknownError

PREFIX = "built-in:"
_DESIGNS: dict[str, Design] = {
    "qwen3-vl": QWEN3_VL,
    "qwen2.5-vl": QWEN2_5_VL,
    "qwen3.5": QWEN3_5,
    "internvl3.5-hf": INTERNVL_HF,
    "glm-4.5v": GLM4V,
    "gemma-4": GEMMA4,
    "internvl3.5": INTERNVL_CHAT,
    "kimi-vl": KIMI_VL,
    "deepseek-vl2": DEEPSEEK_VL2,
    "minicpm-v-4.5": MINICPM_V,
    "phi-4-reasoning-vision": PHI4_VISION,
}
BUILT_IN = tuple(_DESIGNS)
"""Names of the checkpoints that can be built, one for each family."""
_VERSION = 2  # of the designs: another version is another folder


def ensure_checkpoint(weights: str, folder: Path, *, seed: int = 0) -> Path:
    """Return the checkpoint that `weights` (`built-in:NAME`) means, building it in `folder` when it is not there.

    Atomic: processes that build at the same time end up with one and the same folder. Raises CheckpointUnknownError.
    """
    name = weights.removeprefix(PREFIX)
    if name not in _DESIGNS:
        raise CheckpointUnknownError(
            f"'{weights}' is not built in; there is: {', '.join(PREFIX + n for n in _DESIGNS)}"
        )
    checkpoint = folder / f"{name}-v{_VERSION}-seed{seed}"
    if not checkpoint.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{checkpoint.name}-", dir=folder))
        try:
            write_checkpoint(_DESIGNS[name], draft, seed)
            draft.chmod(0o755)
            _publish(draft, checkpoint)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return checkpoint


def _publish(draft: Path, checkpoint: Path) -> None:
    try:
        os.rename(draft, checkpoint)  # noqa: PTH104 - must fail where another process was faster
    except OSError:
        if not checkpoint.exists():
            raise
