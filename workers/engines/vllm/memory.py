"""Count what a model takes of GPU memory under vLLM: by its shape and the arguments that a worker starts it with.

vLLM 0.32 gives the KV cache what is left of `gpu_memory_utilization` after weights, the peak of a profile run and what
CUDA itself takes (v1/worker/gpu_worker.py); the peak is estimated here, and the rest is arithmetic: docs/plan.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from gigavqa.catalogue.entry import MIN_ANSWER_TOKENS, CatalogueEntry
from gigavqa.catalogue.errors import CatalogueError
from gigavqa.catalogue.gpus import GPU_CARDS, GpuRequirement
from gigavqa.catalogue.shape_configs import shape_of
from gigavqa.catalogue.shapes import ModelShape, VisionShape
from gigavqa.workers.engines.encoder_cache import encoder_cache_tokens
from gigavqa.workers.engines.vllm.arguments import engine_arguments
from gigavqa.workers.engines.vllm.division import Division, describe_undivided, divide, whole_encoder_share
from gigavqa.workers.engines.vllm.kv_layout import KvLayout, kv_layout

GIB = 1 << 30
_MIB = 1 << 20
_UTILIZATION = 0.92
"""What vLLM takes of a GPU's memory unless an entry says otherwise (config/cache.py)."""
_CONTEXT_BYTES = int(1.2 * GIB)
"""Of CUDA, its libraries and captured graphs on one GPU; assumed."""
_DRIVER_BYTES = int(0.6 * GIB)
"""Of the memory that a driver reports, what CUDA shows nobody: 81,559 MiB are 79.1 GiB there."""
_PEER_BYTES = int(0.6 * GIB)
"""And of NCCL where several GPUs hold a model; assumed."""
_SAMPLED = 256
"""Sequences whose scores the profile run makes (`max_num_seqs` of vLLM)."""
_CACHE_BITS = {"fp8": 8, "int8": 8, "nvfp4": 4.5}
"""Of a number in the KV cache, by the beginning of `kv_cache_dtype`; of four bits with their share of scales."""
_DTYPE_BYTES = {"float32": 4, "float": 4}


@dataclass(frozen=True)
class MemoryFit:
    """What an entry's model takes of each of `number` GPUs, in bytes, and what the KV cache gets; `activations` and
    `context` are estimates, the rest is arithmetic.
    """

    entry: CatalogueEntry
    number: int
    usable: int
    weights: int
    encoder_cache: int
    activations: int
    context: int
    layout: KvLayout
    max_model_len: int
    batched: int
    visual_tokens: int = 0
    """Of its largest picture."""
    division: Division = field(default_factory=Division)

    @property
    def is_divided(self) -> bool:
        """Whether vLLM divides the model among so many GPUs."""
        return not self.division.parts

    @property
    def kv_bytes(self) -> int:
        """What is left for the KV cache; below 0 where not even the weights have room."""
        return self.usable - self.weights - self.encoder_cache - self.activations - self.context

    @property
    def longest_request(self) -> int:
        """Bytes that one request of the whole context takes of the KV cache."""
        return self.layout.request_bytes(self.max_model_len, self.batched)

    @property
    def holds(self) -> bool:
        """Whether vLLM starts: the model is divided, and one request of the whole context has room."""
        return self.is_divided and self.kv_bytes >= self.longest_request

    @property
    def narrowness(self) -> str | None:
        """Say by how little the model fits, where estimates that are half wrong would undo it (docs/plan.md)."""
        spare, estimated = self.kv_bytes - self.longest_request, self.activations + self.context
        if not self.holds or 2 * spare >= estimated:
            return None
        return (
            f"it fits by {spare / GIB:.1f} GiB of each GPU, and what is estimated of it (activations and CUDA context, "
            f"{estimated / GIB:.1f} GiB) has been half wrong: be ready to serve it with a shorter context, or on more"
        )

    @property
    def kv_tokens(self) -> int:
        """The size of the KV cache as vLLM tells it: requests of the whole context that it holds, in tokens."""
        return max(0, int(self.kv_bytes / self.longest_request * self.max_model_len))

    @property
    def longest_context(self) -> int:
        """Tokens of the longest context that has room, in units of 1024; 0 where none has."""
        low, high = 0, self.max_model_len // 1024
        while low < high:
            middle = (low + high + 1) // 2
            has_room = self.layout.request_bytes(middle * 1024, self.batched) <= self.kv_bytes
            low, high = (middle, high) if has_room else (low, middle - 1)
        return low * 1024

    @property
    def useful_context(self) -> int:
        """The longest context that has room, if it holds the largest picture and an answer; else 0."""
        longest = self.longest_context if self.is_divided else 0
        return longest if longest >= self.visual_tokens + MIN_ANSWER_TOKENS else 0

    @property
    def shorter_context(self) -> str:
        """How to serve the model on these GPUs with a shorter context; empty where none is of use."""
        context = self.useful_context
        return f"`{_shorter_context_command(self.entry, context)}` writes an entry that fits" if context else ""

    @property
    def reason(self) -> str:
        """Why the model does not fit."""
        if not self.is_divided:
            return describe_undivided(self.entry.id, self.number, self.division)
        on = f"{self.number} such GPUs" if self.number > 1 else "one such GPU"
        said = f"'{self.entry.id}' does not fit {on}: of {self.usable / GIB:.1f} GiB that vLLM may use of each,"
        if self.kv_bytes < 0:
            taken = (self.usable - self.kv_bytes) / GIB
            return (
                f"{said} {taken:.1f} are taken before there is a KV cache, {self.weights / GIB:.1f} of them by weights"
            )
        return (
            f"{said} {self.kv_bytes / GIB:.1f} GiB are left for the KV cache, and a context of "
            f"{self.max_model_len:,} tokens needs {self.longest_request / GIB:.1f}"
        )

    def lack(self) -> str | None:
        """Say that the model does not fit, and what to do; None where it fits."""
        if self.holds:
            return None
        more = "spread it over more GPUs (engine.tensor_parallel_size of its entry), or take larger ones"
        remedy = (self.shorter_context or more) if self.is_divided else self.division.remedy
        return f"{self.reason}; {remedy}"


