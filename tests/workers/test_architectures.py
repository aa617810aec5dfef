"""Our own processors in place of code that checkpoints bring: what they make of a picture."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.catalogue.families.minicpmv import MiniCPMVBudget
from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions

pytestmark = pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")

SIZES = [(1000, 700), (300, 90), (448, 448), (2000, 1999), (97, 1100)]


@pytest.fixture(scope="module", autouse=True)
def _companions() -> None:
    """Transformers imports torchvision."""
    repair_torch_companions()


def picture(size: tuple[int, int]) -> Image.Image:
    """A picture of noise."""
    width, height = size
    return Image.fromarray(np.random.default_rng(width).integers(1, 255, (height, width, 3), dtype=np.uint8))


@pytest.mark.parametrize("size", SIZES)
def test_kimi_pads_with_black_on_the_right_and_at_the_bottom(size: tuple[int, int]) -> None:
    """The patches, put together again, are the picture at the decided size inside of a black canvas."""
    from gigavqa.workers.architectures.kimi_vl import KimiImageProcessor

    decision = KimiVLBudget(max_patches=1024).decide(Size(*size))
    made = KimiImageProcessor({"in_token_limit": 1024})([picture(size)])
    rows, columns = made["image_grid_hws"][0].tolist()
    assert (columns * 14, rows * 14) == decision.canvas
    pixels = made["pixel_values"].reshape(rows, columns, 3, 14, 14).permute(0, 3, 1, 4, 2).reshape(rows * 14, -1, 3)
    assert (pixels[decision.target.height :] == -1).all()
    assert (pixels[:, decision.target.width :] == -1).all()
    if decision.target == Size(*size):
        original = np.asarray(picture(size), np.float32) / 127.5 - 1
        assert np.allclose(pixels[: size[1], : size[0]], original, atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_phi_makes_the_patches_of_the_budget(size: tuple[int, int]) -> None:
    """As many as planned; what is longer is padding; each holds its pixels row by row."""
    from gigavqa.workers.architectures.phi4 import Phi4ImageProcessor

    budget = Phi4VisionBudget(max_patches=1024)
    made = Phi4ImageProcessor({"max_num_patches": 1024})([picture(size)])
    target = budget.decide(Size(*size)).target
    assert made["spatial_shapes"].tolist() == [[target.height // 16, target.width // 16]]
    assert made["pixel_attention_mask"].sum() == budget.plan(Size(*size)).visual_tokens
    assert made["pixel_values"].shape == (1, 1024, 16 * 16 * 3)
    small = np.asarray(picture(size).resize(target, Image.Resampling.BILINEAR), np.float32) / 127.5 - 1
    assert np.allclose(made["pixel_values"][0, 0], small[:16, :16].reshape(-1), atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_minicpm_writes_as_many_placeholders_as_it_makes_tokens(size: tuple[int, int]) -> None:
    """In the text of a prompt, by its slices, and in the plan."""
    from gigavqa.workers.architectures.minicpmv_processor import MiniCPMVImageProcessor

    processor = MiniCPMVImageProcessor({"max_slice_nums": 4})
    made = processor([[picture(size)]])
    tokens = MiniCPMVBudget(max_slices=4).plan(Size(*size)).visual_tokens
    assert processor.get_slice_image_placeholder(size, image_idx=3).count("<unk>") == tokens
    assert processor.get_slice_image_placeholder(size, image_idx=3).startswith("<image_id>3</image_id><image>")
    assert len(made["pixel_values"][0]) * 64 == tokens
    for values, (rows, columns) in zip(made["pixel_values"][0], made["tgt_sizes"][0].tolist(), strict=True):
        assert values.shape == (3, 14, rows * columns * 14)


@pytest.mark.parametrize("form", ["array", "tensor"])
def test_a_picture_may_come_in_any_form(form: str) -> None:
    """An array H x W x 3 and a tensor 3 x H x W give what the Pillow image gives."""
    import torch

    from gigavqa.workers.architectures.processing import pixels_of

    pixels = np.array(picture((40, 30)))
    other: Any = pixels if form == "array" else torch.from_numpy(pixels).permute(2, 0, 1)
    assert np.array_equal(pixels_of(other), pixels_of(picture((40, 30))))
    assert np.shares_memory(pixels_of(other), pixels)


@pytest.mark.slow
def test_configurations_read_what_published_ones_say(tmp_path: Path) -> None:
    """At full size; what config.json leaves out has the published default. Code that it names is not asked for."""
    from transformers import AutoConfig

    from gigavqa.workers.architectures.plugin import register

    register()
    brought = {"AutoConfig": "configuration.NotThere"}
    for fields, name, value in (
        ({"model_type": "phi4-siglip", "hidden_size": 5120, "vision_config": {}}, "max_num_patches", 3600),
        ({"model_type": "minicpmv", "version": 4.5, "vision_config": {"image_size": 980}}, "query_num", 64),
        ({"model_type": "minicpmo", "version": "2.6", "vision_config": {"image_size": 980}}, "query_num", 64),
        ({"model_type": "internvl_chat", "llm_config": {"hidden_size": 5120}}, "max_dynamic_patch", 12),
        ({"model_type": "internvl_chat", "llm_config": {"model_type": "internlm2"}}, "max_dynamic_patch", 12),
        ({"model_type": "ovis2_5", "llm_config": {"hidden_size": 4096}, "vit_config": {}}, "visual_vocab_size", 65536),
    ):
        (tmp_path / "config.json").write_text(json.dumps(fields | {"auto_map": brought}))
        assert getattr(AutoConfig.from_pretrained(tmp_path), name) == value
