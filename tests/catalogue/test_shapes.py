"""The shapes of models, as their config.json has them."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.checkpoints import folder_checkpoint
from gigavqa.catalogue.errors import CheckpointInvalidError, ShapeUnknownError
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.resolve import require_family
from gigavqa.catalogue.shape_configs import SHAPES, read_shape, shape_of
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions

CATALOGUE = load_catalogue()
OPEN = [entry.id for entry in CATALOGUE.values() if entry.billions and not entry.is_closed]
KNOWN_TO_TRANSFORMERS = {
    "gemma4", "glm4v", "glm4v_moe", "idefics3", "internvl", "llava_onevision", "qwen2_5_vl", "qwen2_vl", "qwen3",
    "qwen3_5", "qwen3_moe", "qwen3_vl",
}  # fmt: skip
SMALL = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 1000,
}
EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
FILES = sorted(SHAPES.glob("*.toml"))


def declared(file: Path) -> dict[str, Any]:
    """What a file of the table says."""
    return tomllib.loads(file.read_text())


@pytest.mark.parametrize("model", OPEN)
def test_a_shape_has_as_many_weights_as_the_model_is_said_to_have(model: str) -> None:
    """Within the digits that are printed of them."""
    entry = CATALOGUE[model]
    assert entry.billions
    assert shape_of(entry).parameters / 1e9 == pytest.approx(entry.billions, rel=0.02)


@pytest.mark.parametrize("model", [model for model in OPEN if not CATALOGUE[model].weights.startswith("built-in:")])
def test_an_entry_is_of_the_family_of_its_weights(model: str, tmp_path: Path) -> None:
    """By the model_type that its config.json has, or the architecture where checkpoints disagree on it."""
    weights = CATALOGUE[model].weights
    config = declared(SHAPES / f"{weights.replace('/', '--')}.toml")
    (tmp_path / "config.json").write_text(json.dumps(config))
    require_family(CATALOGUE[model], folder_checkpoint(tmp_path))


def test_a_shape_has_the_bytes_of_the_published_weights() -> None:
    """Qwen3-VL-8B's index says 17,534,247,392; norms and biases are not counted."""
    assert 2 * shape_of(CATALOGUE["qwen3-vl-8b"]).parameters == pytest.approx(17_534_247_392, rel=0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [file for file in FILES if declared(file)["model_type"] in KNOWN_TO_TRANSFORMERS],
    ids=lambda file: file.stem,
)
def test_a_config_that_transformers_reads_has_the_same_shape(file: Path) -> None:
    """Its own class fills in what the file leaves out: kinds of layers, and names that it prefers."""
    repair_torch_companions()
    from transformers import AutoConfig  # noqa: PLC0415 - seconds, and only once torchvision can be imported

    config = declared(file)
    read = AutoConfig.for_model(**config).to_dict()
    for part in ("text_config", "vision_config"):
        if part in config:
            read[part] = {**read[part], **config[part]}
    assert read_shape(read, "") == read_shape(config, "")


def test_every_shape_is_of_a_model() -> None:
    """None lies there unread."""
    weights = {entry.weights.replace("/", "--") for entry in CATALOGUE.values()}
    assert {file.stem for file in FILES} <= weights


@pytest.mark.parametrize("field", SMALL)
@pytest.mark.parametrize(
    ("value", "fault"),
    [(None, "is missing"), (-1, "is -1"), (0, "is 0"), ("many", "is 'many'"), (True, "is True"), ([64], r"is \[64\]")],
)
def test_a_config_that_lies_is_refused(field: str, value: object, fault: str) -> None:
    """With file, field and remedy."""
    with pytest.raises(CheckpointInvalidError, match=f"x/config.json: {field} {fault}.*; take the config.json that"):
        read_shape({**SMALL, field: value}, "x/config.json")


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("num_heads", (7, 0, 10**9, True, "16", -1)),
        ("hidden_size", (7,)),
        ("out_hidden_size", (7, -1, "16", True)),
    ],
)
def test_an_encoder_that_vllm_cannot_build_is_refused(field: str, values: tuple[object, ...]) -> None:
    """Heads that do not divide it, and an output that is not as wide as the language model."""
    config = declared(SHAPES / "Qwen--Qwen3-VL-4B-Instruct.toml")
    read_shape(config, "c.json")
    for value in values:
        lie = {**config, "vision_config": {**config["vision_config"], field: value}}
        with pytest.raises(CheckpointInvalidError, match=r"c\.json: vision_config\.\w+ is .*; take the c\.json"):
            read_shape(lie, "c.json")


