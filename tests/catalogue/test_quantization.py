"""Bytes of quantized weights, and the GPUs that serve them, by what checkpoints say of themselves."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.quantization import read_quantization
from gigavqa.catalogue.shape_configs import SHAPES, read_shape, shape_of
from gigavqa.catalogue.shapes import ModelShape

GIB = 1 << 30
WEIGHTS = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
GROUPED = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True}
DYNAMIC = {"num_bits": 8, "type": "float", "strategy": "token", "dynamic": True}


def compressed(form: str, weights: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """What compressed-tensors writes of one group of linear layers."""
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}, **more}


def torchao(kind: str, **data: int) -> dict[str, Any]:
    """What torchao writes of one kind of quantization."""
    return {"quant_method": "torchao", "quant_type": {"default": {"_type": kind, "_data": data}}}


def quantized(model: str, said: dict[str, Any]) -> ModelShape:
    """The shape of a model of the catalogue with this quantization_config."""
    file = SHAPES / f"{load_catalogue()[model].weights.replace('/', '--')}.toml"
    return read_shape({**tomllib.loads(file.read_text()), "quantization_config": said}, "config.json")


# Bits of a weight with its scales, the least compute capability, and that from which it computes in this type.
KNOWN = {
    "FP8": ({"quant_method": "fp8"}, 8, 75, 89),
    "FP8 in blocks": ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 128**2, 75, 89),
    "FBGEMM": ({"quant_method": "fbgemm_fp8"}, 8, 80, 89),
    "AWQ": ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4 + 20 / 128, 75, None),
    "AWQ of old": ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, 4 + 20 / 64, 75, None),
    "AWQ without zeros": ({"quant_method": "awq", "bits": 4, "zero_point": False}, 4 + 16 / 128, 75, None),
    "GPTQ": ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 8, 60, None),
    "ModelOpt": ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4.5, 75, 100),
    "ModelOpt of old": ({"quant_method": "modelopt", "quantization": {"quant_algo": "FP8"}}, 8, 80, 89),
    "MXFP4": ({"quant_method": "mxfp4"}, 4.25, 80, None),
    "torchao": (torchao("Int4WeightOnlyConfig", group_size=64), 4 + 32 / 64, 75, None),
    "torchao FP8": (torchao("Float8DynamicActivationFloat8WeightConfig"), 8, 89, 89),
    "W8A8 FP8": (compressed("float-quantized", WEIGHTS, DYNAMIC), 8, 75, 89),
    "W8A16 FP8": (compressed("float-quantized", WEIGHTS), 8, 75, None),
    "W8A8 INT8": (compressed("int-quantized", WEIGHTS | {"type": "int"}, DYNAMIC | {"type": "int"}), 8, 75, 75),
    "W4A16": (compressed("pack-quantized", GROUPED), 4 + 16 / 128, 75, None),
    "W4A16 with zeros": (compressed("pack-quantized", GROUPED | {"symmetric": False}), 4 + 20 / 128, 75, None),
    "W4A8 FP8": (compressed("pack-quantized", GROUPED, DYNAMIC), 4 + 16 / 128, 90, 90),
    "NVFP4": (compressed("nvfp4-pack-quantized", {"num_bits": 4, "type": "float", "group_size": 16}), 4.5, 75, None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_method_has_its_bits_and_its_gpus(name: str) -> None:
    """As checkpoints store it, and as vLLM 0.32 serves it."""
    said, bits, least, native = KNOWN[name]
    how = read_quantization(said, "config.json")
    assert how is not None
    assert (how.bits, how.least, how.native) == (pytest.approx(bits), least, native)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "quant_method is 'bitsandbytes'"),
        ({"quant_method": "gguf"}, "quant_method is 'gguf'"),
        ({"bits": 4}, "quant_method is ''"),
        ({"quant_method": "awq", "bits": 5}, "bits is 5"),
        ({"quant_method": "awq", "bits": 8}, "bits is 8 (known: 4)"),
        ({"quant_method": "gptq"}, "bits is missing"),
        ({"quant_method": "gptq", "bits": 3}, "bits is 3 (known: 4, 8)"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 100}, "group_size is 100"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 0}, "group_size is 0"),
        ({"quant_method": "gptq", "bits": 4, "sym": False}, "sym is False"),
        ({"quant_method": "fp8", "weight_block_size": [0, 128]}, "weight_block_size is [0, 128]"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*": {"bits": 8}}}, "dynamic gives modules other bits"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, "quant_algo is 'MIXED_PRECISION'"),
        (torchao("IntxWeightOnlyConfig"), "quant_type is 'IntxWeightOnlyConfig'"),
        ({"quant_method": "fp8", "store_dtype": "mxfp4"}, "store_dtype is 'mxfp4'"),
        ({"quant_method": "fp8", "ignored_layers": ["re:(("]}, "has an expression that cannot be read"),
        ({"quant_method": "compressed-tensors", "config_groups": {}}, "config_groups names no weights"),
        (compressed("marlin-24", {"num_bits": 8, "type": "complex"}), "type 'complex'"),
    ],
    ids=str,
)
def test_what_is_not_known_is_refused(said: dict[str, Any], fault: str) -> None:
    """In a sentence that names file and field; bytes are never guessed."""
    with pytest.raises(CheckpointInvalidError) as refused:
        read_quantization(said, "x/config.json")
    assert str(refused.value).startswith("x/config.json: quantization_config.")
    assert fault in str(refused.value)


def test_groups_of_different_bits_are_refused() -> None:
    """What each module has of them is not counted."""
    said = compressed("pack-quantized", GROUPED)
    said["config_groups"]["group_1"] = {"targets": ["re:.*down_proj"], "weights": GROUPED | {"num_bits": 8}}
    with pytest.raises(CheckpointInvalidError, match="has groups of different bits"):
        read_quantization(said, "config.json")


def test_weights_are_those_that_vllm_logged_of_a_quantized_model() -> None:
    """Qwen3.6-27B-FP8, of Qwen3.5-27B's shape: 27.66 GiB with its head in bfloat16 (vllm-project/vllm PR 41000)."""
    said = {
        "quant_method": "fp8",
        "weight_block_size": [128, 128],
        "modules_to_not_convert": ["lm_head", "model.visual"],
    }
    assert quantized("qwen3.5-27b", said).weight_bytes(2) / GIB == pytest.approx(27.66, rel=0.03)


