"""vLLM's worker on a CPU, able to prefill prompts of seeded requests in parts. Imported by the engine's own process.

A part of a prompt that is not its last draws a token that is thrown away. vLLM 0.32 then sets the request's generator
back by an offset, which generators of a CPU do not have (v1/worker/gpu_model_runner.py, `_bookkeeping_sync`), and dies.
"""

from typing import Any

import numpy as np
import torch
from vllm.v1.worker import cpu_worker


class SeedRestoringModelRunner(cpu_worker.CPUModelRunner):  # type: ignore[misc]
    """Sets generators back to the state that they had before a draw that is thrown away."""

    def _sample(self, *arguments: Any, **named: Any) -> Any:
        generators = self.input_batch.generators
        before = {index: generators[index].get_state() for index in self._undrawn()}
        output = super()._sample(*arguments, **named)
        for index, state in before.items():
            generators[index].set_state(state)
        return output

    def _bookkeeping_sync(self, *arguments: Any, **named: Any) -> Any:
        generators = self.input_batch.generators
        hidden = {index: generators.pop(index) for index in self._undrawn()}
        try:
            return super()._bookkeeping_sync(*arguments, **named)
        finally:
            generators.update(hidden)

    def _undrawn(self) -> list[int]:
        """Numbers of the seeded requests whose prompts this step does not finish."""
        batch = self.input_batch
        discarded = np.nonzero(self.discard_request_mask.np[: batch.num_reqs])[0]
        return [int(index) for index in discarded if int(index) in batch.generators]


class CPUWorker(cpu_worker.CPUWorker):  # type: ignore[misc]
    """vLLM's own, with that model runner."""

    def init_device(self) -> None:
        super().init_device()
        if not self.use_v2_model_runner:
            self.model_runner = SeedRestoringModelRunner(self.vllm_config, torch.device("cpu"))
