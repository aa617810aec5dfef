"""The model families' own image processors, as installed: what they decide about a size, and what they make of pixels.

Qwen, GLM, InternVL, Gemma and SigLIP2 (Phi) come from transformers, InternVL's chat layout, DeepSeek and Kimi's token
count from vLLM. MiniCPM's and Kimi's pixels are made with Pillow by the published formulas, because their processors
are code that comes with the checkpoints; MiniCPM's sizes by those of MiniCPM-V 4.6, which transformers has, at 4.5's
patch size. `tests.catalogue.families` imports it for the tests that need it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers.image_processing_utils import get_patch_output_size, select_best_resolution
from transformers.image_utils import ChannelDimension
from transformers.models.gemma4.image_processing_gemma4 import Gemma4ImageProcessor, get_aspect_ratio_preserving_size
from transformers.models.glm4v.image_processing_glm4v import Glm4vImageProcessor
from transformers.models.glm4v.image_processing_glm4v import smart_resize as glm_resize
from transformers.models.got_ocr2.image_processing_got_ocr2 import GotOcr2ImageProcessor, get_optimal_tiled_canvas
from transformers.models.idefics3.image_processing_pil_idefics3 import (
    Idefics3ImageProcessorPil,
    get_resize_output_image_size,
)
from transformers.models.llava_onevision.image_processing_llava_onevision import LlavaOnevisionImageProcessor
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor
from transformers.models.minicpmv4_6.image_processing_minicpmv4_6 import MiniCPMV4_6ImageProcessor
from transformers.models.mllama.image_processing_mllama import (
    MllamaImageProcessor,
    get_image_size_fit_to_canvas,
)
from transformers.models.mllama.image_processing_mllama import get_optimal_tiled_canvas as get_mllama_canvas
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize as qwen_resize
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
from transformers.models.siglip2.image_processing_pil_siglip2 import Siglip2ImageProcessorPil
from transformers.models.siglip2.image_processing_siglip2 import get_image_size_for_max_num_patches
from vllm.model_executor.models.kimi_vl import KimiVLProcessingInfo
from vllm.model_executor.models.phi4siglip import Phi4SiglipProcessingInfo
from vllm.transformers_utils.processors import internvl
from vllm.transformers_utils.processors.deepseek_vl2 import DeepseekVLV2Processor, ImageTransform
from vllm.transformers_utils.processors.ovis2_5 import Ovis2_5Processor

from gigavqa.catalogue.families.deepseek_vl2 import DeepseekVL2Budget
from gigavqa.catalogue.families.gemma4 import Gemma4Budget
from gigavqa.catalogue.families.glm4v import Glm4vBudget
from gigavqa.catalogue.families.idefics3 import Idefics3Budget
from gigavqa.catalogue.families.internvl import InternVLBudget
from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.catalogue.families.llava_onevision import LlavaOnevisionBudget
from gigavqa.catalogue.families.minicpmv import MiniCPMVBudget
from gigavqa.catalogue.families.mllama import MllamaBudget
from gigavqa.catalogue.families.ovis import OvisBudget
from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.geometry import Size

Values = NDArray[np.float32]
_UNCHANGED = {"do_rescale": False, "do_normalize": False}


@dataclass(frozen=True)
class ProcessorPixels:
    """What a processor made of a picture: values 0-255 of all its tiles or patches, and of the overview beside them."""

    main: Values
    overview: Values | None = None


@dataclass(frozen=True)
class ProcessorDecision:
    """What a processor decided about a size: as far as it says so, the target, the grid, and the visual tokens."""

    tokens: int
    target: Size | None = None
    grid: tuple[int, int] | None = None
    overview: Size | None = None


@dataclass(frozen=True)
class ProcessorFamily:
    """One family at a budget: our decision's budget, and its processor's."""

    name: str
    source: str
    budget: Any
    decide: Callable[[Size], ProcessorDecision]
    make: Callable[[Image.Image], ProcessorPixels]


def family_of(budget: NativeBudget) -> ProcessorFamily:
    """Return the family of a budget, with its processor set to the budget's limits."""
    build: Callable[[Any], ProcessorFamily] = _BUILDERS[type(budget)]
    return build(budget)


