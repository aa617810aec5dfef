"""Builds the checkpoints that come as code, on first use."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from workers.checkpoints.qwen3_vl import write_qwen3_vl
from workers.errors import CheckpointUnknownError

PREFIX = "built-in:"
_RECIPES: dict[str, Callable[[Path, int], None]] = {"qwen3-vl": write_qwen3_vl}
_VERSION = 1  # of the recipes: another version is another folder


def ensure_checkpoint(weights: str, folder: Path, *, seed: int = 0) -> Path:
    """Return the checkpoint that `weights` (`built-in:NAME`) means, building it in `folder` when it is not there.

    Atomic: processes that build at the same time end up with one and the same folder. Raises CheckpointUnknownError.
    """
    name = weights.removeprefix(PREFIX)
    if name not in _RECIPES:
        raise CheckpointUnknownError(
            f"'{weights}' is not built in; there is: {', '.join(PREFIX + n for n in _RECIPES)}"
        )
    checkpoint = folder / f"{name}-v{_VERSION}-seed{seed}"
    if not checkpoint.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{checkpoint.name}-", dir=folder))
        try:
            _RECIPES[name](draft, seed)
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
