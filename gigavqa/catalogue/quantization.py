"""Read how a checkpoint stores quantized weights: methods, fields and GPUs as vLLM 0.32 knows them
(model_executor/layers/quantization).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gigavqa.catalogue.module_names import ModuleNames
from gigavqa.catalogue.quantization_fields import QuantizationFields

_SCALE_BITS = 16
_BLOCK_SCALE_BITS = 32
_FP8_GPUS, _FP4_GPUS = 89, 100


@dataclass(frozen=True)
class Quantization:
    """How weights are stored: `bits` of each, with its share of scales and zero points.

    vLLM serves it from the compute capability `least` on (80 is 8.0), and computes in this type, not in bfloat16, from
    `native` on; None where weights alone are quantized. `left_out` and `chosen` name modules that are not, or alone
    are; of `is_of_texts` the vision encoder never is. `cache_bits` are those of keys and values, where they are said.
    Weights of a row share scales in groups of `group`, which no GPU holds a part of; 0 where whole rows do.
    """

    title: str
    bits: float
    least: int
    native: int | None = None
    left_out: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    is_of_texts: bool = False
    cache_bits: float | None = None
    group: int = 0

    def share(self, module: str, present: int, layers: int) -> float:
        """Share of the weights of a module that are quantized, which is `present` in so many of all layers."""
        chosen = self._chosen.share(module, present, layers) if self.chosen else 1.0
        return max(0.0, chosen - self._left_out.share(module, present, layers))

    @property
    def has_vision(self) -> bool:
        """Whether the vision encoder is quantized, too; of one that is left out in parts, nothing is taken to be."""
        return not (self.is_of_texts or self.chosen or self._left_out.name_vision)

    @cached_property
    def _left_out(self) -> ModuleNames:
        return ModuleNames(self.left_out)

    @cached_property
    def _chosen(self) -> ModuleNames:
        return ModuleNames(self.chosen)


def read_quantization(values: Any, source: str) -> Quantization | None:
    """Read a quantization_config; None where there is none. Raises CheckpointInvalidError naming file and field."""
    if values is None or values == {}:
        return None
    fields = QuantizationFields({}, source).part(values)
    method = str(fields.values.get("quant_method", "")).lower()
    if reader := _READERS.get(method):
        return reader(fields)
    known = ", ".join(_READERS)
    raise fields.wrong("quant_method", f"is '{method}', which vLLM 0.32 or this count does not know (known: {known})")


def _fp8(fields: QuantizationFields) -> Quantization:
    if fields.values.get("store_dtype"):
        raise fields.wrong("store_dtype", f"is {fields.values['store_dtype']!r}")
    block = fields.values.get("weight_block_size")
    if block is None:
        return Quantization("FP8", 8, 75, _FP8_GPUS, fields.names("ignored_layers", "modules_to_not_convert"))
    if not isinstance(block, list) or len(block) != 2 or not all(type(side) is int and side > 0 for side in block):
        raise fields.wrong("weight_block_size", f"is {block!r}, and no pair of positive whole numbers")
    bits = 8 + _BLOCK_SCALE_BITS / (block[0] * block[1])
    left_out = fields.names("ignored_layers", "modules_to_not_convert")
    return Quantization("FP8", bits, 75, _FP8_GPUS, left_out, group=math.lcm(*block))


def _fbgemm(fields: QuantizationFields) -> Quantization:
    return Quantization("FP8 (FBGEMM)", 8, 80, _FP8_GPUS, fields.names("modules_to_not_convert"))


def _awq(fields: QuantizationFields) -> Quantization:
    bits, group = fields.bits("bits", "w_bit", known=(4,)), fields.group("group_size", "q_group_size")
    left_out, zeros = fields.names("modules_to_not_convert"), bits if fields.values.get("zero_point", True) else 0
    title = f"AWQ, {bits} bits"
    bits_each = bits + _of_group(group, _SCALE_BITS + zeros)
    return Quantization(title, bits_each, 75, None, left_out, is_of_texts=True, group=group)


def _gptq(fields: QuantizationFields) -> Quantization:
    bits, group = fields.bits("bits", known=(4, 8)), fields.group("group_size")
    if fields.values.get("sym", True) is not True:
        raise fields.wrong("sym", f"is {fields.values['sym']!r}, and vLLM 0.32 takes symmetric weights alone")
    rules = fields.values.get("dynamic") or {}
    if any(not str(rule).startswith("-:") for rule in rules):
        raise fields.wrong("dynamic", "gives modules other bits")
    return Quantization(
        f"GPTQ, {bits} bits",
        bits + _of_group(group, _SCALE_BITS + bits),
        60,
        None,
        tuple(f"re:{str(rule).removeprefix('-:')}" for rule in rules) + fields.names("modules_to_not_convert"),
        fields.names("modules_in_block_to_quantize"),
        is_of_texts=True,
        group=group,
    )


def _mxfp4(fields: QuantizationFields) -> Quantization:
    """Experts alone, whatever the checkpoint says: vLLM has no such linear layer."""
    left_out = fields.names("modules_to_not_convert")
    return Quantization("MXFP4, experts alone", 4 + 8 / 32, 80, None, left_out, ("mlp.experts",))


_MODELOPT = {
    "FP8": (8.0, 80, _FP8_GPUS),
    "FP8_PER_CHANNEL_PER_TOKEN": (8.0, 80, _FP8_GPUS),
    "FP8_PB_WO": (8 + _BLOCK_SCALE_BITS / 128**2, 80, None),
    "NVFP4": (4 + 8 / 16, 75, _FP4_GPUS),
    "W4A16_NVFP4": (4 + 8 / 16, 75, None),
    "MXFP8": (8 + 8 / 32, 80, _FP4_GPUS),
}


def _modelopt(fields: QuantizationFields) -> Quantization:
    inner = fields.part(fields.values.get("quantization", fields.values))
    algorithm = str(inner.values.get("quant_algo", "")).upper()
    if algorithm not in _MODELOPT:
        raise fields.wrong("quant_algo", f"is '{algorithm}' (known: {', '.join(_MODELOPT)})")
    bits, least, native = _MODELOPT[algorithm]
    said = (part.values.get(name) for name in ("kv_cache_scheme", "kv_cache_quant_algo") for part in (inner, fields))
    cache_bits = _cache_bits(next(filter(None, said), None))
    left_out = inner.names("ignore", "exclude_modules")
    return Quantization(f"ModelOpt {algorithm}", bits, least, native, left_out, cache_bits=cache_bits)


_TORCHAO = {
    "Int4WeightOnlyConfig": (4, 75, None),
    "Int8WeightOnlyConfig": (8, 75, None),
    "Int8DynamicActivationInt8WeightConfig": (8, 75, 75),
    "Float8WeightOnlyConfig": (8, 75, None),
    "Float8DynamicActivationFloat8WeightConfig": (8, _FP8_GPUS, _FP8_GPUS),
}


def _torchao(fields: QuantizationFields) -> Quantization:
    said = fields.values.get("quant_type")
    default = fields.part(fields.part(said if isinstance(said, dict) else {}).values.get("default") or {})
    name = str(default.values.get("_type", said if isinstance(said, str) else ""))
    if name not in _TORCHAO:
        raise fields.wrong("quant_type", f"is '{name}' (known: {', '.join(_TORCHAO)})")
    bits, least, native = _TORCHAO[name]
    group = fields.part(default.values.get("_data") or {}).number("group_size", default=128) if bits == 4 else 0
    left_out = fields.names("modules_to_not_convert")
    return Quantization(f"TorchAO {name}", bits + _of_group(group, 2 * _SCALE_BITS), least, native, left_out)


def _compressed(fields: QuantizationFields) -> Quantization:
    groups = [fields.part(group) for group in fields.part(fields.values.get("config_groups")).values.values()]
    groups = [group for group in groups if not all(name.endswith("Attention") for name in group.names("targets"))]
    found = {_scheme(fields, group) for group in groups}
    if len(found) != 1:
        raise fields.wrong("config_groups", "has groups of different bits" if found else "names no weights")
    ((title, bits, least, native),) = found
    targets = tuple(name for group in groups for name in group.names("targets"))
    return Quantization(
        title,
        bits,
        least,
        native,
        fields.names("ignore"),
        () if "Linear" in targets else targets,
        cache_bits=8 if fields.values.get("kv_cache_scheme") else None,  # whatever it says, vLLM takes FP8
    )


def _scheme(fields: QuantizationFields, group: QuantizationFields) -> tuple[str, float, int, int | None]:
    """Name, bits and GPUs of a group, as vLLM chooses its scheme (compressed_tensors.py)."""
    weights = fields.part(group.values.get("weights") or {})
    inputs = fields.part(group.values.get("input_activations") or {}).values
    form = str(group.values.get("format") or fields.values.get("format"))
    bits, kind = weights.bits("num_bits"), str(weights.values.get("type", "int"))
    size = weights.number("group_size", default=0)
    if form.startswith(("nvfp4", "mxfp4", "mxfp8")):
        scale, least = (8 / 16, 75) if form.startswith("nvfp4") else (8 / 32, 80 if bits == 4 else 75)
        return f"compressed tensors, {form}", bits + scale, least, _FP4_GPUS if inputs else None
    if bits == 8 and kind == "float":
        return "compressed tensors, FP8", bits + _of_group(size, _SCALE_BITS), 75, _FP8_GPUS if inputs else None
    if bits == 8 and inputs:
        return "compressed tensors, INT8", bits, 75, 75
    if kind == "int":
        zeros = 0 if weights.values.get("symmetric", True) else bits
        is_mixed = inputs.get("num_bits") == 8 and inputs.get("type") == "float"  # needs Hopper's kernels
        title = f"compressed tensors, {bits} bits"
        return title, bits + _of_group(size, _SCALE_BITS + zeros), 90 if is_mixed else 75, 90 if is_mixed else None
    raise fields.wrong("config_groups", f"has weights of {bits} bits and type '{kind}' in the format '{form}'")


def _cache_bits(scheme: Any) -> float | None:
    """Bits of a number in the cache, as vLLM reads what ModelOpt says of it (utils/torch_utils.py)."""
    if isinstance(scheme, dict):
        known = {8: "fp8" if scheme.get("dynamic") is False else None, 4: "nvfp4"}
        scheme = known.get(scheme.get("num_bits", 0)) if scheme.get("type") == "float" else None
    return {"fp8": 8, "nvfp4": 4.5}.get(str(scheme).lower())


def _of_group(size: int, bits: int) -> float:
    """Bits a weight of what a group of so many shares; those of a whole channel count as nothing."""
    return bits / size if size > 0 else 0


_READERS: dict[str, Callable[[QuantizationFields], Quantization]] = {
    "fp8": _fp8,
    "fbgemm_fp8": _fbgemm,
    "compressed-tensors": _compressed,
    "awq": _awq,
    "awq_marlin": _awq,
    "auto_awq": _awq,
    "gptq": _gptq,
    "gptq_marlin": _gptq,
    "auto_gptq": _gptq,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "modelopt_mxfp8": _modelopt,
    "mxfp4": _mxfp4,
    "torchao": _torchao,
}
