"""A logits processor of vLLM that dictates: an answer drawn with a certain seed is the one that a file holds for it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from tests.workers.family_play import DICTATION


class Dictation(LogitsProcessor):
    """Allows each dictated request its next dictated token alone, and everything after the last one."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        file = Path(vllm_config.model_config.model) / DICTATION
        self._scripts = json.loads(file.read_text()) if file.exists() else {}
        self._dictated: dict[int, tuple[list[int], Sequence[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        """It is what it is for to change the likeliest token."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow requests through the batch."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._dictated.pop(index, None)
        for index, params, _, written in batch_update.added:
            self._dictated.pop(index, None)
            if str(params.seed) in self._scripts:
                self._dictated[index] = (self._scripts[str(params.seed)], written)
        for source, target, direction in batch_update.moved:
            moved, replaced = self._dictated.pop(source, None), self._dictated.pop(target, None)
            if moved is not None:
                self._dictated[target] = moved
            if direction is MoveDirectionality.SWAP and replaced is not None:
                self._dictated[source] = replaced

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Leave one token possible in the row of each dictated request."""
        for index, (script, written) in self._dictated.items():
            if len(written) < len(script):
                token = script[len(written)]
                value = logits[index, token].clone()
                logits[index] = float("-inf")
                logits[index, token] = value
        return logits
