"""Finds the checkpoints of no download: those that come as code are built on first use, others lie in plugins."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gigavqa.catalogue.entry import BUILT_IN_PREFIX
from gigavqa.catalogue.load import plugin_checkpoints
from gigavqa.workers.checkpoints.qwen3_vl import QWEN3_VL
from gigavqa.workers.checkpoints.writing import CheckpointDesign, write_checkpoint
from gigavqa.workers.errors import CheckpointUnknownError

DESIGNS: Mapping[str, CheckpointDesign] = {"qwen3-vl": QWEN3_VL}
"""The checkpoints that come as code, by their names."""
_VERSION = 2  # of the designs: another version is another folder


def ensure_checkpoint(
    weights: str, folder: Path, *, seed: int = 0, designs: Mapping[str, CheckpointDesign] = DESIGNS
) -> Path:
    """Return the checkpoint that `weights` (`built-in:NAME`) means; one of code is built in `folder` on first use.

    Atomic: processes that build at the same time end up with one and the same folder. Raises CheckpointUnknownError.
    """
    name = weights.removeprefix(BUILT_IN_PREFIX)
    if name not in designs:
        trained = plugin_checkpoints()
        if name in trained:
            return trained[name]
        known = ", ".join(BUILT_IN_PREFIX + one for one in (*designs, *trained))
        raise CheckpointUnknownError(f"'{weights}' is not built in; there is: {known}")
    checkpoint = folder / f"{name}-v{_VERSION}-seed{seed}"
    if not checkpoint.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{checkpoint.name}-", dir=folder))
        try:
            write_checkpoint(designs[name], draft, seed)
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
