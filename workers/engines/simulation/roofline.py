"""What a step of an engine costs on a machine: its arithmetic or its memory traffic, whichever takes longer.

Rates are what is reached and not peaks, found from published measurements of vLLM on one H100 (bfloat16):
docs/performance/simulated.md lists them beside what this model says. Floating-point operations are counted over the
weights of matrix products and over attention, from the models' own configurations.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Self


@dataclass(frozen=True)
class GpuSpec:
    """One GPU, or several that share every product evenly. Operations and bytes are per second."""

    linear_flops: float
    """Of matrix products with weights, and of attention in the language model."""
    encoder_attention_flops: float
    bandwidth: float
    step_seconds: float = 0.002
    """The CPU's part of a step. It runs beside the GPU's part of the step before (vLLM's asynchronous scheduling)."""
    encoder_seconds: float = 0.008
    """The least that a run of the vision encoder takes, however small its pictures."""

    def times(self, gpus: int) -> "GpuSpec":
        """So many of it, as if dividing the work cost nothing."""
        rates = (self.linear_flops, self.encoder_attention_flops, self.bandwidth)
        linear, encoder, bandwidth = (gpus * rate for rate in rates)
        return replace(self, linear_flops=linear, encoder_attention_flops=encoder, bandwidth=bandwidth)


@dataclass(frozen=True)
class ModelCost:
    """What a model costs. Operations of attention over c tokens for n new ones are `attention` * n * (c - n/2)."""

    parameters: float
    """Of matrix products that every token passes."""
    weight_bytes: float
    """Read in each step."""
    attention: float
    kv_bytes: int
    """Of one token."""
    kv_tokens: int
    """What the KV cache of one GPU of 80 GB holds, with `gpu_memory_utilization` 0.92."""
    block_tokens: int = 16
    match_tokens: int = 16
    """What a prefix is found again in, at most a block: vLLM's `prefix_match_unit`."""
    embedding_bytes: int = 32_768
    """What the vision encoder makes of one visual token, in the cache of embeddings."""
    state_bytes: int = 0
    """Recurrent state of one sequence. A model that has it finds a cached prefix only where a state was kept."""
    encoder_linear: float = 3.29e9
    encoder_attention: float = 1.99e6
    """Operations of the vision encoder for a picture of v visual tokens are linear * v + attention * v**2."""

    @property
    def state_blocks(self) -> int:
        """Blocks of the KV cache that one recurrent state takes."""
        return ceil(self.state_bytes / (self.block_tokens * self.kv_bytes))


MEMORY_BYTES = 80 * 10**9
"""Of a GPU, as it is sold."""
GPU_SPECS = {"h100": GpuSpec(linear_flops=5.45e14, encoder_attention_flops=4.45e14, bandwidth=2.3e12)}
"""By name. H100 SXM: peaks are 989 TFLOP/s and 3.35 TB/s (NVIDIA's data sheet)."""

MODEL_COSTS = {
    "8b": ModelCost(6.95e9, 15.1e9, 5.9e5, kv_bytes=147_456, kv_tokens=350_000),
    "27b": ModelCost(
        24.35e9,
        51.2e9,
        3.93e5,
        kv_bytes=65_536,
        kv_tokens=250_000,
        block_tokens=784,
        embedding_bytes=10_240,
        state_bytes=151_000_000,
    ),
    "9b": ModelCost(
        6.92e9, 15.9e9, 1.31e5, kv_bytes=32_768, kv_tokens=1_500_000, block_tokens=528, state_bytes=50_300_000
    ),
    "14b": ModelCost(13.2e9, 28.0e9, 8.19e5, kv_bytes=163_840, kv_tokens=250_000),
    "32b": ModelCost(31.2e9, 64.0e9, 2.1e6, kv_bytes=262_144, kv_tokens=40_000),
}
"""By size, in bfloat16: Qwen3-VL-8B and Qwen3.5-27B, whose vision encoders are alike (27 layers of 1152, attention over
the whole picture, patches of 16); and Qwen3.5-9B, Qwen3-14B and Qwen3-32B, of which measurements are published. Every
fourth layer of Qwen3.5 has attention, the others a recurrent state (fp32, 128 x 128 a head)."""


@dataclass(frozen=True)
class StepWork:
    """What one step does. `prefill_attention` is the sum of n * (c - n/2) over prompts of n new tokens up to c."""

    prefilled: int = 0
    prefill_attention: float = 0.0
    decoding: int = 0
    context: int = 0
    """Tokens that the decoding sequences look back at, summed: each reads its own, also where a prefix is shared."""
    pictures: tuple[int, ...] = ()
    """Visual tokens of each picture that is encoded."""


@dataclass(frozen=True)
class Roofline:
    """A machine, a model on it, and the bounds of the scheduler. Defaults: Qwen3-VL-8B on one H100."""

    machine: GpuSpec = GPU_SPECS["h100"]
    model: ModelCost = MODEL_COSTS["8b"]
    kv_tokens: int = MODEL_COSTS["8b"].kv_tokens
    batched_tokens: int = 32_768
    """Tokens of one step, as `max_num_batched_tokens`; so many visual tokens are encoded in one step, too."""
    encoder_tokens: int = 32_768
    """Visual tokens whose embeddings are kept; vLLM takes `max_num_batched_tokens`."""
    watermark: float = 0.0
    """Share of the KV cache that prompts which are begun leave to what is cached, as vLLM's `watermark`."""
    sequences: int = 1024
    """Sequences in one step, as `max_num_seqs`."""

    @classmethod
    def of(cls, machine: str, model: str, gpus: int = 1) -> Self:
        """Look a machine and a model up by name, such as "h100" and "27b". Raises KeyError."""
        size = MODEL_COSTS[model]
        return cls(machine=GPU_SPECS[machine].times(gpus), model=size, kv_tokens=gpus * size.kv_tokens)

    def seconds(self, work: StepWork) -> float:
        """Seconds of one step."""
        operations = 2 * self.model.parameters * (work.prefilled + work.decoding)
        operations += self.model.attention * work.prefill_attention
        traffic = self.model.weight_bytes + self.model.kv_bytes * work.context
        traffic += 2 * self.model.state_bytes * work.decoding
        language = max(operations / self.machine.linear_flops, traffic / self.machine.bandwidth)
        is_idle = not (work.prefilled or work.decoding)
        return max(self.encoder_seconds(work.pictures) + (0.0 if is_idle else language), self.machine.step_seconds)

    def encoder_seconds(self, pictures: tuple[int, ...]) -> float:
        """Seconds of one run of the vision encoder: linear over pictures, and quadratic in the tokens of each."""
        if not pictures:
            return 0.0
        linear = self.model.encoder_linear * sum(pictures) / self.machine.linear_flops
        attention = self.model.encoder_attention * sum(tokens**2 for tokens in pictures)
        return max(linear + attention / self.machine.encoder_attention_flops, self.machine.encoder_seconds)