def fits(entry: CatalogueEntry, device_bytes: int) -> MemoryFit:
    """Count what the model of `entry` takes of GPUs of `device_bytes` each, over as many of them as it says.

    Raises ShapeUnknownError and CheckpointInvalidError where the model's shape cannot be told.
    """
    shape = shape_of(entry)
    number = entry.tensor_parallel_size
    arguments = engine_arguments(entry, entry.weights, is_cpu=False)
    batched, itemsize = int(arguments["max_num_batched_tokens"]), dtype_bytes(entry)
    embedding = shape.language.hidden * (shape.vision.levels if shape.vision else 1) * itemsize
    kept = max(batched, encoder_cache_tokens(entry, embedding, device_bytes)) if shape.vision else 0
    return MemoryFit(
        entry=entry,
        number=number,
        usable=int(float(arguments.get("gpu_memory_utilization", _UTILIZATION)) * device_bytes),
        weights=_weights_of_each(entry, shape, number, itemsize),
        encoder_cache=kept * embedding,
        activations=_activations(entry, shape, batched, number) * itemsize + _SAMPLED * shape.language.vocabulary * 8,
        context=_CONTEXT_BYTES + (_PEER_BYTES if number > 1 else 0),
        layout=kv_layout(shape.language, number, kv_itemsize(entry, shape), itemsize),
        max_model_len=entry.max_model_len,
        batched=batched,
        visual_tokens=entry.visual_budget.max_visual_tokens if entry.takes_pictures else 0,
        division=divide(entry, shape, number),
    )


def shortage(entry: CatalogueEntry, reported: Sequence[int]) -> str | None:
    """Say that GPUs, each of as many bytes as its driver reports, do not hold `entry`, and what to do; None where they
    do. By the model's shape, else by the GPUs that its entry names; None, too, where neither is known.
    """
    try:
        if not entry.engine.get("pipeline_parallel_size"):  # whose parts of the layers are counted nowhere
            return fits(entry, min(reported) - _DRIVER_BYTES).lack()
    except CatalogueError:
        pass
    command = partial(_shorter_context_command, entry)
    return entry.gpus.lack(entry.id, sum(reported) / _MIB, command) if entry.gpus else None


def _shorter_context_command(entry: CatalogueEntry, tokens: int) -> str:
    # An engine that is measured alone has none of the packages that read settings.
    from gigavqa.catalogue.model_commands import shorter_context_command

    return shorter_context_command(entry, tokens)


def least_gpus(entry: CatalogueEntry) -> GpuRequirement | None:
    """Return the smallest GPUs that hold `entry`, over as many of them as it says; None where none of those known do.

    Raises ShapeUnknownError and CheckpointInvalidError.
    """
    for card in sorted(GPU_CARDS.values(), key=lambda card: card.memory_bytes):
        if (fit := fits(entry, card.memory_bytes)).holds:
            return GpuRequirement(number=fit.number, memory_gib=card.memory_gib)
    return None


def dtype_bytes(entry: CatalogueEntry) -> int:
    """Bytes of a number: two, unless the entry asks for float32."""
    return _DTYPE_BYTES.get(str(entry.engine.get("dtype")), 2)


def kv_itemsize(entry: CatalogueEntry, shape: ModelShape) -> float:
    """Bytes of a number in the KV cache: as the entry says, else as the checkpoint was quantized for."""
    asked = str(entry.engine.get("kv_cache_dtype", "auto"))
    said = _CACHE_BITS.get(asked.partition("_")[0]) if asked != "auto" else None
    if asked == "auto" and shape.quantization:
        said = shape.quantization.cache_bits
    return said / 8 if said else dtype_bytes(entry)


def patches_of(entry: CatalogueEntry, vision: VisionShape) -> int:
    """Patches of the largest picture of an entry, with its thumbnail or padding."""
    budget = entry.visual_budget
    kept = budget.effective_resolution**2 / vision.patch**2
    return math.ceil(kept * budget.max_visual_tokens / budget.nominal_visual_tokens)


def _weights_of_each(entry: CatalogueEntry, shape: ModelShape, number: int, itemsize: int) -> int:
    whole = shape.vision_bytes(itemsize) * whole_encoder_share(entry, shape, number)
    return math.ceil(whole + (shape.weight_bytes(itemsize) - whole) / number)


def _activations(entry: CatalogueEntry, shape: ModelShape, batched: int, number: int) -> int:
    """Numbers that the profile run holds at its peak: of a step of the language model, or of the encoder's batch."""
    language = shape.language
    heads = sum(3 * part.heads * part.head for part in language.attention[:1]) // number
    experts = language.active * (language.hidden + 3 * language.expert_intermediate // number)
    inner = 3 * (language.intermediate if language.dense_layers else language.shared) // number
    step = batched * (4 * language.hidden + max(heads, inner) + experts)
    if shape.vision is None:
        return step
    vision = shape.vision
    at_once = max(1, batched // entry.visual_budget.max_visual_tokens)
    pixels = 3 * vision.patch**2
    patch = 5 * vision.hidden + vision.intermediate * (vision.matrices - 1) + 3 * pixels
    return max(step, at_once * patches_of(entry, vision) * patch)