def test_a_vision_encoder_that_is_left_out_keeps_its_bytes() -> None:
    """Under whatever name a family gives it; AWQ and GPTQ never touch one."""
    model = shape_of(load_catalogue()["qwen3-vl-8b"])
    assert model.vision
    whole, saved = model.weight_bytes(2), model.vision.block_parameters + model.vision.merger
    all_of_it = quantized("qwen3-vl-8b", {"quant_method": "fp8"}).weight_bytes(2)
    tables = 2 * model.language.head_parameters
    linears = model.language.parameters - tables
    assert all_of_it == pytest.approx(whole - linears - saved)
    for name in ("model.visual.blocks.0.attn.qkv", "re:.*vision_tower.*", "visual", "*vision*"):
        kept = quantized("qwen3-vl-8b", {"quant_method": "fp8", "ignored_layers": [name]}).weight_bytes(2)
        assert kept == pytest.approx(whole - linears), name
    awq = quantized("qwen3-vl-8b", {"quant_method": "awq", "bits": 4, "group_size": 128})
    assert awq.weight_bytes(2) == pytest.approx(whole - linears * (2 - (4 + 20 / 128) / 8))


@pytest.mark.parametrize(
    ("left_out", "share"),
    [
        ([f"model.language_model.layers.{layer}.self_attn.q_proj" for layer in range(36)], 1.0),
        ([f"model.layers.{layer}.self_attn" for layer in range(9)], 0.25),
        (["re:.*self_attn.*"], 1.0),
        (["*.layers.3.self_attn*"], 1 / 36),
        (["self_attn"], 1.0),
        (["model.layers.1"], 1 / 36),
        (["lm_head", "mlp.gate", "model.visual.blocks.0"], 0.0),
        (["model.layers.0.self_attn.q"], 0.0),
    ],
    ids=str,
)
def test_modules_are_left_out_layer_by_layer(left_out: list[str], share: float) -> None:
    """Named one by one, together, by a part of their names, or by an expression."""
    how = read_quantization({"quant_method": "fp8", "modules_to_not_convert": left_out}, "config.json")
    assert how is not None
    assert 1 - how.share("self_attn.q_proj", 36, 36) == pytest.approx(share)


FP8_CACHE = {"num_bits": 8, "type": "float", "dynamic": False}


@pytest.mark.parametrize(
    ("said", "bits"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": FP8_CACHE}, 8),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": FP8_CACHE | {"type": "int"}}, None),
        ({"quant_method": "modelopt", "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}, 8),
        (compressed("float-quantized", WEIGHTS, DYNAMIC, kv_cache_scheme=FP8_CACHE), 8),
        (compressed("float-quantized", WEIGHTS, DYNAMIC, kv_cache_scheme=None), None),
        ({"quant_method": "fp8"}, None),
    ],
    ids=str,
)
def test_a_cache_is_quantized_where_vllm_takes_it_to_be(said: dict[str, Any], bits: int | None) -> None:
    """By what the checkpoint says of keys and values, unless the engine is told otherwise."""
    how = read_quantization(said, "config.json")
    assert how is not None
    assert how.cache_bits == bits


def test_experts_alone_are_quantized_in_mxfp4() -> None:
    """As vLLM serves it: 4 bits, and 8 for each 32."""
    plain = shape_of(load_catalogue()["qwen3-vl-30b-a3b"])
    experts = sum(each.parameters for each in plain.language.linears if each.is_routed)
    saved = plain.weight_bytes(2) - quantized("qwen3-vl-30b-a3b", {"quant_method": "mxfp4"}).weight_bytes(2)
    assert saved == pytest.approx(experts * (2 - 4.25 / 8))


def test_a_checkpoint_that_says_it_in_a_file_of_its_own_is_read(tmp_path: Path) -> None:
    """Older ones of NVIDIA's do; vLLM reads that file."""
    config = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    (tmp_path / "config.json").write_text(json.dumps(config | {"vocab_size": 1000}))
    (tmp_path / "hf_quant_config.json").write_text(
        '{"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}'
    )
    shape = shape_of(load_catalogue()["qwen3-32b"].model_copy(update={"weights": str(tmp_path)}))
    assert shape.quantization is not None
    assert (shape.quantization.title, shape.quantization.cache_bits) == ("ModelOpt FP8", 8)