@pytest.mark.parametrize(
    "lie",
    [
        {"num_key_value_heads": 3},
        {"num_attention_heads": 3},
        {"layer_types": ["sliding_attention"], "sliding_window": 8},
        {"linear_num_value_heads": 4},
        {"kv_lora_rank": 512},
        {"num_experts": 8},
        {**EXPERTS, "mlp_only_layers": [2]},
        {**EXPERTS, "mlp_only_layers": 0},
        {**EXPERTS, "mlp_only_layers": ["0"]},
        {**EXPERTS, "decoder_sparse_step": 0},
        {"quantization_config": {"quant_method": "gptq"}},
        {"quantization_config": "fp8"},
        {"vision_config": {"patch_size": "big"}},
        {"vision_config": [24]},
        {"vision_config": {"hidden_size": -5}},
        {
            "vision_config": {
                "depth": 2,
                "hidden_size": 8,
                "intermediate_size": 8,
                "patch_size": 4,
                "deepstack_visual_indexes": 3,
            }
        },
        {"model_type": "qwen3_vl", "vision_config": {"depth": 24}},
        {"text_config": {"hidden_size": [64]}, "num_hidden_layers": None},
    ],
    ids=str,
)
def test_parts_that_do_not_go_together_are_refused(lie: dict[str, Any]) -> None:
    """Whatever they are, by one sentence and no traceback."""
    with pytest.raises(CheckpointInvalidError, match=r"c\.json: \w+"):
        read_shape({**SMALL, **lie}, "c.json")


@pytest.mark.parametrize(
    ("said", "dense"),
    [
        ({}, 0),
        ({"mlp_only_layers": [0, 5]}, 2),
        ({"decoder_sparse_step": 2}, 3),
        ({"decoder_sparse_step": 2, "mlp_only_layers": [1, 2]}, 4),
        ({"decoder_sparse_step": 7}, 6),
        ({"first_k_dense_replace": 1}, 1),
        ({"first_k_dense_replace": 1, "moe_layer_freq": 2}, 4),
    ],
    ids=str,
)
def test_layers_without_experts_are_counted_as_vllm_makes_them(said: dict[str, Any], dense: int) -> None:
    """Of six: qwen3_moe.py and deepseek_v2.py of vLLM 0.32 choose by these fields."""
    language = read_shape({**SMALL, **EXPERTS, "num_hidden_layers": 6, **said}, "").language
    assert (language.dense_layers, language.expert_layers) == (dense, 6 - dense)


def test_a_model_of_unknown_shape_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """A folder with its config.json is enough."""
    entry = CATALOGUE["qwen3-32b"].model_copy(update={"id": "mine", "weights": "x/mine"})
    with pytest.raises(ShapeUnknownError, match=r"preprocessor_config\.json of x/mine into a folder"):
        shape_of(entry)
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    assert shape_of(entry.model_copy(update={"weights": str(tmp_path)})).language.layers == 2


def test_a_model_of_pictures_without_an_encoder_is_refused(tmp_path: Path) -> None:
    """It would be planned without one."""
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    with pytest.raises(CheckpointInvalidError, match=r"config\.json: vision_config is missing; take"):
        shape_of(CATALOGUE["qwen3-vl-8b"].model_copy(update={"weights": str(tmp_path)}))


def test_a_vendors_model_has_no_shape() -> None:
    """Nothing of it can be put on a GPU."""
    with pytest.raises(ShapeUnknownError, match="served elsewhere alone"):
        shape_of(CATALOGUE["gpt-5"])