def _qwen(budget: QwenBudget) -> ProcessorFamily:
    processor = Qwen2VLImageProcessor(
        **_UNCHANGED, patch_size=budget.factor // 2, merge_size=2, **budget.processor_kwargs()
    )

    def decide(size: Size) -> ProcessorDecision:
        height, width = qwen_resize(size.height, size.width, budget.factor, budget.min_pixels, budget.max_pixels)
        return ProcessorDecision(width * height // budget.factor**2, Size(width, height))

    def make(image: Image.Image) -> ProcessorPixels:
        return ProcessorPixels(_one_frame(processor(image, return_tensors="np")["pixel_values"], budget.factor // 2))

    return ProcessorFamily("Qwen3.5", "transformers", budget, decide, make)


def _glm(budget: Glm4vBudget) -> ProcessorFamily:
    processor = Glm4vImageProcessor(**_UNCHANGED, **budget.processor_kwargs())

    def decide(size: Size) -> ProcessorDecision:
        height, width = glm_resize(
            budget.frames, size.height, size.width, min_pixels=budget.min_pixels, max_pixels=budget.max_pixels
        )
        return ProcessorDecision(width * height // budget.factor**2, Size(width, height))

    def make(image: Image.Image) -> ProcessorPixels:
        return ProcessorPixels(_one_frame(processor(image, return_tensors="np")["pixel_values"], budget.factor // 2))

    return ProcessorFamily("GLM-4.5V", "transformers", budget, decide, make)


def _internvl(budget: InternVLBudget) -> ProcessorFamily:
    return _internvl_chat(budget) if budget.layout == "chat" else _internvl_hf(budget)


def _internvl_chat(budget: InternVLBudget) -> ProcessorFamily:
    ratios = internvl.get_internvl_target_ratios(1, budget.max_tiles)

    def decide(size: Size) -> ProcessorDecision:
        tiles, width, height = internvl.calculate_internvl_targets(
            orig_width=size.width,
            orig_height=size.height,
            target_ratios=ratios,
            image_size=budget.tile,
            use_thumbnail=True,
        )
        grid = (width // budget.tile, height // budget.tile)
        return ProcessorDecision(tiles * budget.tokens_per_tile, Size(width, height), grid)

    def make(image: Image.Image) -> ProcessorPixels:
        tiles = internvl.dynamic_preprocess_internvl(
            image, target_ratios=ratios, image_size=budget.tile, use_thumbnail=True
        )
        return _tiles_and_thumbnail(np.stack([np.asarray(tile, np.float32) for tile in tiles]))

    return ProcessorFamily("InternVL3.5 (chat)", "vLLM", budget, decide, make)


def _internvl_hf(budget: InternVLBudget) -> ProcessorFamily:
    processor = GotOcr2ImageProcessor(
        **_UNCHANGED,
        size={"height": budget.tile, "width": budget.tile},
        crop_to_patches=True,
        **budget.processor_kwargs(),
    )

    def decide(size: Size) -> ProcessorDecision:
        grid = get_optimal_tiled_canvas((size.height, size.width), (budget.tile, budget.tile), 1, budget.max_tiles)
        tiles = processor.get_number_of_image_patches(size.height, size.width)
        target = Size(grid[0] * budget.tile, grid[1] * budget.tile)
        return ProcessorDecision(tiles * budget.tokens_per_tile, target, grid)

    def make(image: Image.Image) -> ProcessorPixels:
        tiles = processor(image, return_tensors="np")["pixel_values"].astype(np.float32)
        return _tiles_and_thumbnail(tiles)

    return ProcessorFamily("InternVL3.5 (-HF)", "transformers", budget, decide, make)


def _gemma(budget: Gemma4Budget) -> ProcessorFamily:
    processor = Gemma4ImageProcessor(do_rescale=False, **budget.processor_kwargs())
    patches = budget.max_soft_tokens * budget.pooling**2

    def decide(size: Size) -> ProcessorDecision:
        height, width = get_aspect_ratio_preserving_size(
            size.height, size.width, budget.patch_size, patches, budget.pooling
        )
        return ProcessorDecision(width * height // budget.unit**2, Size(width, height))

    def make(image: Image.Image) -> ProcessorPixels:
        made = processor(image, return_tensors="np")
        real = int(made["num_soft_tokens_per_image"][0]) * budget.pooling**2
        return ProcessorPixels(made["pixel_values"][0][:real].astype(np.float32))

    return ProcessorFamily("Gemma-4", "transformers", budget, decide, make)


def _deepseek(budget: DeepseekVL2Budget) -> ProcessorFamily:
    processor = _deepseek_processor(budget)

    def decide(size: Size) -> ProcessorDecision:
        width, height = processor.select_best_resolution(size)
        columns, rows = width // budget.tile, height // budget.tile
        side = math.ceil((budget.tile // budget.patch_size) / budget.downsample_ratio)
        tokens = side * (side + 1) + 1 + rows * side * (columns * side + 1)
        return ProcessorDecision(tokens, grid=(columns, rows))

    def make(image: Image.Image) -> ProcessorPixels:
        _, images, _, _, _ = processor.tokenize_with_images("<image>", [image], cropping=True)
        views = np.stack([view.numpy() for view in images]).astype(np.float32) * 255
        return ProcessorPixels(views[1:], views[0])

    return ProcessorFamily("DeepSeek-VL2", "vLLM", budget, decide, make)


def _deepseek_processor(budget: DeepseekVL2Budget) -> Any:
    """Return the processor without the tokenizer that its constructor prepares, which no decision needs."""
    processor = object.__new__(DeepseekVLV2Processor)
    sides = [
        (i * budget.tile, j * budget.tile) for i in range(1, 10) for j in range(1, 10) if i * j <= budget.max_tiles
    ]
    processor.candidate_resolutions = sorted(sides, key=math.prod)
    processor.image_size, processor.patch_size = budget.tile, budget.patch_size
    processor.downsample_ratio = budget.downsample_ratio
    processor.image_transform = ImageTransform(normalize=False)
    processor.image_token, processor.image_token_id = "<image>", 1
    processor.tokenizer = SimpleNamespace(encode=lambda *_, **__: [], bos_token_id=0, eos_token_id=2)
    return processor


def _minicpm(budget: MiniCPMVBudget) -> ProcessorFamily:
    processor = MiniCPMV4_6ImageProcessor()
    patch = budget.patch_size / 4  # 4.6 merges twice, 4.5 does not

    def sizes(size: Size) -> tuple[tuple[int, int] | None, Size, Size | None]:
        (width, height), area = size, (size.height, size.width)
        grid = processor.get_sliced_grid(area, budget.max_slices, budget.slice)
        if grid is None:
            return None, _whole(processor.find_best_resize(area, budget.slice, patch, True)), None
        rows, columns = grid
        target = _whole(processor.get_refine_size((height, width), grid, budget.slice, patch, True))
        return (columns, rows), target, _whole(processor.find_best_resize(area, budget.slice, patch))

    def decide(size: Size) -> ProcessorDecision:
        grid, target, overview = sizes(size)
        slices = grid[0] * grid[1] + 1 if grid else 1
        return ProcessorDecision(slices * budget.tokens_per_slice, target, grid or (1, 1), overview)

    def make(image: Image.Image) -> ProcessorPixels:
        _, target, overview = sizes(Size(*image.size))
        return ProcessorPixels(_resized(image, target), _resized(image, overview) if overview else None)

    return ProcessorFamily("MiniCPM-V 4.5", "formula", budget, decide, make)


def _phi(budget: Phi4VisionBudget) -> ProcessorFamily:
    info = object.__new__(Phi4SiglipProcessingInfo)
    info.get_hf_config = lambda: SimpleNamespace(  # type: ignore[method-assign]
        vision_config={"patch_size": budget.patch_size},
        min_num_patches=budget.min_patches,
        max_num_patches=budget.max_patches,
    )
    processor = Siglip2ImageProcessorPil(**_UNCHANGED, patch_size=budget.patch_size)

    def decide(size: Size) -> ProcessorDecision:
        patches = info.get_num_image_tokens(image_width=size.width, image_height=size.height)
        height, width = get_image_size_for_max_num_patches(size.height, size.width, budget.patch_size, patches)
        return ProcessorDecision(width * height // budget.patch_size**2, Size(width, height))

    def make(image: Image.Image) -> ProcessorPixels:
        patches = info.get_num_image_tokens(image_width=image.width, image_height=image.height)
        made = processor(image, max_num_patches=patches, return_tensors="np")
        real = int(np.prod(made["spatial_shapes"][0]))
        return ProcessorPixels(made["pixel_values"][0][:real].astype(np.float32))

    return ProcessorFamily("Phi-4-Reasoning-Vision", "vLLM, transformers", budget, decide, make)


def _kimi(budget: KimiVLBudget) -> ProcessorFamily:
    info = object.__new__(KimiVLProcessingInfo)
    settings = SimpleNamespace(
        patch_size=budget.patch_size,
        merge_kernel_size=(budget.merge, budget.merge),
        in_token_limit=budget.max_patches,
    )
    info.get_hf_processor = lambda: SimpleNamespace(image_processor=settings)  # type: ignore[method-assign]

    def target_of(size: Size) -> Size:
        patches = (size.width // budget.patch_size) * (size.height // budget.patch_size)
        scale = math.sqrt(budget.max_patches / patches) if patches > budget.max_patches else 1.0
        return Size(int(size.width * scale), int(size.height * scale))

    def decide(size: Size) -> ProcessorDecision:
        tokens = info.get_num_image_tokens(image_width=size.width, image_height=size.height)
        return ProcessorDecision(tokens, target_of(size))

    def make(image: Image.Image) -> ProcessorPixels:
        return ProcessorPixels(_resized(image, target_of(Size(*image.size))))

    return ProcessorFamily("Kimi-VL", "vLLM (tokens), formula", budget, decide, make)


def _llava_onevision(budget: LlavaOnevisionBudget) -> ProcessorFamily:
    images = LlavaOnevisionImageProcessor(**_UNCHANGED)
    whole = object.__new__(LlavaOnevisionProcessor)  # without the tokenizer, which no decision needs
    whole.image_processor, whole.num_image_tokens, whole.vision_aspect_ratio = images, budget.side**2, "anyres_max_9"

    def decide(size: Size) -> ProcessorDecision:
        tokens = whole._get_number_of_features(size.height, size.width, budget.tile, budget.tile)
        rows, columns = (
            side // budget.tile
            for side in select_best_resolution((size.height, size.width), images.image_grid_pinpoints)
        )
        canvas = (rows * budget.tile, columns * budget.tile)
        height, width = get_patch_output_size(np.empty((0, size.height, size.width)), canvas, ChannelDimension.FIRST)
        return ProcessorDecision(tokens, Size(width, height), (columns, rows), Size(budget.tile, budget.tile))

    def make(image: Image.Image) -> ProcessorPixels:
        tiles = images([image], return_tensors="np")["pixel_values"][0].astype(np.float32)
        return ProcessorPixels(tiles[1:], tiles[0])

    return ProcessorFamily("LLaVA-OneVision", "transformers", budget, decide, make)


def _idefics3(budget: Idefics3Budget) -> ProcessorFamily:
    processor = Idefics3ImageProcessorPil(
        **_UNCHANGED, max_image_size={"longest_edge": budget.tile}, **budget.processor_kwargs()
    )

    def decide(size: Size) -> ProcessorDecision:
        tiles, rows, columns = processor.get_number_of_image_patches(size.height, size.width)
        empty = np.empty((3, 1, 1))
        height, width = get_resize_output_image_size(np.broadcast_to(empty, (3, size.height, size.width)), 1456)
        return ProcessorDecision(max(tiles, 1) * budget.tokens_per_tile, Size(width, height), (columns, rows))

    def make(image: Image.Image) -> ProcessorPixels:
        return _tiles_and_thumbnail(processor(image, return_tensors="np")["pixel_values"][0].astype(np.float32))

    return ProcessorFamily("Idefics3", "transformers", budget, decide, make)


def _mllama(budget: MllamaBudget) -> ProcessorFamily:
    processor = MllamaImageProcessor(
        **_UNCHANGED, size={"height": budget.tile, "width": budget.tile}, max_image_tiles=budget.max_tiles
    )

    def decide(size: Size) -> ProcessorDecision:
        high, wide = get_mllama_canvas(size.height, size.width, budget.max_tiles, budget.tile)
        height, width = get_image_size_fit_to_canvas(size.height, size.width, high, wide, budget.tile)
        grid = (int(wide) // budget.tile, int(high) // budget.tile)
        return ProcessorDecision(math.prod(grid) * budget.tokens_per_tile, Size(int(width), int(height)), grid)

    def make(image: Image.Image) -> ProcessorPixels:
        made = processor([image], return_tensors="np")
        return ProcessorPixels(made["pixel_values"][0][0][: made["num_tiles"][0][0]].astype(np.float32))

    return ProcessorFamily("Llama 3.2 Vision", "transformers", budget, decide, make)


def _ovis(budget: OvisBudget) -> ProcessorFamily:
    processor = object.__new__(Ovis2_5Processor)  # without the tokenizer, which no decision needs
    images = SiglipImageProcessorPil(**_UNCHANGED, resample=Image.Resampling.BILINEAR)

    def target_of(size: Size) -> Size:
        height, width = processor.smart_resize(size.height, size.width, budget.factor)
        return Size(width, height)

    def decide(size: Size) -> ProcessorDecision:
        target = target_of(size)
        return ProcessorDecision(target.area // budget.factor**2 + 2, target)

    def make(image: Image.Image) -> ProcessorPixels:
        width, height = target_of(Size(*image.size))
        made = images(image, size={"width": width, "height": height}, return_tensors="np")
        return ProcessorPixels(made["pixel_values"][0].astype(np.float32))

    return ProcessorFamily("Ovis2.5", "vLLM, transformers", budget, decide, make)


def _one_frame(patches: NDArray[Any], side: int) -> Values:
    """Patches N x (3 * 2 * side * side) of a picture that fills two frames: those of the first."""
    return patches.reshape(-1, 3, 2, side, side)[:, :, 0].astype(np.float32)


def _tiles_and_thumbnail(tiles: Values) -> ProcessorPixels:
    return ProcessorPixels(tiles[:-1], tiles[-1]) if len(tiles) > 1 else ProcessorPixels(tiles)


def _resized(image: Image.Image, size: Size) -> Values:
    return np.asarray(image.resize(size, Image.Resampling.BICUBIC), np.float32)


def _whole(size: tuple[float, float]) -> Size:
    """Width and height of a (height, width) that a fraction of a patch made fractional numbers of."""
    return Size(int(size[1]), int(size[0]))


_BUILDERS: dict[type[NativeBudget], Any] = {
    QwenBudget: _qwen,
    Glm4vBudget: _glm,
    InternVLBudget: _internvl,
    Gemma4Budget: _gemma,
    DeepseekVL2Budget: _deepseek,
    MiniCPMVBudget: _minicpm,
    Phi4VisionBudget: _phi,
    KimiVLBudget: _kimi,
    LlavaOnevisionBudget: _llava_onevision,
    Idefics3Budget: _idefics3,
    MllamaBudget: _mllama,
    OvisBudget: _ovis,
}

torch.set_num_threads(1)
