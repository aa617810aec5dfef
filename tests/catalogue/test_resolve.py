"""From a name to an entry."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.checkpoints import PUT_WHOLE, folder_checkpoint
from gigavqa.catalogue.entry import MIN_ANSWER_TOKENS
from gigavqa.catalogue.errors import (
    CheckpointInvalidError,
    CheckpointUnavailableError,
    FamilyMismatchError,
    FamilyUnsupportedError,
)
from gigavqa.catalogue.families.deepseek_vl2 import DeepseekVL2Budget
from gigavqa.catalogue.families.gemma4 import Gemma4Budget
from gigavqa.catalogue.families.glm4v import Glm4vBudget
from gigavqa.catalogue.families.internvl import InternVLBudget
from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.catalogue.families.minicpmv import MiniCPMVBudget
from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.catalogue.families.registry import BY_MODEL_TYPE, AnyBudget
from gigavqa.catalogue.load import load_catalogue, read_entry
from gigavqa.catalogue.resolve import require_family, resolve_model
from gigavqa.catalogue.write import write_entry

CATALOGUE = load_catalogue()
SIZE = {"size": {"shortest_edge": 65536, "longest_edge": 16777216}, "patch_size": 16, "merge_size": 2}
OLD_SIZE = {"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2}


def checkpoint(folder: Path, config: dict[str, Any], preprocessor: dict[str, Any] | None = None) -> str:
    """Write the two files of a checkpoint that are read, and return its folder's name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if preprocessor is not None:
        (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return str(folder)


def test_an_id_of_the_catalogue_is_that_entry() -> None:
    """Nothing is read or fetched."""
    assert resolve_model("qwen3-vl-8b", CATALOGUE) is CATALOGUE["qwen3-vl-8b"]


@pytest.mark.parametrize(
    ("model_type", "preprocessor", "family", "factor", "max_pixels"),
    [
        ("qwen2_vl", OLD_SIZE, "qwen2-vl", 28, 12845056),
        ("qwen2_5_vl", OLD_SIZE, "qwen2.5-vl", 28, 12845056),
        ("qwen3_vl", SIZE, "qwen3-vl", 32, 16777216),
        ("qwen3_vl_moe", SIZE, "qwen3-vl", 32, 16777216),
        ("qwen3_5", SIZE, "qwen3.5", 32, 16777216),
        ("qwen3_5_moe", {}, "qwen3.5", 32, 16777216),
    ],
)
def test_a_folder_of_a_supported_family_can_be_served(
    tmp_path: Path, *, model_type: str, preprocessor: dict[str, Any], family: str, factor: int, max_pixels: int
) -> None:
    """Family and budget come from the checkpoint's own files."""
    config = {"model_type": model_type, "text_config": {"max_position_embeddings": 262144}}
    entry = resolve_model(checkpoint(tmp_path / "My_Model-7B", config, preprocessor), CATALOGUE)
    assert (entry.id, entry.family, entry.max_model_len) == ("my_model-7b", family, 131072)
    assert (entry.visual_budget.factor, entry.visual_budget.max_pixels) == (factor, max_pixels)


CANVASES = [[384, 384], [384, 768], [768, 384], [384, 1152], [1152, 384]]
FAMILIES: dict[str, tuple[dict[str, Any], dict[str, Any], AnyBudget]] = {
    "glm": (
        {"model_type": "glm4v_moe", "text_config": {"max_position_embeddings": 65536}},
        {"size": {"shortest_edge": 12544, "longest_edge": 9633792}, "patch_size": 14, "merge_size": 2},
        Glm4vBudget(max_pixels=9633792),
    ),
    "internvl": (
        {"model_type": "internvl", "image_seq_length": 256, "text_config": {"max_position_embeddings": 40960}},
        {"size": {"height": 448, "width": 448}, "max_patches": 12},
        InternVLBudget(layout="hf", max_tiles=12),
    ),
    "internvl-chat": (
        {
            "model_type": "internvl_chat",
            "max_dynamic_patch": 6,
            "vision_config": {"image_size": 448, "patch_size": 14},
            "llm_config": {"max_position_embeddings": 40960},
        },
        {},
        InternVLBudget(max_tiles=6),
    ),
    "gemma": (
        {"model_type": "gemma4", "text_config": {"max_position_embeddings": 262144}},
        {"max_soft_tokens": 560, "patch_size": 16, "pooling_kernel_size": 3},
        Gemma4Budget(max_soft_tokens=560),
    ),
    "deepseek": (
        {
            "model_type": "deepseek_vl_v2",
            "candidate_resolutions": CANVASES,
            "language_config": {"max_position_embeddings": 4096},
        },
        {},
        DeepseekVL2Budget(max_tiles=3),
    ),
    "minicpm": (
        {"model_type": "minicpmv", "max_position_embeddings": 40960},
        {"max_slice_nums": 4, "scale_resolution": 448, "patch_size": 14, "image_feature_size": 64},
        MiniCPMVBudget(max_slices=4),
    ),
    "phi": (
        {"model_type": "phi4-siglip", "max_num_patches": 1024, "max_position_embeddings": 16384},
        {},
        Phi4VisionBudget(max_patches=1024),
    ),
    "kimi": (
        {"model_type": "kimi_vl", "text_config": {"max_position_embeddings": 131072}},
        {"in_token_limit": 4096, "patch_size": 14, "merge_kernel_size": [2, 2]},
        KimiVLBudget(max_patches=4096),
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_declares_its_own_budget(tmp_path: Path, family: str) -> None:
    """Limits are read where the family's published checkpoints keep them."""
    config, preprocessor, budget = FAMILIES[family]
    entry = resolve_model(checkpoint(tmp_path / "m", config, preprocessor), CATALOGUE)
    assert entry.visual_budget == budget
    assert entry.visual_budget.max_visual_tokens + MIN_ANSWER_TOKENS <= entry.max_model_len


def test_limits_may_stand_beside_the_other_processors(tmp_path: Path) -> None:
    """Newer checkpoints have processor_config.json alone."""
    config, preprocessor, budget = FAMILIES["gemma"]
    folder = checkpoint(tmp_path / "m", config)
    (tmp_path / "m" / "processor_config.json").write_text(json.dumps({"image_processor": preprocessor}))
    assert resolve_model(folder, CATALOGUE).visual_budget == budget


def test_canvases_that_no_number_of_tiles_gives_are_refused(tmp_path: Path) -> None:
    """Another list of resolutions would be another decision than the one that is planned."""
    config = FAMILIES["deepseek"][0] | {"candidate_resolutions": [[384, 384], [768, 768]]}
    with pytest.raises(CheckpointInvalidError, match="candidate_resolutions"):
        resolve_model(checkpoint(tmp_path / "m", config), CATALOGUE)


@pytest.mark.parametrize(
    ("text", "longest", "said"),
    [
        (None, 1000, "preprocessor_config.json: size"),
        ([1], 16777216, r"config.json: text_config is \[1\], and no object"),
    ],
)
def test_a_part_that_no_model_has_is_refused_with_its_file(
    tmp_path: Path, text: list[int] | None, longest: int, said: str
) -> None:
    """Pictures of less than a token, and a list for an object."""
    config = {"model_type": "qwen3_vl", "text_config": text, "max_position_embeddings": 4096}
    preprocessor = {"size": {"shortest_edge": 500, "longest_edge": longest}, "patch_size": 16}
    with pytest.raises(CheckpointInvalidError, match=said):
        resolve_model(checkpoint(tmp_path / "m", config, preprocessor), CATALOGUE)


def test_an_entry_written_is_the_entry_read(tmp_path: Path) -> None:
    """Nothing is lost on the way through the file."""
    config, preprocessor, _ = FAMILIES["internvl"]
    entry = resolve_model(checkpoint(tmp_path / "m", config, preprocessor), CATALOGUE)
    assert read_entry(write_entry(entry, tmp_path / "catalogue")) == entry


def test_an_unknown_family_is_refused_by_name(tmp_path: Path) -> None:
    """The error names the architecture and what is supported."""
    config = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}
    with pytest.raises(FamilyUnsupportedError, match=r"LlavaForConditionalGeneration.*qwen3_vl"):
        resolve_model(checkpoint(tmp_path / "m", config, SIZE), CATALOGUE)


NUMBERS = {
    "gemma4": ["max_soft_tokens", "patch_size", "pooling_kernel_size"],
    "glm4v": ["patch_size", "merge_size", "temporal_patch_size", "size.shortest_edge", "size.longest_edge"],
    "idefics3": ["max_image_size.longest_edge", "size.longest_edge"],
    "internvl": ["size.height", "max_patches"],
    "kimi_vl": ["in_token_limit", "patch_size", "merge_kernel_size"],
    "llava_onevision": ["size.height"],
    "minicpmv": ["scale_resolution", "max_slice_nums", "patch_size", "image_feature_size"],
    "qwen2_5_vl": ["patch_size", "merge_size", "min_pixels", "max_pixels", "size.shortest_edge", "size.longest_edge"],
    "qwen3_vl": ["patch_size", "merge_size", "min_pixels", "max_pixels", "size.shortest_edge", "size.longest_edge"],
}
"""Numbers of the image processor, by model_type."""
NO_NUMBERS: tuple[Any, ...] = ("16", True, False, 0, -1, 1.5, [], {}, 1 << 40)


def nested(name: str, value: object) -> dict[str, Any]:
    """An object with a value under a name with points."""
    first, _, rest = name.partition(".")
    return {first: nested(rest, value) if rest else value}


@pytest.mark.parametrize(("model_type", "field"), [(model, field) for model in NUMBERS for field in NUMBERS[model]])
def test_what_is_no_number_of_an_image_processor_is_refused_with_its_field(
    tmp_path: Path, model_type: str, field: str
) -> None:
    """Text is not multiplied as text, nor true taken for 1; null is what is left out."""
    config = {"model_type": model_type, "max_position_embeddings": 4096}
    for value in NO_NUMBERS:
        folder = checkpoint(tmp_path, config, nested(field, value))
        with pytest.raises(CheckpointInvalidError, match=rf"preprocessor_config\.json: {field} is .*; take the prep"):
            resolve_model(folder, CATALOGUE)
    left_out = resolve_model(checkpoint(tmp_path, config, {}), CATALOGUE)
    assert resolve_model(checkpoint(tmp_path, config, nested(field, None)), CATALOGUE) == left_out


@pytest.mark.parametrize("model_type", ["qwen2_5_vl", "qwen3_vl", "qwen3_5", "glm4v"])
@pytest.mark.parametrize("field", ["patch_size", "spatial_merge_size"])
def test_files_that_tell_of_other_patches_are_refused(tmp_path: Path, model_type: str, field: str) -> None:
    """The encoder's are those of the image processor."""
    config = {"model_type": model_type, "max_position_embeddings": 4096, "vision_config": {field: 7}}
    with pytest.raises(CheckpointInvalidError, match=rf"config\.json: vision_config\.{field} is 7, and "):
        resolve_model(checkpoint(tmp_path, config, {}), CATALOGUE)


@pytest.mark.parametrize("size", ["x", [1], 5, True])
def test_a_size_that_is_no_object_is_refused(tmp_path: Path, size: object) -> None:
    """With its file."""
    config = {"model_type": "qwen3_vl", "max_position_embeddings": 4096}
    with pytest.raises(CheckpointInvalidError, match=r"preprocessor_config\.json: size is .*, and no object"):
        resolve_model(checkpoint(tmp_path, config, {"size": size}), CATALOGUE)


@pytest.mark.parametrize("length", NO_NUMBERS)
def test_a_context_that_is_no_number_is_refused(tmp_path: Path, length: object) -> None:
    """Of whichever part."""
    config = {"model_type": "qwen3_vl", "text_config": {"max_position_embeddings": length}}
    with pytest.raises(CheckpointInvalidError, match=r"config\.json: text_config\.max_position_embeddings is"):
        resolve_model(checkpoint(tmp_path, config, SIZE), CATALOGUE)


@pytest.mark.parametrize("text", ['{"n": ' + "9" * 5000 + "}", "[" * 100_000], ids=["digits", "lists in lists"])
@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json"])
def test_json_that_python_cannot_hold_is_refused_with_its_file(tmp_path: Path, file: str, text: str) -> None:
    """As JSON that was cut."""
    folder = Path(checkpoint(tmp_path, {"model_type": "qwen3_vl", "max_position_embeddings": 4096}, SIZE))
    (folder / file).write_text(text)
    with pytest.raises(CheckpointInvalidError, match=rf"{file}: .*; {PUT_WHOLE}"):
        resolve_model(str(folder), CATALOGUE)


def test_a_folder_without_preprocessing_is_refused(tmp_path: Path) -> None:
    """The error names the file that is missing, and what to do."""
    with pytest.raises(CheckpointInvalidError, match=rf"preprocessor_config\.json: .*; {PUT_WHOLE}"):
        resolve_model(checkpoint(tmp_path / "m", {"model_type": "qwen3_vl"}), CATALOGUE)


@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json", "tokenizer.json", "of_its_own.json"])
def test_a_file_of_a_folder_that_was_cut_is_named(tmp_path: Path, file: str) -> None:
    """Whichever it is; hidden ones, as of other systems, are nobody's."""
    folder = Path(checkpoint(tmp_path, {"model_type": "qwen3_vl"}, SIZE))
    (folder / "._config.json").write_bytes(b"\0")
    folder_checkpoint(folder).require_whole()
    (folder / file).write_text('{"version": "1.0", "trunc')
    with pytest.raises(CheckpointInvalidError, match=rf"/{file}: .* line 1 .*; {PUT_WHOLE}"):
        folder_checkpoint(folder).require_whole()


@pytest.mark.parametrize("model_type", sorted(BY_MODEL_TYPE))
def test_an_architecture_of_another_family_is_refused(tmp_path: Path, model_type: str) -> None:
    """Its own are taken, alone and among others, and so is a configuration that names none."""
    family = BY_MODEL_TYPE[model_type]
    entry = next(each for each in CATALOGUE.values() if each.family == family.name)
    for named in ([], *([each] for each in family.architectures), ["Other", family.architectures[0]]):
        config = {"model_type": model_type, "architectures": named}
        require_family(entry, folder_checkpoint(Path(checkpoint(tmp_path, config))))
    other = "Qwen3ForCausalLM" if family.name != "qwen3" else "Qwen3VLForConditionalGeneration"
    named_wrongly = folder_checkpoint(Path(checkpoint(tmp_path, {"model_type": model_type, "architectures": [other]})))
    with pytest.raises(
        FamilyMismatchError, match=rf"'{model_type}' \(architecture {other}\).*{family.architectures[0]}"
    ):
        require_family(entry, named_wrongly)


def test_a_limit_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    """A negative budget does not reach the worker."""
    config = {"model_type": "qwen3_vl", "max_position_embeddings": 4096}
    with pytest.raises(CheckpointInvalidError, match="max_pixels"):
        resolve_model(checkpoint(tmp_path / "m", config, SIZE | {"max_pixels": -5}), CATALOGUE)


def test_a_hub_id_that_cannot_be_fetched_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a network the error names the id and the file."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(CheckpointUnavailableError, match=r"Qwen/Qwen9-VL.*config\.json"):
        resolve_model("Qwen/Qwen9-VL", CATALOGUE)


def test_of_any_other_name_is_said_what_could_have_been_meant() -> None:
    """The names that are near, and the command that lists all of them: they are too many for a line."""
    with pytest.raises(CheckpointUnavailableError, match=r"`gigavqa models` lists them.*did you mean 'gpt-5'") as told:
        resolve_model("gpt", CATALOGUE)
    assert len(str(told.value)) < 200
