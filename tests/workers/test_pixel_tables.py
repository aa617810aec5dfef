"""Bytes that are normalized where they are encoded make the numbers of the family's own preprocessing, bit for bit."""

import asyncio
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gigavqa.catalogue.load import read_entry
from gigavqa.workers.engines.engine import Message, PromptRaster
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.prompts import render_prompt
from tests.checkpoints.build import ensure_checkpoint

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]

FAMILIES = (
    "deepseek-vl2",
    "gemma-4",
    "idefics3",
    "internvl3.5",
    "internvl3.5-hf",
    "kimi-vl",
    "llava-onevision",
    "minicpm-v-4.5",
    "ovis2.5",
    "phi-4-reasoning-vision",
)
"""Those that vLLM 0.32 normalizes on the host."""
SIZE = (500, 700)
"""Height and width: a size that most of them scale, pad or cut into tiles."""
OTHER_SIZES = ((97, 1100), (640, 640), (40, 30))
"""A strip, a square, and a picture that is enlarged."""


@pytest.fixture(scope="module", autouse=True)
def _process() -> Iterator[None]:
    """Prepared as the worker prepares it for its engine."""
    before = dict(os.environ)
    os.environ.update(cpu_environment(small=True) | {"VLLM_LOGGING_LEVEL": "ERROR", "HF_HUB_OFFLINE": "1"})
    repair_torch_companions()
    yield
    os.environ.clear()
    os.environ.update(before)


def noise(size: tuple[int, int]) -> NDArray[np.uint8]:
    """A raster of this height and width, with every byte in every channel where it is large enough."""
    return np.random.default_rng(3).integers(0, 256, (*size, 3), np.uint8)


def sent(name: str, raster: NDArray[np.uint8], folder: Path, *, dtype: str, on_host: bool) -> tuple[Any, Any]:
    """What vLLM's front end sends of a chat with this raster, and its configuration."""
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.renderers import renderer_from_config

    entry = read_entry(Path(__file__).parent / "families" / f"tiny-{name}.toml")
    weights = str(ensure_checkpoint(entry.weights, folder))
    arguments = engine_arguments(entry, weights, is_cpu=True) | {"dtype": dtype, "mm_device_do_normalize": not on_host}
    config = AsyncEngineArgs(**arguments).create_engine_config()
    renderer = renderer_from_config(config)
    try:
        chat = [Message("user", (PromptRaster("raster", raster), "How many?"))]
        prompt = asyncio.run(render_prompt(SimpleNamespace(renderer=renderer), entry, chat))
    finally:
        renderer.shutdown()
    (item,) = prompt["mm_kwargs"]["image"]
    (pixels,) = (element.data for key, element in item.items() if key.startswith("pixel_values"))
    return pixels, config.model_config


def table(model: Any, dtype: Any) -> Any:
    """The table that the model of this configuration makes itself."""
    from vllm import ModelRegistry

    from gigavqa.workers.architectures import minicpmv_processor, processing
    from gigavqa.workers.architectures.pixel_table import PixelTable

    kind, _ = ModelRegistry.resolve_model_cls(model.architectures, model)
    if "MiniCPMV" in model.architectures:
        values = processing.normalized_bytes(processing.own_settings(model.model, model.revision))
        return PixelTable(values, dtype, minicpmv_processor.CHANNEL_AXIS)
    return PixelTable(kind.normalized_bytes(model), dtype, kind.channel_axis)


@pytest.mark.parametrize(
    ("name", "dtype", "size"),
    [
        *((name, "bfloat16", SIZE) for name in FAMILIES),
        *((name, "float32", SIZE) for name in ("internvl3.5", "kimi-vl")),
        *((name, "float32", size) for name in ("idefics3", "llava-onevision", "ovis2.5") for size in OTHER_SIZES),
    ],
)
def test_bytes_become_what_the_host_would_have_sent(
    name: str, dtype: str, size: tuple[int, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In the model's type: a bfloat16 is the float32 rounded once, and an engine in float32 gets float32."""
    import torch

    folder, raster = tmp_path_factory.getbasetemp() / "checkpoints", noise(size)
    bytes_, model = sent(name, raster, folder, dtype=dtype, on_host=False)
    numbers, _ = sent(name, raster, folder, dtype=dtype, on_host=True)
    made = table(model, model.dtype)(bytes_)
    pairs = list(zip(flat(bytes_), flat(made), flat(numbers), strict=True))
    assert all(byte.dtype == torch.uint8 for byte, _, _ in pairs)
    assert all(each.dtype == expected.dtype == getattr(torch, dtype) for _, each, expected in pairs)
    assert all(
        torch.equal(each[shown], expected[shown]) for (_, each, expected) in pairs for shown in [seen(name, each)]
    )


def flat(values: Any) -> list[Any]:
    """Tensors of a list, or one alone."""
    return [values] if hasattr(values, "dtype") else list(values)


def seen(name: str, values: Any) -> Any:
    """What of the values is a picture: Phi-4's model leaves its padding out by a mask."""
    import torch

    if name != "phi-4-reasoning-vision":
        return slice(None)
    return torch.arange(len(values)) < SHOWN_OF_PHI


SHOWN_OF_PHI = 900
"""Patches of the raster at least, of 1024 with padding."""


def test_a_table_knows_channels_that_differ_wherever_they_lie() -> None:
    """By channel and by byte, in planes as in pixels; what is no byte stays as it is."""
    import torch

    from gigavqa.workers.architectures.pixel_table import INTERLEAVED, PLANAR, PixelTable

    values = torch.arange(768, dtype=torch.float32).reshape(3, 256)
    planes = torch.tensor([[[0, 255]], [[1, 2]], [[3, 4]]], dtype=torch.uint8)
    expected = torch.tensor([[[0, 255]], [[257, 258]], [[515, 516]]], dtype=torch.float32)
    assert torch.equal(PixelTable(values, torch.float32, 0)(planes), expected)
    pixels, wanted = (each.permute(1, 2, 0).reshape(1, 6) for each in (planes, expected))
    assert torch.equal(PixelTable(values, torch.float32, INTERLEAVED)(pixels), wanted)
    assert torch.equal(PixelTable(values, torch.float32, PLANAR)(planes.reshape(1, 6)), expected.reshape(1, 6))
    assert PixelTable(values, torch.float32, 0)([wanted])[0] is wanted


def test_our_processors_normalize_as_published_ones_do() -> None:
    """A byte from 0 to 1, less the mean, by the deviation, each step in float32."""
    from gigavqa.workers.architectures.processing import normalized_bytes

    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    made = normalized_bytes({"image_mean": mean, "image_std": std}).numpy()
    picture = np.arange(256, dtype=np.uint8)[:, None].repeat(3, axis=1)
    expected = (picture.astype(np.float32) / 255 - np.array(mean, np.float32)) / np.array(std, np.float32)
    assert made.tobytes() == np.ascontiguousarray(expected.T).tobytes()
